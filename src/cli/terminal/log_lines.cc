// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/log_lines.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/terminal/terminal.h"

namespace clrscope::cli {

using capture::LogLevel;

LogForm LogFormOfStderr() {
  if (IsTerminal(STDERR_FILENO)) return LogForm::kTerminal;
  // systemd.exec(5): "device:inode" of the socket; inherited by children whose standard error may
  // be something else.
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream != nullptr && ::fstat(STDERR_FILENO, &info) == 0 &&
      stream == fmt::format("{}:{}", info.st_dev, info.st_ino))
    return LogForm::kJournal;
  return LogForm::kFile;
}

std::string FormatLogLine(LogForm form, LogLevel level, const std::string& text,
                          std::time_t unix_s) {
  std::string line;
  const char* word = level == LogLevel::kError     ? "error: "
                     : level == LogLevel::kWarning ? "warning: "
                                                   : "";
  switch (form) {
    case LogForm::kTerminal:
      line = word;
      break;
    case LogForm::kJournal:
      line = fmt::format("<{}>", static_cast<int>(level));
      break;
    case LogForm::kFile:
      line = fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}", fmt::gmtime(unix_s), word);
      break;
  }
  for (const char c : text) line += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? ' ' : c;
  return line + "\n";
}

void LogLines::Write(LogLevel level, const std::string& text) {
  if (level > least_) return;
  const std::string line = FormatLogLine(form_, level, text, std::time(nullptr));
  // One write, so that lines of several programs do not mix.
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace clrscope::cli
