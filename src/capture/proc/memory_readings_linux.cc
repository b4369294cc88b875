// SPDX-License-Identifier: Apache-2.0
#include "capture/proc/memory_readings.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::capture {

void ReadMemory(pid_t pid, int64_t now_ns, std::vector<profile::MemoryReading>& readings) {
  constexpr size_t kMost = 16;  // a writer takes them out once a second
  const Result<ipc::ProcStatus> status = ipc::ReadProcStatus(pid);
  if (!status.ok() || status->memory.rss_bytes < 0) return;  // a zombie has no memory
  if (readings.size() >= kMost) readings.erase(readings.begin());
  profile::MemoryReading& r = readings.emplace_back();
  r.at_ns = now_ns;
  r.rss_bytes = status->memory.rss_bytes;
  r.private_bytes = status->memory.private_bytes;
  r.file_bytes = status->memory.file_bytes;
  r.shared_bytes = status->memory.shared_bytes;
  r.swap_bytes = status->memory.swap_bytes;
  r.threads = status->threads;
}

}  // namespace clrscope::capture
