// SPDX-License-Identifier: Apache-2.0
// What the agent does to stay within its limit: sessions begin and end for windows of time.
#include <time.h>

#include "agent/host/agent.h"
#include "agent/host/clock.h"

namespace clrscope::agent {

Status Agent::BeginAllocations(bool here) {
  if (!options_.allocations) return OkStatus();
  return session_.Begin(source_, /*apart=*/budget_ != nullptr, here, Now());
}

void Agent::StepBudget(int64_t now) {
  if (budget_ == nullptr || paused_.load()) return;
  const MeasureCosts costs = CostsOf(SumShards() - at_start_);
  if (!budget_->Meter(costs, ClockNs(CLOCK_PROCESS_CPUTIME_ID), ClockNs(CLOCK_THREAD_CPUTIME_ID),
                      now))
    return;
  if (samples())
    StepWindows(budget_->allocations(), costs.allocations, sampler_->allocation_window,
                [this](bool on) { return session_.Sample(on, Now()); });
  if (options_.exceptions)
    StepWindows(budget_->throws(), costs.throws, sampler_->throw_window,
                [this](bool on) { return event_sessions_.TellThrows(on, Now()); });
}

// What comes while nothing is to be sampled is turned away on the program's threads, so that a
// session may begin before its window and end after it.
template <class Tell>
void Agent::StepWindows(WindowSteps& steps, double cost_ns, std::atomic<uint64_t>& word,
                        Tell&& tell) {
  using Step = WindowSteps::Step;
  const int64_t now = Now();
  const Step step = steps.Next(budget_->meter(), cost_ns, now);
  if (step == Step::kNone) return;
  const UnloadDesk::Closed closed(desk_);
  if (step == Step::kEndWhole || step == Step::kClose) {
    word.store(SampleWindow::kNever, std::memory_order_relaxed);
    (void)tell(false);
  } else if (tell(true)) {
    if (step == Step::kOpen) {
      word.store(steps.Opened(cost_ns, now, Now()), std::memory_order_relaxed);
    } else {
      steps.Restart(cost_ns, Now());
      word.store(SampleWindow::kAlways, std::memory_order_relaxed);
    }
  }
}

// Everything is sampled again, as after a start.
void Agent::RestartBudget() {
  if (budget_ == nullptr) return;
  sampler_->allocation_window.store(SampleWindow::kAlways, std::memory_order_relaxed);
  sampler_->throw_window.store(SampleWindow::kAlways, std::memory_order_relaxed);
  budget_->Restart(CostsOf(SumShards() - at_start_), Now());
}

void Agent::TellBudget(profile::IntervalFrame& f) {
  if (budget_ == nullptr) return;
  f.overhead = budget_->Take();
  f.windows = budget_->allocations().Take(f.end_ns);
  windows_ += f.windows;
  f.all_windows = windows_;
}

bool Agent::in_windows() const { return budget_ != nullptr && budget_->allocations().in_windows(); }

}  // namespace clrscope::agent
