// SPDX-License-Identifier: Apache-2.0
// `top` on a terminal, by ncurses.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/live/top_model.h"

namespace clrscope::cli {

class TopScreen {
 public:
  // Takes the terminal over; it is given back by the destructor and when the program crashes.
  // errors: kFailed (there is no description of the terminal)
  static Result<std::unique_ptr<TopScreen>> Open();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  void Draw(const TopModel& model);
  // Handles keys that were pressed; false = quit. top_keys.cc
  bool HandleKeys(TopModel& model);
  // Gives the terminal back for a while (Ctrl-Z), and takes it again.
  void Suspend();
  void Resume();
  void SetNote(std::string note) { note_ = std::move(note); }

 private:
  enum Pair : short { kGood = 1, kCaution, kAccent };  // of colours

  explicit TopScreen(bool utf8);
  // top_screen_head.cc
  void DrawHead(const TopModel& model);
  void DrawWatched(const TopModel& model);
  void DrawSums(const TopModel& model);
  void DrawCollections(const TopModel& model);
  void DrawTabs(const TopModel& model);
  // top_screen_table.cc
  void DrawRows(const TopModel& model, int top, int height);
  void DrawHeadings(const TopModel& model, int y);
  void DrawFigures(const TopModel& model, const TopRow& row, int y);
  void DrawNames(const TopRow& row, int y);
  void DrawTree(const TopModel& model, int top, int height);

  void DrawHelp(int top, int height);
  void DrawFoot(const TopModel& model);
  void Text(int y, int x, std::string_view text, int width);
  void Right(int y, int x, std::string_view text, int width);

  const bool utf8_;   // false: what is shown is brought to ASCII
  size_t first_ = 0;  // row at the top
  std::string note_;
};

}  // namespace clrscope::cli
