// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "capture/sessions/settling.h"
#include "ipc/processes/proc_stat.h"

namespace clrscope::capture {

using std::chrono::milliseconds;

milliseconds UntilSettled(pid_t pid) {
  const Result<ipc::ProcStat> stat = ipc::ReadProcStat(pid);
  if (!stat.ok() || ipc::HasEnded(stat->state)) return milliseconds(0);
  const milliseconds age(static_cast<int64_t>(1000 * ipc::UptimeOf(stat->start_ticks)));
  return std::max(milliseconds(0), kSettleTime - age);
}

void LetSettle(pid_t pid) { std::this_thread::sleep_for(UntilSettled(pid)); }

}  // namespace clrscope::capture
