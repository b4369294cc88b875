// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace clrscope::cli {

bool IsTerminal(int fd) { return ::isatty(fd) == 1; }

size_t OutputWidth() {
  constexpr size_t kPiped = 100, kLeast = 40, kMost = 1000;
  size_t width = kPiped;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  } else if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const long n = std::strtol(columns, nullptr, 10); n > 0) width = static_cast<size_t>(n);
  }
  return std::clamp(width, kLeast, kMost);
}

report::Style StyleFor(ColorMode mode) {
  if (mode != ColorMode::kAuto) return report::Style(mode == ColorMode::kAlways);
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return report::Style((no_color == nullptr || *no_color == '\0') && !dumb &&
                       IsTerminal(STDOUT_FILENO));
}

}  // namespace clrscope::cli
