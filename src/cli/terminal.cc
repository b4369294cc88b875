// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

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

Style Style::For(ColorMode mode) {
  if (mode != ColorMode::kAuto) return Style(mode == ColorMode::kAlways);
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return Style((no_color == nullptr || *no_color == '\0') && !dumb && IsTerminal(STDOUT_FILENO));
}

std::string Style::Wrap(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  std::string out = "\x1b[";
  out.append(code).append("m").append(text).append("\x1b[0m");
  return out;
}

}  // namespace clrscope::cli
