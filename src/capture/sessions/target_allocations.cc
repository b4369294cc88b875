// SPDX-License-Identifier: Apache-2.0
// Allocations under a limit of what the recording may take: every sample while the process pays
// less than that, else a counter of the runtime and windows of time. Whatever waits for the runtime
// does so on the threads of WorkerPools. docs/decisions/0019-overhead.md
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "capture/sessions/storm_watch.h"
#include "capture/sessions/target.h"
#include "profile/overhead/overhead_prices.h"

namespace clrscope::capture {
namespace {

using std::chrono::nanoseconds;

// A counter that says nothing is not waited for.
constexpr int64_t kLongestWaitNs = 5'000'000'000;
// So many of its values have to say that everything is affordable again.
constexpr size_t kCalmValues = 5;

}  // namespace

void Target::ResetAllocations() {
  allocation_phase_ = AllocationPhase::kWhole;
  allocation_window_.reset();
  if (fold_->allocations().counting()) fold_->allocations().Stop();
  if (!options_.allocations_apart()) return;
  fold_->allocations().SetSource(source_);
  constexpr int kSumsOverAllHeaps = 11;
  fold_->allocations().SetOverHeaps(ipc::MajorVersion(process_.clr_version) < kSumsOverAllHeaps);
  fold_->allocations().RememberWhole(true);
}

double Target::AllocationDemand() const {
  double per_second = whole_allocations_;
  const auto& recent = fold_->allocations().recent();
  if (fold_->allocations().counting() && !recent.empty())
    per_second = StormWatch::Highest(recent, 0) / profile::kSamplingMeanBytes;
  return per_second * allocation_price_.each(profile::kNsPerAllocationEvent);
}

void Target::WatchAllocations() {
  TakeAllocationStreams();
  if (state_ != State::kRecording || home_.storms == nullptr) return;
  const int64_t now_ns = home_.clock->now_ns();
  using Part = profile::OverheadPart;
  analysis::WindowFold& fold = fold_->allocations();
  switch (allocation_phase_) {
    case AllocationPhase::kWhole:
      if (meter_.Overdrawn(Part::kAllocations)) BeginAllocationWindows();
      return;
    case AllocationPhase::kBeginning:
      if (Session(Kind::kAllocationsEnding) != nullptr) return;
      allocation_phase_ = AllocationPhase::kWindows;
      allocation_plan_.Restart(now_ns);
      fold.NoteWholeEnded(now_ns);
      return;
    case AllocationPhase::kWindows:
      if (allocation_window_ != nullptr) return;
      if (fold.recent().size() >= kCalmValues && meter_.Affordable(Part::kAllocations) &&
          !meter_.Overdrawn(Part::kAllocations))
        return BeginWholeAllocations();
      if (options_.requests && request_phase_ == RequestPhase::kWindows)
        return allocation_plan_.Restart(now_ns);  // PlanAllocationWindow()
      if (const auto next = allocation_plan_.Next(
              now_ns,
              profile::BudgetPlan::Period(AllocationDemand(), meter_.Allowed(Part::kAllocations))))
        OpenAllocationWindow(*next, now_ns);
      return;
    case AllocationPhase::kEnding:
      if (Session(Kind::kAllocations) == nullptr) return;
      if (allocations_end_ns_ == 0) fold.EndWindows(allocations_end_ns_ = now_ns);
      if (fold.ended() || now_ns - allocations_end_ns_ > kLongestWaitNs) EndAllocationWindows();
      return;
  }
}

void Target::BeginAllocationWindows() {
  Live* const whole = Session(Kind::kAllocations);
  if (whole == nullptr) return;
  notes_.push_back(fmt::format(
      "process {} allocates more than can be sampled all along within {:.3g} % of its CPU: while "
      "that goes on it is sampled in windows of time",
      process_.pid, 100 * options_.max_overhead));
  allocation_phase_ = AllocationPhase::kBeginning;
  allocations_end_ns_ = 0;
  fold_->allocations().BeginWindows();
  whole->kind = Kind::kAllocationsEnding;
  // The counter starts before the session that it replaces ends, so that no moment is uncounted.
  InBackground(*home_.storms, [id = whole->id](RuntimeLink& link, Background& background) {
    Result<OpenedStream> counter = link.Open(CounterSession());
    const int64_t opened_ns = Clock::System().monotonic_ns();
    {
      const std::lock_guard lock(background.mutex);
      background.of_allocations.push_back(
          {std::move(counter), Kind::kAllocationCounter, nullptr, opened_ns});
    }
    (void)link.Stop(id);
    Remind(link);
  });
}

// Whose an allocation is, is known where ids are.
void Target::PlanAllocationWindow(const profile::WindowPlan::Window& requests) {
  if (allocation_phase_ != AllocationPhase::kWindows || allocation_window_ != nullptr) return;
  const int64_t of_ns = allocation_plan_.Ride(
      requests.of_ns, profile::BudgetPlan::Period(
                          AllocationDemand(), meter_.Allowed(profile::OverheadPart::kAllocations)));
  if (of_ns != 0) OpenAllocationWindow(WithinWindow(requests, of_ns), home_.clock->now_ns());
}

void Target::OpenAllocationWindow(const profile::BudgetPlan::Window& next, int64_t now_ns) {
  allocation_window_ = std::make_shared<WindowRun>();
  allocation_window_->group = next.group;
  allocation_window_->of_ns = next.of_ns;
  allocation_window_->length_ns = next.length_ns;
  InBackground(
      *home_.storms,
      [run = allocation_window_, config = AllocationsAlone(source_, kEventBufferMb),
       ahead = nanoseconds(std::max<int64_t>(0, next.begin_ns - now_ns)),
       length = nanoseconds(next.length_ns)](RuntimeLink& link, Background& background) {
        std::this_thread::sleep_for(ahead);
        Result<OpenedStream> opened = link.Open(config);
        run->failed = !opened.ok();
        const uint64_t id = opened.ok() ? opened->id : 0;
        {
          const std::lock_guard lock(background.mutex);
          background.of_allocations.push_back({std::move(opened), Kind::kAllocationWindow, run});
        }
        if (!run->failed) {
          std::this_thread::sleep_for(length);
          run->end_ns = Clock::System().monotonic_ns();
          if (!link.Stop(id).ok()) run->failed = true;
          run->answered_ns = Clock::System().monotonic_ns();
        }
        run->over = true;
        Remind(link);
      });
}

void Target::EndAllocationWindow(const Live& live) {
  EndWindow(live, profile::OverheadPart::kAllocations, fold_->allocations(),
            allocation_price_.each(profile::kNsPerAllocationEvent));
  if (allocation_window_ == live.window) allocation_window_.reset();
}

void Target::BeginWholeAllocations() {
  allocation_phase_ = AllocationPhase::kEnding;
  InBackground(*home_.storms, [config = AllocationsAlone(source_, options_.buffer_mb)](
                                  RuntimeLink& link, Background& background) {
    Result<OpenedStream> whole = link.Open(config);
    const std::lock_guard lock(background.mutex);
    background.of_allocations.push_back({std::move(whole), Kind::kAllocations, nullptr});
  });
}

void Target::EndAllocationWindows() {
  fold_->allocations().Stop();
  StopCounter(Kind::kAllocationCounter, nanoseconds(0));
  allocation_phase_ = AllocationPhase::kWhole;
  notes_.push_back(
      fmt::format("process {} allocates less again: it is sampled all along", process_.pid));
}

void Target::TakeAllocationStreams() {
  std::vector<Background::Opened> opened;
  {
    const std::lock_guard lock(background_->mutex);
    opened.swap(background_->of_allocations);
  }
  for (Background::Opened& o : opened) {
    if (o.stream.ok()) {
      AddSession(o.stream.Take(), o.kind);
      sessions_.back().window = o.window;
      if (o.window != nullptr) sessions_.back().decoder->SetLength(o.window->length_ns);
      if (o.kind == Kind::kAllocationCounter)
        fold_->allocations().NoteCounting(home_.clock->SinceStart(o.opened_ns));
      // A recording that ends meanwhile has asked the others to stop already.
      if (state_ != State::kRecording && o.kind != Kind::kAllocationWindow)
        StopInBackground({sessions_.back().id});
      continue;
    }
    if (o.window != nullptr) {
      if (allocation_window_ == o.window) allocation_window_.reset();
    } else if (o.kind == Kind::kAllocationCounter) {
      notes_.push_back("how much is allocated is estimated from windows of time alone: " +
                       o.stream.error().message);
    } else {
      notes_.push_back("allocations go on being sampled in windows of time: " +
                       o.stream.error().message);
      allocation_phase_ = AllocationPhase::kWindows;  // it is tried again
    }
  }
}

}  // namespace clrscope::capture
