// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/idle_times.h"

#include <algorithm>
#include <utility>

namespace clrscope::analysis {

bool IdleTimes::Add(const Event& event) {
  if (events_.size() >= kMostEvents) return false;
  events_.push_back(event);
  return true;
}

void IdleTimes::Run(int64_t to_ns) {
  // A request's start goes before what happens at the same time.
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns
                                  : (a.kind == Kind::kStart) > (b.kind == Kind::kStart);
  });
  size_t i = 0;
  for (; i < events_.size() && events_[i].time_ns <= to_ns; ++i) Process(events_[i]);
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(i));
}

void IdleTimes::Process(const Event& e) {
  if (e.kind == Kind::kCollected) {
    collected_ns_ = e.time_ns;
    return;
  }
  if (e.kind == Kind::kLeft) {
    if (runs_ != nullptr) runs_->EndAll(e.time_ns);
    DropTasks();
    items_.clear();
    item_at_.clear();
    first_item_ = 0;
    front_ns_ = kNever;
    threads_.clear();
    return;
  }
  Ref ref;
  switch (e.kind) {
    case Kind::kScheduled:
      if (Within(e.path, ref) != nullptr) Push(scheduled_, e.id, ref, e.time_ns);
      return;
    case Kind::kEnqueued:
      if (items_.size() >= kMostTasks) DropItems(items_[kMostTasks / 2].time_ns);
      item_at_[e.id] = first_item_ + items_.size();
      items_.push_back({e.id, e.time_ns});
      return;
    default:
      break;
  }
  if (threads_.size() >= kMostThreads) threads_.clear();
  Thread& thread = threads_[e.thread];
  thread.id = e.thread;
  ProcessOn(thread, e);
  if (runs_ != nullptr) LogRun(thread, e.time_ns);
}

void IdleTimes::ProcessOn(Thread& thread, const Event& e) {
  Waiter waiter;
  switch (e.kind) {
    case Kind::kStart:
      return OnStart(e, thread);
    case Kind::kStop:
      return OnStop(e, thread);
    case Kind::kWaitBegin:
      return OnWaitBegin(e, thread);
    case Kind::kWaitEnd:
      if (Pop(awaited_, e.id, waiter))
        Resume(thread, waiter.request, e.id, e.time_ns, thread.enqueued_ns);
      return;
    case Kind::kStarted:
      if (Pop(scheduled_, e.id, waiter))
        Resume(thread, waiter.request, e.id, e.time_ns, waiter.time_ns);
      return;
    case Kind::kContinued:
    case Kind::kCompleted:
      return OnContinued(e, thread);
    case Kind::kDequeued:
      return OnDequeued(e, thread);
    default:
      return;
  }
}

void IdleTimes::LogRun(const Thread& thread, int64_t time_ns) {
  const Request* r = Get(thread.request);
  if (r != nullptr && !r->stopped && thread.left_ns == kNever)
    runs_->Begin(thread.id, r->path, time_ns);
  else
    runs_->End(thread.id, time_ns);
}

IdleTimes::Request* IdleTimes::Get(Ref ref) {
  if (ref.slot == kNone || requests_[ref.slot].serial != ref.serial) return nullptr;
  return &requests_[ref.slot];
}

// Those that are taken or older than `to_ns`: what was enqueued so much before others that were
// dequeued was taken without a word (a task that ran inline), or moved.
void IdleTimes::DropItems(int64_t to_ns) {
  while (!items_.empty() && (items_.front().taken || items_.front().time_ns < to_ns)) {
    const auto at = item_at_.find(items_.front().id);
    if (at != item_at_.end() && at->second == first_item_) item_at_.erase(at);
    items_.pop_front();
    ++first_item_;
  }
}

// The longest path that is a request.
IdleTimes::Request* IdleTimes::Within(const ActivityPath& path, Ref& ref) {
  const uint32_t slot = index_.FindWithin(path);
  if (slot == PathIndex::kNone) return nullptr;
  ref = {slot, requests_[slot].serial};
  return &requests_[slot];
}

void IdleTimes::OnStart(const Event& e, Thread& thread) {
  Leave(thread, e.time_ns);
  Forget(e.path);
  uint32_t slot;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    slot = static_cast<uint32_t>(requests_.size());
    requests_.emplace_back();
  }
  Request& r = requests_[slot];
  r.path = e.path;
  r.stopped = false;
  r.times = {};
  r.times.runs = 1;
  if (thread.enqueued_ns != kNever) r.times.before_ns = thread.dequeued_ns - thread.enqueued_ns;
  index_.Add(e.path, slot);
  thread.enqueued_ns = kNever;
  thread.request = {slot, r.serial};
  thread.run = 0;
  thread.left_ns = kNever;
}

void IdleTimes::OnStop(const Event& e, Thread& thread) {
  const uint32_t slot = index_.Find(e.path);
  if (slot == PathIndex::kNone) return;
  Request& r = requests_[slot];
  if (r.stopped) return;
  if (Get(thread.request) == &r) {
    if (thread.left_ns != kNever) RanOn(r, thread, e.time_ns);
    thread = {};
    thread.id = e.thread;
  } else if (r.times.runs == 0) {
    EndIdle(r, e.time_ns, e.time_ns);
  }
  r.stopped = true;
  r.times.runs = 1;  // it is idle no longer
}

void IdleTimes::OnWaitBegin(const Event& e, Thread& thread) {
  Ref ref;
  Request* r = Within(e.path, ref);
  if (r == nullptr) return;
  Push(awaited_, e.id, ref, e.time_ns);
  if (r->stopped) return;
  if (Get(thread.request) != r) {
    // It went on without a word.
    Leave(thread, e.time_ns);
    thread.request = ref;
    thread.run = 0;
  } else {
    Suspend(*r, thread, e.time_ns);
  }
  thread.left_ns = e.time_ns;
}

// Of nested ones, the outermost ends the run.
void IdleTimes::OnContinued(const Event& e, Thread& thread) {
  Request* r = Get(thread.request);
  if (r == nullptr || r->stopped || thread.run != e.id) return;
  Suspend(*r, thread, e.time_ns);
  thread.request = {};
}

void IdleTimes::OnDequeued(const Event& e, Thread& thread) {
  Leave(thread, e.time_ns);
  thread.enqueued_ns = kNever;
  thread.dequeued_ns = e.time_ns;
  DropItems(front_ns_ == kNever ? kNever : front_ns_ - kOutOfOrderNs);
  if (const auto at = item_at_.find(e.id); at != item_at_.end()) {
    Item& item = items_[at->second - first_item_];
    item.taken = true;
    thread.enqueued_ns = item.time_ns;
    front_ns_ = std::max(front_ns_, item.time_ns);
    item_at_.erase(at);
    return;
  }
  // A GC may have moved it. The queue is one of first come first served, and sums of waits are the
  // same in whatever order they are matched.
  for (Item& item : items_) {
    if (item.time_ns > collected_ns_) return;
    if (item.taken) continue;
    const auto other = item_at_.find(item.id);
    if (other != item_at_.end() && &items_[other->second - first_item_] == &item)
      item_at_.erase(other);
    item.taken = true;
    thread.enqueued_ns = item.time_ns;
    front_ns_ = std::max(front_ns_, item.time_ns);
    ++moved_;
    return;
  }
}

void IdleTimes::Resume(Thread& thread, Ref ref, uint64_t run, int64_t time_ns, int64_t queued_ns) {
  Request* r = Get(ref);
  if (r != nullptr && !r->stopped && Get(thread.request) == r && thread.left_ns == kNever) return;
  Leave(thread, time_ns);
  thread.enqueued_ns = kNever;
  if (r == nullptr || r->stopped) return;
  thread.request = ref;
  thread.run = run;
  thread.left_ns = kNever;
  if (r->times.runs++ == 0) EndIdle(*r, time_ns, queued_ns == kNever ? time_ns : queued_ns);
}

void IdleTimes::Leave(Thread& thread, int64_t time_ns) {
  Request* r = Get(thread.request);
  if (r != nullptr && !r->stopped && thread.left_ns == kNever) EndRun(*r, time_ns);
  thread.request = {};
  thread.left_ns = kNever;
}

void IdleTimes::Suspend(Request& r, const Thread& thread, int64_t time_ns) {
  if (thread.left_ns != kNever)
    RanOn(r, thread, time_ns);
  else
    EndRun(r, time_ns);
}

void IdleTimes::EndRun(Request& r, int64_t time_ns) {
  if (r.times.runs == 0) return;
  if (--r.times.runs == 0) r.times.idle_since_ns = time_ns;
}

void IdleTimes::EndIdle(Request& r, int64_t time_ns, int64_t queued_ns) {
  const int64_t from_ns = r.times.idle_since_ns;
  const int64_t split_ns = std::clamp(queued_ns, from_ns, std::max(from_ns, time_ns));
  std::vector<Span>& spans = r.times.spans;
  const auto push = [&](const Span& span) {
    if (span.to_ns <= span.from_ns) return;
    if (spans.size() >= kMostSpans) {
      // The oldest two of a kind become one of their length, at the later one's end.
      for (size_t i = 1; i < spans.size(); ++i) {
        if (spans[i].queued != spans[0].queued) continue;
        spans[i].from_ns -= spans[0].to_ns - spans[0].from_ns;
        spans.erase(spans.begin());
        break;
      }
    }
    spans.push_back(span);
  };
  push({from_ns, split_ns, false});
  push({split_ns, time_ns, true});
}

void IdleTimes::RanOn(Request& r, const Thread& thread, int64_t to_ns) {
  if (runs_ != nullptr) runs_->Add(thread.id, r.path, thread.left_ns, to_ns);
  Cut(r, thread.left_ns, to_ns);
}

void IdleTimes::Cut(Request& r, int64_t from_ns, int64_t to_ns) {
  if (r.times.runs == 0) r.times.idle_since_ns = std::max(r.times.idle_since_ns, to_ns);
  std::vector<Span>& spans = r.times.spans;
  for (size_t i = spans.size(); i-- > 0;) {
    Span& s = spans[i];
    if (s.to_ns <= from_ns) break;
    const Span before{s.from_ns, std::min(s.to_ns, from_ns), s.queued};
    const Span after{std::max(s.from_ns, to_ns), s.to_ns, s.queued};
    if (before.to_ns > before.from_ns && after.to_ns > after.from_ns) {
      s = after;
      spans.insert(spans.begin() + static_cast<std::ptrdiff_t>(i), before);
    } else if (before.to_ns > before.from_ns) {
      s = before;
    } else if (after.to_ns > after.from_ns) {
      s = after;
    } else {
      spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void IdleTimes::Push(Tasks& tasks, uint64_t id, Ref request, int64_t time_ns) {
  if (waiting_ >= kMostTasks) DropTasks();  // that never complete
  uint32_t at = free_waiter_;
  if (at != kNone) {
    free_waiter_ = waiters_[at].next;
  } else {
    at = static_cast<uint32_t>(waiters_.size());
    waiters_.emplace_back();
  }
  ++waiting_;
  waiters_[at] = {request, time_ns, kNone};
  Queue& queue = tasks[id];
  if (queue.last == kNone)
    queue.first = at;
  else
    waiters_[queue.last].next = at;
  queue.last = at;
}

void IdleTimes::DropTasks() {
  awaited_.clear();
  scheduled_.clear();
  waiters_.clear();
  free_waiter_ = kNone;
  waiting_ = 0;
}

bool IdleTimes::Pop(Tasks& tasks, uint64_t id, Waiter& out) {
  const auto it = tasks.find(id);
  if (it == tasks.end()) return false;
  Queue& queue = it->second;
  const uint32_t at = queue.first;
  out = waiters_[at];
  queue.first = out.next;
  waiters_[at].next = free_waiter_;
  free_waiter_ = at;
  --waiting_;
  if (queue.first == kNone) tasks.erase(it);
  return true;
}

const IdleTimes::Times* IdleTimes::Find(const ActivityPath& path) const {
  const uint32_t slot = index_.Find(path);
  return slot == PathIndex::kNone ? nullptr : &requests_[slot].times;
}

void IdleTimes::Forget(const ActivityPath& path) {
  const uint32_t slot = index_.Find(path);
  if (slot == PathIndex::kNone) return;
  ++requests_[slot].serial;
  requests_[slot].times = {};
  free_.push_back(slot);
  index_.Erase(path);
}

void IdleTimes::Shift(int64_t shift_ns) {
  if (runs_ != nullptr) runs_->Shift(shift_ns);
  for (Event& e : events_) e.time_ns -= shift_ns;
  for (Request& r : requests_) {
    r.times.idle_since_ns -= shift_ns;
    for (Span& s : r.times.spans) {
      s.from_ns -= shift_ns;
      s.to_ns -= shift_ns;
    }
  }
  for (auto& [id, t] : threads_)
    for (int64_t* ns : {&t.left_ns, &t.enqueued_ns, &t.dequeued_ns})
      if (*ns != kNever) *ns -= shift_ns;
  for (Waiter& w : waiters_) w.time_ns -= shift_ns;
  for (Item& i : items_) i.time_ns -= shift_ns;
  for (int64_t* ns : {&collected_ns_, &front_ns_})
    if (*ns != kNever) *ns -= shift_ns;
}

}  // namespace clrscope::analysis
