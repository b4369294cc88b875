// SPDX-License-Identifier: Apache-2.0
// Log lines on standard error, in the form that suits whoever reads it: a terminal, the journal
// (sd-daemon's priorities), or a file (time stamps).
#pragma once

#include <ctime>
#include <string>

#include "capture/watch/watch_log.h"

namespace clrscope::cli {

enum class LogForm { kTerminal, kJournal, kFile };

// By what standard error is: JOURNAL_STREAM names the journal's socket to the services of systemd.
LogForm LogFormOfStderr();

// One line with its end. Line ends and control characters in `text` become blanks.
//   unix_s: used by kFile
std::string FormatLogLine(LogForm form, capture::LogLevel level, const std::string& text,
                          std::time_t unix_s);

class LogLines final : public capture::WatchLog {
 public:
  // Only lines at least as grave as `least` are written.
  explicit LogLines(capture::LogLevel least) : form_(LogFormOfStderr()), least_(least) {}
  void Write(capture::LogLevel level, const std::string& text) override;

 private:
  LogForm form_;
  capture::LogLevel least_;
};

}  // namespace clrscope::cli
