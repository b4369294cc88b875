// SPDX-License-Identifier: Apache-2.0
// Storms of exceptions: recording every throw ends, a counter and windows of time take its place,
// and once the storm is over every throw is recorded again. Whatever waits for the runtime does so
// on the threads of WorkerPools. Without a reminder after each session that ends, throws would go
// on costing what recorded ones do. docs/decisions/0015-storms.md
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "capture/sessions/target.h"
#include "profile/overhead/overhead_prices.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// A window is prepared so long before it begins; its thread sleeps until then.
constexpr int64_t kAheadNs = 60'000'000;
// A counter that says nothing is not waited for.
constexpr int64_t kLongestEndNs = 5'000'000'000;
// A counter's value arrives so long after its time at most, if nothing is very busy.
constexpr nanoseconds kDrained = 150ms;

void SleepFor(nanoseconds time) {
  if (time > 0ns) std::this_thread::sleep_for(time);
}

}  // namespace

void Target::ResetStorm() {
  storm_phase_ = StormPhase::kNone;
  next_window_.reset();
  window_.reset();
  if (fold_->storm().counting()) fold_->storm().Stop();
}

void Target::WatchStorm() {
  if (state_ != State::kRecording || home_.storms == nullptr) return;
  if (storm_phase_ == StormPhase::kNone) {
    if (meter_.limited() ? meter_.Overdrawn(profile::OverheadPart::kExceptions)
                         : fold_->storm().stormy())
      BeginStorm();
    return;
  }
  TakeStormStreams();
  const int64_t now_ns = home_.clock->now_ns();
  const analysis::StormFold& storm = fold_->storm();
  using Part = profile::OverheadPart;
  switch (storm_phase_) {
    case StormPhase::kNone:
      return;
    case StormPhase::kBeginning:
      if (Session(Kind::kExceptionsEnding) != nullptr) return;
      storm_phase_ = StormPhase::kWindows;
      fold_->storm().NoteWholeEnded(now_ns);
      return;
    case StormPhase::kWindows:
      if (window_ != nullptr) return;
      if (meter_.limited()
              ? storm.recent().size() >= StormWatch::kCalmSeconds &&
                    meter_.Affordable(Part::kExceptions) && !meter_.Overdrawn(Part::kExceptions)
              : StormWatch::Calm(storm.recent()))
        return BeginWhole();
      // Those of requests bring theirs: PlanStormWindow().
      if (options_.requests && request_phase_ == RequestPhase::kWindows) {
        storm_plan_.Restart(now_ns);
        if (next_window_ && now_ns >= next_window_->begin_ns - kAheadNs) OpenWindow(now_ns);
        return;
      }
      if (meter_.limited()) {
        next_window_ = storm_plan_.Next(
            now_ns, profile::BudgetPlan::Period(ThrowDemand(), meter_.Allowed(Part::kExceptions)));
        if (next_window_) OpenWindow(now_ns);
        return;
      }
      if (!next_window_)
        next_window_ = storm_watch_.Next(now_ns, storm.counted_to_ns(),
                                         StormWatch::Highest(storm.recent(), storm.whole_rate()));
      if (now_ns >= next_window_->begin_ns - kAheadNs) OpenWindow(now_ns);
      return;
    case StormPhase::kEnding:
      // The storm may be back, and then it ends another time.
      if (Session(Kind::kExceptions) == nullptr) return;
      if (storm_ends_ns_ == 0) fold_->storm().EndStorm(storm_ends_ns_ = now_ns);
      if (storm.ended() || now_ns - storm_ends_ns_ > kLongestEndNs) EndStorm();
      return;
  }
}

void Target::BeginStorm() {
  Live* const whole = Session(Kind::kExceptions);
  if (whole == nullptr) return;
  const std::string much =
      meter_.limited()
          ? fmt::format("exceptions than can all be recorded within {:.3g} % of its CPU",
                        100 * options_.max_overhead)
          : fmt::format("than {} exceptions a second", analysis::StormFold::kMostPerSecond);
  notes_.push_back(
      fmt::format("process {} throws more {}: while that goes on they are recorded in windows of "
                  "time",
                  process_.pid, much));
  storm_phase_ = StormPhase::kBeginning;
  storm_plan_.Restart(home_.clock->now_ns());
  storm_ends_ns_ = 0;
  fold_->storm().BeginStorm();
  whole->kind = Kind::kExceptionsEnding;
  // The counter starts before the session that it replaces ends, so that no moment is uncounted.
  InBackground(*home_.storms, [id = whole->id](RuntimeLink& link, Background& background) {
    Result<OpenedStream> counter = link.Open(CounterSession());
    const int64_t now_ns = Clock::System().monotonic_ns();
    {
      const std::lock_guard lock(background.mutex);
      background.of_storms.push_back({std::move(counter), Kind::kCounter, nullptr, now_ns});
    }
    (void)link.Stop(id);
    Remind(link);
  });
}

// Another window in the middle of one of requests.
profile::WindowPlan::Window Target::WithinWindow(const profile::WindowPlan::Window& requests,
                                                 int64_t of_ns) {
  profile::WindowPlan::Window w = requests;
  w.length_ns = std::min(w.length_ns, profile::BudgetPlan::kLengthNs);
  w.begin_ns += (requests.length_ns - w.length_ns) / 2;
  w.of_ns = of_ns;
  return w;
}

// In the middle of a window of requests: whose a throw is, is known if its request began within
// that.
void Target::PlanStormWindow(const profile::WindowPlan::Window& requests) {
  if (storm_phase_ != StormPhase::kWindows || window_ != nullptr) return;
  const analysis::StormFold& storm = fold_->storm();
  if (meter_.limited()) {
    const int64_t of_ns = storm_plan_.Ride(
        requests.of_ns, profile::BudgetPlan::Period(
                            ThrowDemand(), meter_.Allowed(profile::OverheadPart::kExceptions)));
    if (of_ns != 0) next_window_ = WithinWindow(requests, of_ns);
    return;
  }
  const int64_t length_ns =
      std::min(StormWatch::Length(StormWatch::Highest(storm.recent(), storm.whole_rate())),
               std::max(StormWatch::kShortestNs, requests.length_ns / 3));
  next_window_ = {requests.begin_ns + (requests.length_ns - length_ns) / 2, length_ns,
                  requests.group};
}

void Target::OpenWindow(int64_t now_ns) {
  const StormWatch::Window next = *next_window_;
  next_window_.reset();
  window_ = std::make_shared<WindowRun>();
  window_->group = next.group;
  window_->of_ns = next.of_ns;
  window_->length_ns = next.length_ns;
  InBackground(*home_.storms,
               [run = window_, ahead = nanoseconds(next.begin_ns - now_ns),
                length = nanoseconds(next.length_ns)](RuntimeLink& link, Background& background) {
                 SleepFor(ahead);
                 Result<OpenedStream> opened = link.Open(ExceptionSession(kEventBufferMb));
                 run->failed = !opened.ok();
                 const uint64_t id = opened.ok() ? opened->id : 0;
                 {
                   const std::lock_guard lock(background.mutex);
                   background.of_storms.push_back({std::move(opened), Kind::kWindow, run});
                 }
                 if (!run->failed) {
                   SleepFor(length);
                   run->end_ns = Clock::System().monotonic_ns();
                   if (!link.Stop(id).ok()) run->failed = true;
                   run->answered_ns = Clock::System().monotonic_ns();
                 }
                 run->over = true;
                 Remind(link);
               });
}

void Target::EndStormWindow(const Live& live) {
  EndWindow(live, profile::OverheadPart::kExceptions, fold_->storm(),
            throw_price_.each(profile::kNsPerThrow));
  if (window_ == live.window) window_.reset();
}

// A window is as long as it was planned, whatever came meanwhile: a session that is asked for while
// the runtime is stopped for a collection begins when it was asked for, and goes on longer by the
// rest of that. What came then would stand for too much.
void Target::EndWindow(const Live& live, profile::OverheadPart part, analysis::WindowFold& fold,
                       double price) {
  const int64_t start_ns = live.decoder->start_ns(), stop_ns = live.window->end_ns;
  const int64_t end_ns = std::min(stop_ns, start_ns + live.window->length_ns);
  if (live.window->failed || start_ns == 0 || end_ns <= start_ns || !live.decoder->complete() ||
      live.decoder->losses()[Loss::kEventsDropped] != 0)
    fold.CancelWindow();
  const double late_ns = static_cast<double>(live.decoder->late()) * price;
  meter_.Spend(part, late_ns);
  MeterWindow(part, *live.window, start_ns, static_cast<double>(fold.events()) * price + late_ns);
  fold.EndWindow(live.window->group, home_.clock->SinceStart(start_ns),
                 home_.clock->SinceStart(end_ns), live.window->of_ns);
}

void Target::BeginWhole() {
  storm_phase_ = StormPhase::kEnding;
  next_window_.reset();
  InBackground(*home_.storms, [](RuntimeLink& link, Background& background) {
    Result<OpenedStream> whole = link.Open(ExceptionSession(kEventBufferMb));
    const std::lock_guard lock(background.mutex);
    background.of_storms.push_back({std::move(whole), Kind::kExceptions, nullptr});
  });
}

void Target::EndStorm() {
  fold_->storm().Stop();
  StopCounter(Kind::kCounter, 0ns);
  storm_phase_ = StormPhase::kNone;
  notes_.push_back(
      fmt::format("process {} is calm again: every exception is recorded", process_.pid));
}

// Values come once a second, and a stop brings no last one. The last that is known here is not the
// last that was written.
nanoseconds Target::UntilCounted(int64_t last_ns, int64_t now_ns) {
  if (last_ns == 0) return nanoseconds(StormWatch::kPeriodNs) + kDrained;
  const int64_t since_ns = std::max<int64_t>(0, now_ns - last_ns);
  return nanoseconds(StormWatch::kPeriodNs - since_ns % StormWatch::kPeriodNs) + kDrained;
}

void Target::StopCounter(Kind kind, nanoseconds wait) {
  for (const Live& s : sessions_) {
    if (s.kind != kind) continue;
    InBackground(*home_.storms, [id = s.id, wait](RuntimeLink& link, Background&) {
      SleepFor(wait);
      (void)link.Stop(id);
    });
  }
}

void Target::TakeStormStreams() {
  std::vector<Background::Opened> opened;
  {
    const std::lock_guard lock(background_->mutex);
    opened.swap(background_->of_storms);
  }
  for (Background::Opened& o : opened) {
    if (o.stream.ok()) {
      AddSession(o.stream.Take(), o.kind);
      sessions_.back().window = o.window;
      if (o.window != nullptr) sessions_.back().decoder->SetLength(o.window->length_ns);
      if (o.kind == Kind::kCounter)
        fold_->storm().NoteCounting(home_.clock->SinceStart(o.opened_ns));
      // A recording that ends meanwhile has asked the others to stop already.
      if (state_ != State::kRecording && o.kind != Kind::kWindow)
        StopInBackground({sessions_.back().id});
      continue;
    }
    if (o.window != nullptr) {
      if (window_ == o.window) window_.reset();
    } else if (o.kind == Kind::kCounter) {
      notes_.push_back("how many exceptions there are is estimated from windows of time alone: " +
                       o.stream.error().message);
    } else {
      tables_->losses.Add(Loss::kStormUncounted);
      storm_phase_ = StormPhase::kWindows;  // better than nothing, and it is tried again
    }
  }
}

}  // namespace clrscope::capture
