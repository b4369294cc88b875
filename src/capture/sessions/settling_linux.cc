// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <time.h>

#include <algorithm>

#include "capture/sessions/settling.h"
#include "clr/event_table.h"
#include "ipc/processes/proc_stat.h"

namespace clrscope::capture {
namespace {

using std::chrono::milliseconds;

double Seconds(const timespec& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

}  // namespace

bool TakesEventSources(const ipc::SessionConfig& config) {
  return std::any_of(config.providers.begin(), config.providers.end(), [](const auto& provider) {
    return !provider.name.starts_with(clr::kRuntimeProvider) &&
           provider.name != clr::kSampleProfilerProvider;
  });
}

milliseconds UntilSettled(const ipc::DotnetProcess& process) {
  double age_s = 0;
  struct stat socket {};
  if (!process.socket_path.empty() && ::stat(process.socket_path.c_str(), &socket) == 0) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    age_s = Seconds(now) - Seconds(socket.st_ctim);
  } else {
    const Result<ipc::ProcStat> stat = ipc::ReadProcStat(process.pid);
    if (!stat.ok() || ipc::HasEnded(stat->state)) return milliseconds(0);
    age_s = ipc::UptimeOf(stat->start_ticks);
  }
  // The clock may have been set back meanwhile.
  const milliseconds age(static_cast<int64_t>(1000 * std::max(0.0, age_s)));
  return std::max(milliseconds(0), kSettleTime - age);
}

}  // namespace clrscope::capture
