// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "base/control_path.h"
#include "base/proc_stat.h"

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
  StatFields fields;
  const bool told = ParseStat({buffer, static_cast<size_t>(n)}, &fields) && fields.start_ticks > 0;
  return told ? static_cast<uint64_t>(fields.start_ticks) : 0;
}

}  // namespace clrscope
