// SPDX-License-Identifier: Apache-2.0
// When no thread runs for a request, and whether its work waits for a thread of the pool meanwhile
// (queued) or for something else (awaiting). Told by the runtime's tasks and by the queue of the
// pool's work. A thread that blocks (a lock, Task.Wait, Thread.Sleep) runs for its request.
//
// Sources: dotnet/runtime src/libraries/System.Private.CoreLib/src/System/
//   Threading/Tasks/TplEventSource.cs; Runtime/CompilerServices/TaskAwaiter.cs
//   (OutputWaitEtwEvents): an await that suspends tells TaskWaitBegin in its activity. When the
//   task has completed, the thread that goes on tells TaskWaitEnd before it has the activity, and
//   TaskWaitContinuationComplete when it returns. Awaits of an IValueTaskSource tell nothing: what
//   runs after one counts as awaiting until a task around it goes on.
//   Threading/ThreadPoolWorkQueue.cs: a work item is told by its address, which a GC may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/families/requests/activity_path.h"
#include "analysis/families/requests/open_requests.h"
#include "analysis/families/requests/run_log.h"

namespace clrscope::analysis {

class IdleTimes {
 public:
  enum class Kind : uint8_t {
    kStart,      // of a request
    kStop,       // of a request
    kWaitBegin,  // id: the task that is awaited
    kWaitEnd,
    kContinued,  // what went on with that kWaitEnd has returned
    kScheduled,  // id: the task
    kStarted,
    kCompleted,
    kEnqueued,  // id: the work item
    kDequeued,
    kCollected,  // a GC has ended
    kLeft,       // what is queued and awaited is told no longer
  };
  struct Event {
    int64_t time_ns = 0;
    uint64_t thread = 0;
    uint64_t id = 0;
    ActivityPath path{};  // of the activity that the event's thread has
    Kind kind = Kind::kStart;
  };
  // Nothing ran for the request.
  struct Span {
    int64_t from_ns = 0, to_ns = 0;
    bool queued = false;
  };
  struct Times {
    std::vector<Span> spans{};  // in order, not overlapping
    int64_t before_ns = 0;      // the work that began it was queued so long
    uint32_t runs = 0;          // threads that run for it
    int64_t idle_since_ns = 0;  // where none does, and it has not ended
  };
  // Events that wait for those of other sessions; tasks and work items that are not done.
  static constexpr size_t kMostEvents = 400'000, kMostTasks = 100'000;
  static constexpr size_t kMostSpans = 64, kMostThreads = 20'000;

  // In any order within the time that Run() leaves out. False: there is no room.
  bool Add(const Event& event);
  // Goes through everything up to `to_ns`.
  void Run(int64_t to_ns);
  // What is known of a request that has ended or not; nullptr: nothing.
  const Times* Find(const ActivityPath& path) const;
  void Forget(const ActivityPath& path);
  void Shift(int64_t shift_ns);
  // From now on it is kept which request each thread runs for: null before.
  void LogRuns() { runs_ = std::make_unique<RunLog>(); }
  RunLog* runs() { return runs_.get(); }
  // Of items that a GC has moved: matched in the order of the queue.
  uint64_t moved() const { return moved_; }

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr int64_t kNever = INT64_MIN;
  // Each thread has a queue of its own beside the common one, and steals from others.
  static constexpr int64_t kOutOfOrderNs = 50'000'000;

  struct Request {
    ActivityPath path{};
    uint32_t serial = 0;
    bool stopped = false;
    Times times{};
  };
  struct Ref {
    uint32_t slot = kNone, serial = 0;
  };
  struct Thread {
    uint64_t id = 0;
    Ref request{};
    uint64_t run = 0;  // the task that its run began with; 0: the request's start
    // It was seen to suspend; until something else is seen it may still run.
    int64_t left_ns = kNever;
    // The work item that it took last, until that is known to be of a request.
    int64_t enqueued_ns = kNever, dequeued_ns = kNever;
  };
  // Requests that await a task, or the one that scheduled it, first come first.
  struct Waiter {
    Ref request{};
    int64_t time_ns = 0;
    uint32_t next = kNone;
  };
  struct Queue {
    uint32_t first = kNone, last = kNone;
  };
  using Tasks = std::unordered_map<uint64_t, Queue>;
  struct Item {
    uint64_t id = 0;
    int64_t time_ns = 0;
    bool taken = false;
  };

  void Process(const Event& e);
  void ProcessOn(Thread& thread, const Event& e);
  void OnStart(const Event& e, Thread& thread);
  void OnStop(const Event& e, Thread& thread);
  void OnWaitBegin(const Event& e, Thread& thread);
  void OnContinued(const Event& e, Thread& thread);
  void OnDequeued(const Event& e, Thread& thread);
  void DropItems(int64_t to_ns);
  void DropTasks();
  Request* Get(Ref ref);
  Request* Within(const ActivityPath& path, Ref& ref);
  void Resume(Thread& thread, Ref ref, uint64_t run, int64_t time_ns, int64_t queued_ns);
  // The thread does something else.
  void Leave(Thread& thread, int64_t time_ns);
  // Its thread ran for it until now.
  void Suspend(Request& r, const Thread& thread, int64_t time_ns);
  static void EndRun(Request& r, int64_t time_ns);
  static void EndIdle(Request& r, int64_t time_ns, int64_t queued_ns);
  // The thread ran for it since it was seen to suspend.
  void RanOn(Request& r, const Thread& thread, int64_t to_ns);
  static void Cut(Request& r, int64_t from_ns, int64_t to_ns);
  void LogRun(const Thread& thread, int64_t time_ns);
  void Push(Tasks& tasks, uint64_t id, Ref request, int64_t time_ns);
  bool Pop(Tasks& tasks, uint64_t id, Waiter& out);

  std::vector<Event> events_{};
  PathIndex index_{};
  std::vector<Request> requests_{};
  std::vector<uint32_t> free_{};
  std::unordered_map<uint64_t, Thread> threads_{};
  Tasks awaited_{}, scheduled_{};
  std::vector<Waiter> waiters_{};
  uint32_t free_waiter_ = kNone;
  size_t waiting_ = 0;
  std::deque<Item> items_{};  // in order of time
  uint64_t first_item_ = 0;   // the number of items_[0]
  std::unordered_map<uint64_t, uint64_t> item_at_{};
  int64_t front_ns_ = kNever;  // when the youngest that was dequeued had been enqueued
  int64_t collected_ns_ = kNever;
  uint64_t moved_ = 0;
  std::unique_ptr<RunLog> runs_{};
};

}  // namespace clrscope::analysis
