// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "capture/proc/maps_line.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::capture {

std::string MapsOf(pid_t pid) {
  constexpr size_t kMost = 64u << 20;
  Result<std::string> text = ipc::ReadFile(fmt::format("/proc/{}/maps", pid), kMost);
  return text.ok() ? text.Take() : std::string();
}

}  // namespace clrscope::capture
