// SPDX-License-Identifier: Apache-2.0
// The session of tasks, by which it is known how long requests are queued and awaiting: all along,
// in windows of time of its own, or as a part of the windows of requests.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "capture/sessions/target.h"

namespace clrscope::capture {

using std::chrono::nanoseconds;

void Target::ResetTasks() {
  const bool open = Session(Kind::kTasks) != nullptr;
  task_phase_ = open ? TaskPhase::kAll : TaskPhase::kNone;
  next_task_window_.reset();
  task_window_.reset();
  if (open) fold_->requests().OpenTasks(0);
}

void Target::WatchTasks() {
  if (state_ != State::kRecording || home_.storms == nullptr) return;
  const int64_t now_ns = home_.clock->now_ns();
  analysis::RequestFold& requests = fold_->requests();
  switch (task_phase_) {
    case TaskPhase::kAll: {
      const Live* const all = Session(Kind::kTasks);
      if (all == nullptr) return;
      if (const uint64_t dropped = all->decoder->losses()[Loss::kEventsDropped];
          dropped != tasks_dropped_) {
        tasks_dropped_ = dropped;
        requests.CloseTasks(fold_->last_ns(), true);
        requests.OpenTasks(0);
      }
      if (task_watch_.TooMany(requests.tasks(), now_ns) || request_phase_ != RequestPhase::kAll)
        BeginTaskWindows();
      return;
    }
    case TaskPhase::kEnding:
      if (Session(Kind::kTasksEnding) != nullptr) return;
      task_watch_.Restart(requests.tasks());
      task_phase_ = TaskPhase::kWindows;
      return;
    case TaskPhase::kWindows:
      // Windows of requests have them as a part.
      if (task_window_ != nullptr || request_phase_ != RequestPhase::kAll) return;
      if (task_watch_.FewAgain()) return EndTaskWindows();
      if (!next_task_window_) {
        if (!task_watch_.Ready(now_ns)) return;
        next_task_window_ = task_watch_.Next(now_ns);
      }
      if (now_ns >= next_task_window_->begin_ns - kWindowAheadNs) OpenTaskWindow(now_ns);
      return;
    case TaskPhase::kNone:
    case TaskPhase::kBeginning:
      return;
  }
}

void Target::BeginTaskWindows() {
  Live* const all = Session(Kind::kTasks);
  if (all == nullptr) return;
  task_phase_ = TaskPhase::kEnding;
  all->kind = Kind::kTasksEnding;
  tasks_end_ns_ = home_.clock->now_ns();
  StopInBackground({all->id});
}

void Target::OpenTaskWindow(int64_t now_ns) {
  const TaskWatch::Window next = *next_task_window_;
  next_task_window_.reset();
  task_window_ = std::make_shared<WindowRun>();
  task_window_->group = next.group;
  RunWindow(TaskSession(kEventBufferMb), Kind::kTaskWindow, task_window_,
            nanoseconds(next.begin_ns - now_ns), nanoseconds(next.length_ns));
}

void Target::EndTaskWindows() {
  task_phase_ = TaskPhase::kBeginning;
  next_task_window_.reset();
  InBackground(*home_.storms, [](RuntimeLink& link, Background& background) {
    Result<OpenedStream> all = link.Open(TaskSession(kEventBufferMb));
    const std::lock_guard lock(background.mutex);
    background.of_requests.push_back({std::move(all), Kind::kTasks, nullptr});
  });
}

void Target::BeginTasks(const Live& live) {
  if (live.kind == Kind::kTasks) {
    tasks_dropped_ = 0;
    task_watch_.Restart(fold_->requests().tasks());
    task_phase_ = TaskPhase::kAll;
    return fold_->requests().OpenTasks(0);
  }
  tasks_begin_ns_ = home_.clock->now_ns();
  fold_->requests().OpenTasks(live.window->group);
}

// Of a session or a window that had them.
void Target::EndTasks(const Live& live) {
  const bool failed = !live.decoder->complete() ||
                      live.decoder->losses()[Loss::kEventsDropped] != 0 ||
                      (live.window != nullptr && live.window->failed);
  if (live.window == nullptr) {
    const int64_t end_ns = live.kind == Kind::kTasksEnding ? tasks_end_ns_ : fold_->last_ns();
    return fold_->requests().CloseTasks(end_ns, failed && live.kind == Kind::kTasksEnding);
  }
  const int64_t end_ns = home_.clock->SinceStart(live.window->end_ns);
  fold_->requests().CloseTasks(end_ns, failed);
  task_watch_.OnWindow(fold_->requests().tasks(), end_ns - tasks_begin_ns_);
  if (task_window_ == live.window) task_window_.reset();
}

}  // namespace clrscope::capture
