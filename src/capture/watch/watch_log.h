// SPDX-License-Identifier: Apache-2.0
// What a program that runs unattended says.
#pragma once

#include <string>

namespace clrscope::capture {

enum class LogLevel { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };  // as syslog numbers them

class WatchLog {
 public:
  virtual ~WatchLog() = default;
  // One sentence, without a line's end.
  virtual void Write(LogLevel level, const std::string& text) = 0;
};

}  // namespace clrscope::capture
