// SPDX-License-Identifier: Apache-2.0
// What the recording takes the process: its events and windows by their measured prices.
#include <algorithm>
#include <cmath>

#include "capture/proc/thread_times.h"
#include "capture/sessions/target.h"
#include "profile/overhead/overhead_prices.h"

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
        static_cast<double>(events) * each + static_cast<double>(frames) * profile::kNsPerFrame;
    meter_.Spend(part, ns);
    price.ns += ns;
    price.events += events;
  };
  const analysis::ProcessFold::Events& events = fold_->events();
  sampled(MeterPart::kAllocations, events.allocations - metered_.allocations,
          events.allocation_frames - metered_.allocation_frames, profile::kNsPerAllocationEvent,
          allocation_price_);
  sampled(MeterPart::kExceptions, events.exceptions - metered_.exceptions,
          events.exception_frames - metered_.exception_frames, profile::kNsPerThrow, throw_price_);
  if (events.waits > metered_.waits)
    meter_.Spend(MeterPart::kWaits,
                 static_cast<double>(events.waits - metered_.waits) * profile::kNsPerWait);
  metered_ = events;
  spend(MeterPart::kRequests, metered_requests_, fold_->requests().all_started(),
        NsPerRequest(options_));
  spend(MeterPart::kRequests, metered_tasks_, fold_->requests().tasks(), TaskWatch::kNsPerEvent);
  spend(MeterPart::kCpu, metered_cpu_,
        tables_->source_samples[static_cast<size_t>(profile::Source::kCpuClock)],
        options_.sampler == profile::CpuSampler::kPtrace ? profile::kNsPerStop
                                                         : profile::kNsPerKernelSample);
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
  if (task_phase_ == TaskPhase::kAll && now_ns > rated_ns_) {
    constexpr double kKept = 0.9;
    whole_tasks_ = kKept * whole_tasks_ +
                   (1 - kKept) * static_cast<double>(fold_->requests().tasks() - rated_tasks_) *
                       1e9 / static_cast<double>(now_ns - rated_ns_);
  }
  rated_tasks_ = fold_->requests().tasks();
  rated_ns_ = now_ns;
  rated_allocations_ = fold_->events().allocations;
  meter_.Demand(MeterPart::kAllocations, options_.allocations_apart() ? AllocationDemand() : 0);
  meter_.Demand(MeterPart::kExceptions, ThrowDemand());
  meter_.Demand(MeterPart::kRequests, RequestDemand() + TaskDemand());
  if (const auto cpu = ProcessCpuSeconds(process_.pid))
    meter_.OnCpu(now_ns, std::llround(*cpu * 1e9));
  LimitRequests();
  tables_->info.overhead = meter_.told();
}

double Target::ThrowDemand() const {
  if (!options_.exceptions) return 0;
  const analysis::StormFold& storm = fold_->storm();
  return StormWatch::Highest(storm.recent(), storm.whole_rate()) *
         throw_price_.each(profile::kNsPerThrow);
}

void Target::NoteAgentOverhead(const profile::Overhead& since) {
  for (size_t i = 0; i < profile::kOverheadParts; ++i) {
    const auto part = static_cast<MeterPart>(i);
    if (since.cost_ns[i] > 0) meter_.SpendElsewhere(part, static_cast<double>(since.cost_ns[i]));
    meter_.OnWindows(part, since.windows[i]);
  }
}

double Target::RequestDemand() const {
  return options_.requests ? fold_->requests().per_second() * NsPerRequest(options_) : 0;
}

double Target::TaskDemand() const {
  if (task_phase_ == TaskPhase::kNone) return 0;
  return TaskWatch::kNsPerEvent *
         (task_phase_ == TaskPhase::kAll ? whole_tasks_ : task_watch_.per_second());
}

// Ids and what threads do share what requests may take: each the half, and what the other one does
// not need.
void Target::LimitRequests() {
  if (!meter_.limited() || !options_.requests) return;
  const double share = meter_.Share(MeterPart::kRequests), half = share / 2;
  request_watch_.SetMost((share - std::min(half, TaskDemand())) / NsPerRequest(options_));
  task_watch_.SetMost((share - std::min(half, RequestDemand())) / TaskWatch::kNsPerEvent);
}

void Target::MeterWindow(MeterPart part, const WindowRun& run, int64_t start_ns, double spent_ns) {
  meter_.Spend(part, profile::kNsPerWindow);
  const int64_t end_ns = run.end_ns;
  if (start_ns == 0 || end_ns <= start_ns) return;
  const int64_t after_ns = std::max<int64_t>(0, run.answered_ns - end_ns);
  meter_.Spend(part,
               spent_ns * static_cast<double>(after_ns) / static_cast<double>(end_ns - start_ns));
  meter_.OnWindow(part, end_ns - start_ns, run.of_ns);
}

}  // namespace clrscope::capture
