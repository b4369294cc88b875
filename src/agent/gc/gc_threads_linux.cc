// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <utility>

#include "agent/gc/gc_threads.h"
#include "agent/host/clock.h"

namespace clrscope::agent {

profile::IntervalCpu GcThreads::Take() {
  profile::IntervalCpu out;
  const int64_t now = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  if (!threads_.Read()) return out;
  const int64_t before = std::exchange(process_ns_, now);
  if (before >= 0) {
    out.process_ns = now - before;
    out.server_gc_ns = threads_.Of(clr::GcThreadClock::kServer).cpu_ns;
    out.background_gc_ns = threads_.Of(clr::GcThreadClock::kBackground).cpu_ns;
  }
  threads_.Restart();
  return out;
}

}  // namespace clrscope::agent
