// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "base/control_path.h"

namespace clrscope {

std::string ControlSocketName(uint32_t pid, uint64_t start_ticks) {
  return "clrscope-agent-" + std::to_string(pid) + "-" + std::to_string(start_ticks) + ".socket";
}

uint64_t StartTicks(const char* stat_path) {
  const int fd = ::open(stat_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char buffer[1024];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  ::close(fd);
  if (n <= 0) return 0;
  std::string_view text(buffer, static_cast<size_t>(n));
  // The name, field 2, may hold anything but ends at the last bracket.
  const size_t bracket = text.rfind(')');
  if (bracket == std::string_view::npos) return 0;
  text.remove_prefix(bracket + 1);
  for (int field = 3; field < 22; ++field) {
    const size_t blank = text.find(' ', 1);
    if (blank == std::string_view::npos) return 0;
    text.remove_prefix(blank);
  }
  uint64_t ticks = 0;
  (void)std::from_chars(text.data() + 1, text.data() + text.size(), ticks);
  return ticks;
}

}  // namespace clrscope
