// SPDX-License-Identifier: Apache-2.0
// What the recording takes the process: its events by their measured prices.
#include <cmath>

#include "capture/sessions/overhead_prices.h"
#include "capture/sessions/target.h"
#include "capture/sessions/thread_times.h"

namespace clrscope::capture {

void Target::MeterOverhead(int64_t now_ns) {
  using Part = profile::OverheadPart;
  const auto spend = [this](Part part, uint64_t& metered, uint64_t events, double price) {
    if (events > metered) meter_.Spend(part, static_cast<double>(events - metered) * price);
    metered = events;
  };
  const analysis::ProcessFold::Events& events = fold_->events();
  spend(Part::kAllocations, metered_.allocations, events.allocations, kNsPerAllocationEvent);
  spend(Part::kExceptions, metered_.exceptions, events.exceptions, kNsPerThrow);
  spend(Part::kWaits, metered_.waits, events.waits, kNsPerWait);
  spend(Part::kRequests, metered_requests_, fold_->requests().started(), NsPerRequest(options_));
  spend(Part::kRequests, metered_tasks_, fold_->requests().tasks(), TaskWatch::kNsPerEvent);
  spend(Part::kCpu, metered_cpu_,
        tables_->source_samples[static_cast<size_t>(profile::Source::kCpuClock)],
        options_.sampler == profile::CpuSampler::kAgent ? kNsPerAgentSample : kNsPerKernelSample);
  if (const auto cpu = ProcessCpuSeconds(process_.pid))
    meter_.OnCpu(now_ns, std::llround(*cpu * 1e9));
  tables_->info.overhead = meter_.told();
}

}  // namespace clrscope::capture
