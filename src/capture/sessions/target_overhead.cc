// SPDX-License-Identifier: Apache-2.0
// What the recording takes the process: its events and windows by their measured prices.
#include <algorithm>
#include <cmath>

#include "capture/sessions/overhead_prices.h"
#include "capture/sessions/target.h"
#include "capture/sessions/thread_times.h"

namespace clrscope::capture {

using MeterPart = profile::OverheadPart;

void Target::MeterEvents() {
  const auto spend = [this](MeterPart part, uint64_t& metered, uint64_t events, double price) {
    if (events > metered) meter_.Spend(part, static_cast<double>(events - metered) * price);
    metered = events;
  };
  const auto sampled = [this](MeterPart part, uint64_t events, uint64_t frames, double each,
                              Price& price) {
    if (events == 0) return;
    const double ns =
        static_cast<double>(events) * each + static_cast<double>(frames) * kNsPerFrame;
    meter_.Spend(part, ns);
    price.ns += ns;
    price.events += events;
  };
  const analysis::ProcessFold::Events& events = fold_->events();
  sampled(MeterPart::kAllocations, events.allocations - metered_.allocations,
          events.allocation_frames - metered_.allocation_frames, kNsPerAllocationEvent,
          allocation_price_);
  sampled(MeterPart::kExceptions, events.exceptions - metered_.exceptions,
          events.exception_frames - metered_.exception_frames, kNsPerThrow, throw_price_);
  if (events.waits > metered_.waits)
    meter_.Spend(MeterPart::kWaits,
                 static_cast<double>(events.waits - metered_.waits) * kNsPerWait);
  metered_ = events;
  spend(MeterPart::kRequests, metered_requests_, fold_->requests().started(),
        NsPerRequest(options_));
  spend(MeterPart::kRequests, metered_tasks_, fold_->requests().tasks(), TaskWatch::kNsPerEvent);
  spend(MeterPart::kCpu, metered_cpu_,
        tables_->source_samples[static_cast<size_t>(profile::Source::kCpuClock)],
        options_.sampler == profile::CpuSampler::kAgent ? kNsPerAgentSample : kNsPerKernelSample);
}

// What is over the limit is to be known at once, not within the second.
void Target::WatchOverhead() {
  constexpr int64_t kEveryNs = 100'000'000;
  if (!meter_.limited() || state_ != State::kRecording) return;
  MeterEvents();
  const int64_t now_ns = home_.clock->now_ns();
  if (now_ns < next_meter_ns_) return;
  next_meter_ns_ = now_ns + kEveryNs;
  MeterOverhead(now_ns);
}

void Target::MeterOverhead(int64_t now_ns) {
  MeterEvents();
  if (allocation_phase_ == AllocationPhase::kWhole && now_ns > rated_ns_) {
    const double seconds = static_cast<double>(now_ns - rated_ns_) / 1e9;
    constexpr double kKept = 0.9;  // they come in lots, ten times a second
    whole_allocations_ =
        std::max(kKept * whole_allocations_,
                 static_cast<double>(fold_->events().allocations - rated_allocations_) / seconds);
  }
  rated_ns_ = now_ns;
  rated_allocations_ = fold_->events().allocations;
  meter_.Demand(MeterPart::kAllocations, options_.allocations_apart() ? AllocationDemand() : 0);
  meter_.Demand(MeterPart::kExceptions, ThrowDemand());
  if (const auto cpu = ProcessCpuSeconds(process_.pid))
    meter_.OnCpu(now_ns, std::llround(*cpu * 1e9));
  tables_->info.overhead = meter_.told();
}

double Target::ThrowDemand() const {
  if (!options_.exceptions) return 0;
  const analysis::StormFold& storm = fold_->storm();
  return StormWatch::Highest(storm.recent(), storm.whole_rate()) * throw_price_.each(kNsPerThrow);
}

void Target::MeterWindow(MeterPart part, const WindowRun& run, int64_t start_ns, double spent_ns) {
  meter_.Spend(part, kNsPerWindow);
  const int64_t end_ns = run.end_ns;
  if (start_ns == 0 || end_ns <= start_ns) return;
  const int64_t after_ns = std::max<int64_t>(0, run.answered_ns - end_ns);
  meter_.Spend(part,
               spent_ns * static_cast<double>(after_ns) / static_cast<double>(end_ns - start_ns));
  meter_.OnWindow(part, end_ns - start_ns, run.of_ns);
}

}  // namespace clrscope::capture
