// SPDX-License-Identifier: Apache-2.0
// `top` on a terminal, by ncurses.
#pragma once

#include "cli/top_model.h"

namespace clrscope::cli {

class TopScreen {
 public:
  // Takes the terminal over; it is given back by the destructor and when the program crashes.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  void Draw(const TopModel& model);
  // Handles keys that were pressed; false = quit.
  bool HandleKeys(TopModel& model);
  // Gives the terminal back for a while (Ctrl-Z), and takes it again.
  void Suspend();
  void Resume();
  void SetNote(std::string note) { note_ = std::move(note); }

 private:
  void DrawHead(const TopModel& model);
  void DrawRows(const TopModel& model, int top, int height);
  void DrawTree(const TopModel& model, int top, int height);
  void DrawHelp(int top, int height);
  void DrawFoot(const TopModel& model);
  void Text(int y, int x, std::string_view text, int width);
  void Right(int y, int x, std::string_view text, int width);

  size_t first_ = 0;  // row at the top
  std::string note_;
};

}  // namespace clrscope::cli
