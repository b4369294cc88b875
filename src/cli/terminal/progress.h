// SPDX-License-Identifier: Apache-2.0
// What a recording shows on standard error while it goes on: one line that is rewritten on a
// terminal, a line every ten seconds elsewhere.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "capture/record/recorder.h"

namespace clrscope::cli {

class ProgressLine {
 public:
  // `enabled` false: shows nothing.
  ProgressLine(bool enabled, std::optional<std::chrono::nanoseconds> duration);
  ~ProgressLine() { Clear(); }
  void Show(const capture::Progress& progress);
  // Takes the line off a terminal, so that other words can follow.
  void Clear();

 private:
  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  std::optional<std::chrono::nanoseconds> duration_;
  std::chrono::nanoseconds last_{-1};
};

// The line itself, at most `columns` wide.
std::string FormatProgress(const capture::Progress& progress,
                           std::optional<std::chrono::nanoseconds> duration, unsigned columns);

}  // namespace clrscope::cli
