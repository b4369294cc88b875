// SPDX-License-Identifier: Apache-2.0
// The sessions of requests: the one that gives ids and tells starts and ends, all along or in
// windows of time, and the one in which the runtime's histogram counts. Whatever waits for the
// runtime does so on the threads of WorkerPools. docs/decisions/0016-requests.md
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "capture/sessions/target.h"

namespace clrscope::capture {

using std::chrono::nanoseconds;

namespace {

// A recording that ends does not wait for its windows.
void SleepUnless(const std::atomic<bool>& ending, nanoseconds time) {
  static constexpr nanoseconds kNap{20'000'000};
  for (nanoseconds left = time; left > nanoseconds(0) && !ending; left -= kNap)
    std::this_thread::sleep_for(std::min(left, kNap));
}

}  // namespace

void Target::ResetRequests() {
  request_phase_ = RequestPhase::kAll;
  next_request_window_.reset();
  request_window_.reset();
}

void Target::WatchRequests() {
  TakeRequestStreams();
  background_->counted_to_ns = fold_->requests().collected_to_ns();
  JoinCounter();
  WatchTasks();
  WatchRouting();
  if (state_ != State::kRecording || options_.every_request || home_.storms == nullptr) return;
  const int64_t now_ns = home_.clock->now_ns();
  analysis::RequestFold& requests = fold_->requests();
  switch (request_phase_) {
    case RequestPhase::kAll:
      if (request_watch_.TooMany(requests.started(), now_ns)) BeginRequestWindows();
      return;
    case RequestPhase::kEnding:
      if (Session(Kind::kRequestsEnding) != nullptr) return;
      requests.BeginWindows(fold_->last_ns());
      request_watch_.Restart();
      request_plan_.Restart(now_ns);
      request_phase_ = RequestPhase::kWindows;
      return;
    case RequestPhase::kWindows:
      if (request_window_ != nullptr) return;
      if (request_watch_.FewAgain(requests.per_second(), requests.intervals()))
        return EndRequestWindows();
      if (meter_.limited()) {
        const double demand = RequestDemand(), allowed = AllowedOfIds();
        const int64_t length_ns = profile::BudgetPlan::Longest(demand, allowed);
        next_request_window_ = request_plan_.Next(
            now_ns, profile::BudgetPlan::Period(demand, allowed, length_ns), length_ns);
        if (next_request_window_) OpenRequestWindow(now_ns);
        return;
      }
      if (!next_request_window_)
        next_request_window_ = request_watch_.Next(now_ns, requests.per_second());
      if (now_ns >= next_request_window_->begin_ns - kWindowAheadNs) OpenRequestWindow(now_ns);
      return;
    case RequestPhase::kBeginning:
      return;
  }
}

void Target::BeginRequestWindows() {
  Live* const all = Session(Kind::kRequests);
  if (all == nullptr) return;
  notes_.push_back(
      meter_.limited()
          ? fmt::format("process {} answers too many requests to track all of them within {:.3g} % "
                        "of its CPU: until there are fewer, they are tracked in windows of time",
                        process_.pid, 100 * options_.max_overhead)
          : fmt::format("process {} answers more than {:.0f} requests a second: until there are "
                        "fewer, they are tracked in windows of time, at a cost of about 1 % of the "
                        "machine's CPU (--requests=all tracks every request)",
                        process_.pid, request_watch_.most_per_second()));
  request_phase_ = RequestPhase::kEnding;
  all->kind = Kind::kRequestsEnding;
  StopInBackground({all->id});
}

void Target::OpenRequestWindow(int64_t now_ns) {
  const RequestWatch::Window next = *next_request_window_;
  next_request_window_.reset();
  request_window_ = std::make_shared<WindowRun>();
  request_window_->group = next.group;
  request_window_->of_ns = next.of_ns;
  request_window_->tasks = task_phase_ == TaskPhase::kWindows && task_watch_.Ready(now_ns);
  RequestExtras extras = ExtrasOf(options_);
  extras.tasks = request_window_->tasks;
  const bool look = std::exchange(routing_wanted_, false);
  extras.routing = extras.routing || look;
  extras.statuses = extras.statuses || look;
  request_window_->routing = extras.routing;
  RunWindow(RequestSession(kEventBufferMb, extras), Kind::kRequestWindow, request_window_,
            nanoseconds(next.begin_ns - now_ns), nanoseconds(next.length_ns));
  PlanStormWindow(next);
  PlanAllocationWindow(next);
}

void Target::RunWindow(const ipc::SessionConfig& config, Kind kind, std::shared_ptr<WindowRun> run,
                       nanoseconds ahead, nanoseconds length) {
  InBackground(*home_.storms,
               [config, kind, run = std::move(run), ahead = std::max(ahead, nanoseconds(0)),
                length](RuntimeLink& link, Background& background) {
                 SleepUnless(background.ending, ahead);
                 Result<OpenedStream> opened = link.Open(config);
                 run->failed = !opened.ok();
                 const uint64_t id = opened.ok() ? opened->id : 0;
                 {
                   const std::lock_guard lock(background.mutex);
                   background.of_requests.push_back({std::move(opened), kind, run});
                 }
                 if (!run->failed) {
                   SleepUnless(background.ending, length);
                   run->end_ns = Clock::System().monotonic_ns();
                   if (!link.Stop(id).ok()) run->failed = true;
                   run->answered_ns = Clock::System().monotonic_ns();
                 }
                 run->over = true;
               });
}

void Target::EndRequestWindow(const Live& live) {
  if (live.window->tasks) EndTasks(live);
  if (live.window->routing) EndRouting(live);
  const bool failed = live.window->failed || !live.decoder->complete() ||
                      live.decoder->losses()[Loss::kEventsDropped] != 0;
  const analysis::RequestFold& requests = fold_->requests();
  MeterWindow(
      profile::OverheadPart::kRequests, *live.window, live.decoder->start_ns(),
      static_cast<double>(requests.all_started() - live.window->requests_at) *
              NsPerRequest(options_) +
          static_cast<double>(requests.tasks() - live.window->tasks_at) * TaskWatch::kNsPerEvent);
  fold_->requests().CloseWindow(home_.clock->SinceStart(live.window->end_ns), failed);
  if (request_window_ == live.window) request_window_.reset();
}

double Target::AllowedOfIds() const {
  const double allowed = meter_.Allowed(profile::OverheadPart::kRequests);
  return allowed - std::min(allowed / 2, TaskDemand());
}

void Target::EndRequestWindows() {
  request_phase_ = RequestPhase::kBeginning;
  next_request_window_.reset();
  InBackground(*home_.storms,
               [extras = ExtrasOf(options_)](RuntimeLink& link, Background& background) {
                 Result<OpenedStream> all = link.Open(RequestSession(kEventBufferMb, extras));
                 const std::lock_guard lock(background.mutex);
                 background.of_requests.push_back({std::move(all), Kind::kRequests, nullptr});
               });
}

void Target::TakeRequestStreams() {
  std::vector<Background::Opened> opened;
  {
    const std::lock_guard lock(background_->mutex);
    opened.swap(background_->of_requests);
  }
  for (Background::Opened& o : opened) {
    if (!o.stream.ok()) {
      if (o.kind == Kind::kRequestWindow && request_window_ == o.window) request_window_.reset();
      if (o.kind == Kind::kTaskWindow && task_window_ == o.window) task_window_.reset();
      if (o.kind == Kind::kRouting && routing_run_ == o.window) routing_run_.reset();
      // It is tried again.
      if (o.kind == Kind::kTasks) task_phase_ = TaskPhase::kWindows;
      if (o.kind == Kind::kRequests) request_phase_ = RequestPhase::kWindows;
      continue;
    }
    AddSession(o.stream.Take(), o.kind);
    sessions_.back().window = o.window;
    if (o.kind == Kind::kRequestWindow) {
      fold_->requests().OpenWindow(o.window->group);
      o.window->requests_at = fold_->requests().all_started();
      o.window->tasks_at = fold_->requests().tasks();
      if (o.window->tasks) BeginTasks(sessions_.back());
      if (o.window->routing) fold_->requests().OpenRouting();
    } else if (o.kind == Kind::kRouting) {
      fold_->requests().OpenRouting();
    } else if (o.kind == Kind::kTaskWindow || o.kind == Kind::kTasks) {
      BeginTasks(sessions_.back());
    } else if (o.kind == Kind::kRequests) {
      fold_->requests().EndWindows();
      if (ExtrasOf(options_).routing) fold_->requests().OpenRouting();
      request_watch_.Restart();
      request_phase_ = RequestPhase::kAll;
      notes_.push_back(
          fmt::format("process {} has fewer requests again: every one is followed", process_.pid));
    }
    // A recording that ends meanwhile has asked the others to stop already.
    if (state_ != State::kRecording && o.window == nullptr) StopInBackground({sessions_.back().id});
  }
}

// The runtime has one set of histograms for all tools. Who comes second has to ask for the same, or
// for nothing in particular.
void Target::JoinCounter() {
  const std::string refused = fold_->requests().TakeRefused();
  if (refused.empty() || state_ != State::kRecording) return;
  if (refused != request_counter_ || request_counter_joined_) {
    tables_->losses.Add(Loss::kRequestsUncounted);
    return;
  }
  notes_.push_back(
      fmt::format("another tool reads the metrics of process {}: this recording shares its "
                  "session, whose limits "
                  "may leave routes out",
                  process_.pid));
  request_counter_joined_ = true;
  std::vector<uint64_t> ids;
  for (const Live& s : sessions_)
    if (s.kind == Kind::kRequestCounter) ids.push_back(s.id);
  InBackground(*home_.workers, [ids = std::move(ids), identifier = request_counter_ + "-2"](
                                   RuntimeLink& link, Background& background) {
    for (const uint64_t id : ids) (void)link.Stop(id);
    Result<OpenedStream> counter = link.Open(RequestCounterSession(identifier));
    const std::lock_guard lock(background.mutex);
    background.of_requests.push_back({std::move(counter), Kind::kRequestCounter, nullptr});
  });
}

// The last value of the histogram is waited for: it comes once a second, later where the machine is
// busy, and a stop brings none.
void Target::StopRequests() {
  if (!options_.requests) return;
  constexpr int64_t kLongestNs = 4'000'000'000, kLongestFirstNs = 2'500'000'000;
  static constexpr nanoseconds kNap{20'000'000};
  const int64_t now_ns = home_.clock->now_ns();
  fold_->requests().EndAt(now_ns);
  std::vector<uint64_t> ids;
  bool counted = false;
  for (const Live& s : sessions_) {
    if (s.kind != Kind::kRequests && s.kind != Kind::kRequestCounter && s.kind != Kind::kTasks)
      continue;
    ids.push_back(s.id);
    counted = counted || s.kind == Kind::kRequestCounter;
  }
  // The first value may never come, as another tool's session keeps it.
  int64_t longest_ns = 0;
  if (counted) longest_ns = fold_->requests().collected_to_ns() != 0 ? kLongestNs : kLongestFirstNs;
  InBackground(
      home_.storms != nullptr ? *home_.storms : *home_.workers,
      [ids = std::move(ids), longest_ns, now_ns](RuntimeLink& link, Background& background) {
        for (nanoseconds waited{0};
             background.counted_to_ns < now_ns && waited.count() < longest_ns; waited += kNap)
          std::this_thread::sleep_for(kNap);
        for (const uint64_t id : ids) (void)link.Stop(id);
      });
}

}  // namespace clrscope::capture
