// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "base/proc_stat.h"
#include "capture/proc/gc_threads.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::capture {

using clr::GcThreadClock;

GcThreads::GcThreads(pid_t pid, const std::string& proc)
    : stat_(fmt::format("{}/{}/stat", proc, pid)), threads_(fmt::format("{}/{}/task", proc, pid)) {}

void GcThreads::Read(int64_t now_ns, profile::GcFacts& facts) {
  constexpr size_t kMostBytes = 4096;
  const Result<std::string> text = ipc::ReadFile(stat_, kMostBytes);
  StatFields stat;
  if (!text.ok() || !ParseStat(*text, &stat) || stat.cpu_ticks < 0) return;
  process_ns_ = clr::NanosOfTicks(stat.cpu_ticks);
  if (!threads_.Read()) return;
  if (!std::exchange(began_, true)) Restart(now_ns);
  const GcThreadClock::Used server = threads_.Of(GcThreadClock::kServer);
  const GcThreadClock::Used background = threads_.Of(GcThreadClock::kBackground);
  facts.server_threads = server.threads;
  facts.server_cpu_ns = server.cpu_ns;
  facts.background_threads = background.threads;
  facts.background_cpu_ns = background.cpu_ns;
  facts.process_cpu_ns = process_ns_ - process_from_ns_;
  facts.cpu_from_ns = from_ns_;
  facts.cpu_to_ns = now_ns;
}

void GcThreads::Restart(int64_t now_ns) {
  threads_.Restart();
  process_from_ns_ = process_ns_;
  from_ns_ = now_ns;
}

}  // namespace clrscope::capture
