// SPDX-License-Identifier: Apache-2.0
// What threads do for requests, of those whose start was seen while it was told: all along, or in
// windows of time. docs/decisions/0016-requests.md
#include <algorithm>
#include <array>

#include "analysis/families/requests/request_fold.h"
#include "clr/task_events.h"
#include "profile/estimate/duration_scale.h"

namespace clrscope::analysis {

using profile::DurationScale;
using profile::RequestPart;

namespace {

using clr::EventTag;

IdleTimes::Kind IdleKindOf(EventTag tag) {
  using Kind = IdleTimes::Kind;
  switch (tag) {
    case EventTag::kTaskScheduled:
      return Kind::kScheduled;
    case EventTag::kTaskStarted:
      return Kind::kStarted;
    case EventTag::kTaskCompleted:
      return Kind::kCompleted;
    case EventTag::kTaskWaitBegin:
      return Kind::kWaitBegin;
    case EventTag::kTaskWaitEnd:
      return Kind::kWaitEnd;
    case EventTag::kTaskContinued:
      return Kind::kContinued;
    case EventTag::kPoolEnqueue:
      return Kind::kEnqueued;
    default:
      return Kind::kDequeued;
  }
}

}  // namespace

void RequestFold::OpenTasks(uint64_t group) {
  constexpr size_t kMostWatches = 64;
  if (idle_watches_.size() >= kMostWatches) idle_watches_.pop_front();
  idle_watches_.emplace_back().group = group;
}

void RequestFold::CloseTasks(int64_t end_ns, bool failed) {
  if (idle_watches_.empty() || idle_watches_.back().closed()) return;
  IdleWatch& w = idle_watches_.back();
  w.to_ns = end_ns;
  w.failed = w.failed || failed;
  AddIdle({end_ns, 0, 0, {}, IdleTimes::Kind::kLeft});
}

// What has no room is missing from the times of all that are open.
void RequestFold::AddIdle(const IdleTimes::Event& event) {
  if (idle_.Add(event)) return;
  tables_->losses.Add(Loss::kTasksCapped);
  idle_watches_.back().failed = true;
}

void RequestFold::OnTask(const clr::RawEvent& event, int64_t now_ns) {
  ++tasks_;
  clr::TaskEvent task;
  if (!clr::Decode(event, task)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  if (task.sync || idle_watches_.empty() || idle_watches_.back().closed()) return;
  IdleWatch& w = idle_watches_.back();
  w.from_ns = w.from_ns == kGoesOn ? now_ns : std::min(w.from_ns, now_ns);
  const ActivityPath path = ActivityPath::Of(event.activity);
  AddIdle({now_ns, event.thread, task.id, path, IdleKindOf(event.kind->tag)});
}

const RequestFold::IdleWatch* RequestFold::IdleWatchOf(int64_t start_ns) const {
  for (auto w = idle_watches_.rbegin(); w != idle_watches_.rend(); ++w) {
    if (w->from_ns == kGoesOn || start_ns < w->from_ns) continue;
    return w->failed || (w->closed() && start_ns >= w->to_ns) ? nullptr : &*w;
  }
  return nullptr;
}

bool RequestFold::IdleKnown(const Request& r) const {
  const IdleWatch* w = IdleWatchOf(r.start_ns);
  return w == nullptr || w->group == 0 || w->closed();
}

bool RequestFold::AddCpu(uint64_t thread, int64_t time_ns, profile::SeriesKey key,
                         const profile::Sums& sums) {
  if (!on_ || idle_.runs() == nullptr) return false;
  const std::optional<ActivityPath> path = idle_.runs()->At(thread, time_ns);
  if (!path) return false;
  Event e;
  e.path = *path;
  e.time_ns = time_ns;
  e.thread = thread;
  e.key = key;
  e.sums = sums;
  Add(e);
  return true;
}

std::optional<RequestFold::Watched> RequestFold::WatchedAt(int64_t start_ns, const Event& e,
                                                           const Watched& others) const {
  if (e.key.source() != profile::Source::kCpuClock) return others;
  const IdleWatch* w = IdleWatchOf(start_ns);
  if (w == nullptr || (w->closed() && e.time_ns > w->to_ns)) return std::nullopt;
  if (w->group == 0) return Watched{};
  return Watched{w->group, DurationScale::AgeOf(e.time_ns - start_ns)};
}

std::optional<profile::IdleTime> RequestFold::CountIdle(const Request& r, uint32_t route,
                                                        int64_t to_ns, bool ended) {
  const IdleWatch* w = IdleWatchOf(r.start_ns);
  const IdleTimes::Times* times = idle_.Find(r.path);
  if (w == nullptr || times == nullptr) return std::nullopt;
  const bool windowed = w->group != 0;
  if (w->closed() && to_ns > w->to_ns) ended = false;
  // All along, what was seen of some requests in part only says nothing of the others.
  if (!windowed && !ended) return std::nullopt;
  if (w->closed()) to_ns = std::min(to_ns, w->to_ns);
  const auto at = [&](int64_t ns) {
    return windowed ? Watched{w->group, DurationScale::AgeOf(ns)} : Watched{};
  };
  Count(route, RequestPart::kIdleWatched, 0, r.start_ns, {1, 0, 1},
        at(w->closed() ? w->to_ns - r.start_ns : to_ns - r.start_ns));
  // One that goes on is idle for as long as the window does.
  std::vector<IdleTimes::Span> spans = times->spans;
  if (!ended && times->runs == 0) spans.push_back({times->idle_since_ns, to_ns, false});
  std::array<int64_t, 2> all{}, ns{};
  all[1] = ns[1] = times->before_ns;
  for (const IdleTimes::Span& s : spans)
    all[s.queued ? 1 : 0] += std::max<int64_t>(0, std::min(s.to_ns, to_ns) - s.from_ns);
  if (!windowed) {
    ns = all;
  } else {
    // Cut where the weights change: a part of what is longer than the windows is not seen.
    for (const IdleTimes::Span& s : spans) {
      int64_t from_ns = std::max<int64_t>(0, s.from_ns - r.start_ns);
      const int64_t end_ns = std::min(s.to_ns, to_ns) - r.start_ns;
      while (from_ns < end_ns) {
        const int64_t cut_ns = std::min(end_ns, std::max<int64_t>(from_ns * 2, 1'000'000));
        Count(route, s.queued ? RequestPart::kQueued : RequestPart::kAwaited, 0,
              r.start_ns + cut_ns - 1, {1, static_cast<uint64_t>(cut_ns - from_ns), 0},
              at(from_ns + (cut_ns - from_ns) / 2));
        from_ns = cut_ns;
      }
    }
  }
  constexpr std::array kParts = {RequestPart::kAwaited, RequestPart::kQueued};
  for (size_t i = 0; i < kParts.size(); ++i)
    if (ns[i] > 0) Count(route, kParts[i], 0, to_ns, {1, static_cast<uint64_t>(ns[i]), 0}, at(0));
  if (!ended) return std::nullopt;
  return profile::IdleTime{static_cast<double>(all[1]), static_cast<double>(all[0])};
}

void RequestFold::NoteRun(IdleTimes::Kind kind, uint64_t thread, const ActivityPath& path,
                          int64_t now_ns) {
  if (!idle_watches_.empty()) AddIdle({now_ns, thread, 0, path, kind});
}

void RequestFold::RunIdle(int64_t to_ns) {
  if (idle_watches_.empty()) return;
  for (; idle_pauses_ < pauses_.count(); ++idle_pauses_)
    if (idle_pauses_ >= pauses_.oldest())
      AddIdle({pauses_.At(idle_pauses_).end_ns, 0, 0, {}, IdleTimes::Kind::kCollected});
  idle_.Run(to_ns);
}

}  // namespace clrscope::analysis
