// SPDX-License-Identifier: Apache-2.0
// Follows the requests of a process by the ids of their activities, and gives what happens for one
// its route and duration as labels. Both are known when the request has ended and the runtime's
// histogram has told its templates, so events wait until then and are put into slices of their own
// time. docs/decisions/0016-requests.md
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/families/gc/pause_log.h"
#include "analysis/families/late_slices.h"
#include "analysis/families/requests/action_verdicts.h"
#include "analysis/families/requests/child_operations.h"
#include "analysis/families/requests/ended_requests.h"
#include "analysis/families/requests/gc_shares.h"
#include "analysis/families/requests/idle_times.h"
#include "analysis/families/requests/open_requests.h"
#include "analysis/families/requests/recent_rate.h"
#include "analysis/families/requests/route_book.h"
#include "base/string_pool.h"
#include "clr/raw_event.h"
#include "profile/requests.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class LiveRequests;

class RequestFold {
 public:
  // Requests that are followed at one time: those that go on, and those that ended within the last
  // seconds. Events that wait for them.
  static constexpr size_t kMostRequests = 100'000, kMostEvents = 300'000;

  RequestFold(StringPool* strings, const LateSlices::Home& home);
  ~RequestFold();

  // They are recorded, or a trace holds some.
  bool on() const { return on_; }
  void Begin() { on_ = true; }
  // A histogram is to tell templates.
  void ExpectTemplates() { templates_expected_ = true; }

  void OnStart(const clr::RawEvent& event, int64_t now_ns);
  void OnStop(const clr::RawEvent& event, int64_t now_ns);
  // Of an operation that may be within a request.
  void OnOperation(const clr::RawEvent& event, int64_t now_ns);
  void OnHistogram(const clr::RawEvent& event, int64_t now_ns);
  // How often routing found a template.
  void OnCounter(const clr::RawEvent& event, int64_t now_ns);
  // One of its intervals ends; its values follow.
  void OnCollecting(int64_t now_ns) { collecting_ns_ = now_ns; }
  // … and were told. What was counted between the two may be in the next interval.
  void OnCollected(int64_t now_ns);
  // A session was refused, its own or another tool's: its identifier.
  void OnRefused(const clr::RawEvent& event);
  std::string TakeRefused() { return std::exchange(refused_, {}); }
  int64_t collected_to_ns() const { return collected_to_ns_; }

  // Requests are followed in windows of time (request_windows.cc): from now on, with those that go
  // on given up. Windows do not overlap.
  void BeginWindows(int64_t now_ns);
  // What is told of requests next is of a window; group: from 1.
  void OpenWindow(uint64_t group);
  // All of it was told: ids were there up to `end_ns`. `failed`: some of it may be missing.
  void CloseWindow(int64_t end_ns, bool failed);
  // Every request is followed again.
  void EndWindows();
  // What threads do for requests is told from the next such event on (request_idle.cc); group: of
  // a window, 0 = of none.
  void OpenTasks(uint64_t group);
  // All of it was told, up to `end_ns`. `failed`: some of it may be missing.
  void CloseTasks(int64_t end_ns, bool failed);
  void OnTask(const clr::RawEvent& event, int64_t now_ns);
  // The runs of threads are known up to then.
  void SettleRuns(int64_t to_ns) { RunIdle(to_ns); }
  // CPU time is recorded, too: requests wait for what is known of it late.
  void FollowRuns() {
    idle_.LogRuns();
    grace_ns_ = kGraceForCpuNs;
  }
  // CPU time of a thread. Returns false where it is of no request.
  bool AddCpu(uint64_t thread, int64_t time_ns, profile::SeriesKey key, const profile::Sums& sums);
  // How many such events there were.
  uint64_t tasks() const { return tasks_; }
  // Actions of requests are told from the next such event on (request_routing.cc).
  void OpenRouting();
  // All of it was told, up to `end_ns`. `failed`: some of it may be missing.
  void CloseRouting(int64_t end_ns, bool failed);
  // An event of a DiagnosticListener.
  void OnDiagnostic(const clr::RawEvent& event, int64_t now_ns);
  // They will be asked for when WantsActions(): when it was not known, since the last call, which
  // of MVC's conventional routes a request was of.
  void ExpectActions() { actions_expected_ = true; }
  bool WantsActions();
  // Twice as many requests as at the last call ran again for an error page, and at least some.
  bool WantsReexecuted();
  // Rows by action, of these routes.
  void SplitActions() { book_.SplitActions(); }

  // Requests and activities a second, of the last moments; in windows, requests of the last seconds
  // by the histogram, activities of the last window.
  double per_second() const;
  // Requests and activities so far that were followed outside of windows.
  uint64_t started() const { return started_; }
  // … in windows, too.
  uint64_t all_started() const { return all_started_; }
  // Intervals of the histogram since BeginWindows().
  uint64_t intervals() const { return intervals_; }

  // Something that happened on a thread while it had an activity.
  struct Event {
    ActivityPath path;
    int64_t time_ns = 0;
    uint64_t thread = 0;
    profile::SeriesKey key;  // its labels: what else is known
    uint64_t nominal_size = 0;
    profile::Sums sums;
    double bytes = 0, objects = 0;  // of allocations: what it stands for
    uint64_t epoch = 0;
  };
  void Add(Event event);
  // An allocation of no request.
  void OnOthersSample(double bytes) { (void)Share(bytes); }
  PauseLog& pauses() { return pauses_; }

  // Where the agent's intervals go, so that they get routes; they go on to `next`, which must
  // outlive this.
  profile::IntervalSink* FollowLive(profile::IntervalSink* next);
  // What belongs to this activity at a time: the route's index + 1, 0 = no request. Not certain as
  // long as the request goes on.
  struct Whose {
    uint32_t request = 0;
    bool certain = true;
  };
  Whose WhoseIs(const ActivityPath& path, int64_t time_ns);
  // The same of a throw, as well as is known by now. From RememberEnded() on, it is also known for
  // some seconds of requests that were not followed to their end.
  uint64_t RequestOf(const ActivityPath& path, int64_t time_ns);
  void RememberEnded() { remembers_ = true; }

  // Time passes.
  void Advance(int64_t now_ns);
  // The session has begun anew: the ends of requests that were open may have been missed.
  void Interrupt(int64_t now_ns);
  // Requests that end later are not counted: the recording has.
  void EndAt(int64_t time_ns) { end_ns_ = time_ns; }
  // Nothing more comes.
  void Finish(int64_t last_ns);
  // What waits is handed out as what is known of it.
  void Flush(int64_t now_ns);
  // Goes on in another recording; after Flush().
  void MoveTo(StringPool* strings, const LateSlices::Home& home);
  // Times are so much smaller from now on.
  void Shift(int64_t shift_ns);

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr size_t kPathBytes = 120;
  // A longer path is kept apart: cut, it could fit another template. What all of these may take.
  static constexpr size_t kLongPathBytes = 4096, kMostLongBytes = 16 << 20;
  // A request's events wait for its end so long.
  static constexpr int64_t kLongestWaitNs = 5'000'000'000;
  // Sessions are read one after the other: an event may come so long after the request's stop.
  static constexpr int64_t kGraceNs = 400'000'000;
  // … and CPU time once it is settled (CpuFold), which happens once a second.
  static constexpr int64_t kGraceForCpuNs = 3'200'000'000;
  // A histogram that says nothing is not waited for; one that has begun to tell is late where the
  // machine is busy.
  static constexpr int64_t kLongestFirstTemplateNs = 3'000'000'000,
                           kLongestTemplateNs = 10'000'000'000;
  // An id whose request never shows up.
  static constexpr int64_t kUnknownNs = 2'000'000'000;

  // Times may be negative: of what began in the recording before.
  static constexpr int64_t kGoesOn = std::numeric_limits<int64_t>::min();

  struct Request {
    ActivityPath path;
    int64_t start_ns = 0, stop_ns = kGoesOn;
    int64_t oldest_ns = INT64_MAX;  // of the events that wait
    uint32_t events = kNone;        // a list
    uint32_t serial = 0;            // of the slot's use
    uint32_t method = 0;            // StringId
    uint64_t samples = 0, exceptions = 0;
    double bytes = 0, objects = 0;
    int64_t lock_wait_ns = 0;
    bool windowed = false;    // it is of a window
    bool activity = false;    // no request: the path text is its name (root_activities.cc)
    bool failed = false;      // it was told that it ended with an error
    bool reexecuted = false;  // … that routing looked for another path than its own
    uint16_t status = 0;      // 0: it was not told
    std::unique_ptr<ActionValues> action{};  // null: nothing was told
    uint16_t text_size = 0;
    std::array<char, kPathBytes> text{};
    std::string long_text{};  // of a path that `text` has no room for
    bool stopped() const { return stop_ns != kGoesOn; }
    std::string_view path_text() const {
      return long_text.empty() ? std::string_view(text.data(), text_size) : long_text;
    }
    std::string_view short_text() const { return {text.data(), activity ? 0 : size_t{text_size}}; }
  };
  struct Waiting {
    Event event;
    uint32_t next = kNone;
  };
  struct Turn {
    uint32_t slot, serial;
  };
  // A window, until all that is of it has arrived.
  struct Window {
    uint64_t group = 1;
    int64_t end_ns = kGoesOn;
    bool failed = false;
    std::vector<Turn> requests{};  // that began in it
    uint64_t activities = 0;       // that began in it, within requests or not
    bool closed() const { return end_ns != kGoesOn; }
  };
  // A time in which it is told what threads do: from the first event on.
  struct IdleWatch {
    uint64_t group = 0;
    int64_t from_ns = kGoesOn, to_ns = kGoesOn;
    bool failed = false;
    bool closed() const { return to_ns != kGoesOn; }
  };
  // A time in which actions are told: from the first event on.
  struct RoutingWatch {
    int64_t from_ns = kGoesOn, to_ns = kGoesOn;
    bool failed = false, learned = false;
    bool closed() const { return to_ns != kGoesOn; }
  };
  // Of a request that may not have come yet.
  struct Told {
    ActivityPath path;
    int64_t time_ns = 0;
    std::unique_ptr<ActionValues> action;
    std::string routed{};  // with `action`: the path that routing looked for
    bool failed = false;
    uint16_t status = 0;  // 0: this is not how it ended
  };
  static constexpr size_t kMostTold = 50'000;
  // Where something is within a window: 0 = it is of none.
  struct Watched {
    uint64_t group;
    uint16_t age;
  };

  uint32_t NewSlot();
  // A request begins; null: it is not followed.
  Request* NewRequest(const ActivityPath& path, int64_t now_ns);
  void EndRequest(uint32_t slot, int64_t now_ns);
  void OnActivity(const clr::RawEvent& event, int64_t now_ns);
  void CountActivity(int64_t now_ns);
  void AddChild(const ChildOperations::Ended& ended, int64_t now_ns);
  void MakeRoom(int64_t now_ns);
  // What has come to its end is taken out of a queue, so that it does not grow behind one that
  // never ends.
  void Prune(std::deque<Turn>& turns);
  void SetPath(Request& r, Utf16View path);
  void SetPathText(Request& r);
  // Events count to their request as they come, those that turn out to be after it no longer.
  static void CountEvent(Request& r, const Event& event);
  static void UncountEvent(Request& r, const Event& event);
  void Attach(Request& r, const Event& event);
  uint32_t RouteSoFar(const Request& r);
  void RetryUnknown(int64_t now_ns, bool all);
  int64_t LongestTemplate() const {
    return collected_ ? kLongestTemplateNs : kLongestFirstTemplateNs;
  }
  bool TemplatesKnown(const Request& r, int64_t now_ns) const;
  void End(uint32_t slot, int64_t now_ns, bool certain);
  void HandOutOne(Request& r, const Event& e, uint32_t route, uint16_t step);
  void HandOutEvents(Request& r, uint32_t route, uint16_t step);
  // One after the other, and the list is empty.
  template <class F>
  void TakeEvents(Request& r, F&& take) {
    for (uint32_t at = r.events; at != kNone;) {
      take(waiting_[at].event);
      const uint32_t next = waiting_[at].next;
      waiting_[at].next = free_waiting_;
      free_waiting_ = at;
      --waiting_count_;
      at = next;
    }
    r.events = kNone;
    r.oldest_ns = INT64_MAX;
  }
  void HandOut(const Event& e, uint64_t route, uint16_t step, const Watched& watched,
               double weight);
  void HandOut(const Event& e) { HandOut(e, 0, 0, {}, 1); }
  void Count(uint32_t route, profile::RequestPart part, uint16_t step, int64_t time_ns,
             const profile::Sums& sums, const Watched& watched = {});
  uint32_t RouteOf(const Request& r, bool certain, int64_t to_ns);
  // nullptr: nobody saw what threads did for a request that began then.
  const IdleWatch* IdleWatchOf(int64_t start_ns) const;
  // Whether it is known how long the request was watched.
  bool IdleKnown(const Request& r) const;
  // How what happened then counts to a request that began at `start_ns` and is over; nullopt: to
  // none. CPU time counts where it was told what threads did for it.
  std::optional<Watched> WatchedAt(int64_t start_ns, const Event& e, const Watched& others) const;
  // Counts how long the request was queued and awaiting up to `to_ns`; `ended`: it ended then.
  // Returns these times where the whole request was watched.
  std::optional<profile::IdleTime> CountIdle(const Request& r, uint32_t route, int64_t to_ns,
                                             bool ended);
  // On the thread, it begins or ends.
  void NoteRun(IdleTimes::Kind kind, uint64_t thread, const ActivityPath& path, int64_t now_ns);
  void RunIdle(int64_t to_ns);
  void AddIdle(const IdleTimes::Event& event);
  bool RoutingToldOf(const Request& r) const;
  bool AwaitsActions(const Request& r, int64_t now_ns);
  void RunRouting(int64_t now_ns);
  void LearnAction(const Request& r);
  void LearnMissing(RoutingWatch& watch);
  bool IsFailedAction(const Request& r, uint32_t route) const;
  void CountLooked(const Request& r, uint32_t route);
  void FinishWindow(Window& window, int64_t now_ns);
  void EndWatched(Request& r, const Window& window, double weight);
  void GiveUp(Request& r);
  void FinishWindows(int64_t now_ns, bool all);
  // Of requests themselves.
  void AddOwn(int64_t time_ns, uint16_t label, const profile::Sums& sums);
  void NoteSlow(const Request& r, uint32_t route, int64_t duration_ns, int64_t gc_ns,
                const std::optional<profile::IdleTime>& idle);
  void EndStopped(int64_t now_ns);
  void FinishAll(int64_t last_ns);
  void FlushLong(int64_t now_ns);
  void HandOutOpen(Request& r, int64_t now_ns);
  // Of a sample of an allocation: its epoch.
  uint64_t Share(double bytes) {
    if (pauses_seen_ != pauses_.count()) TakePauses();
    return shares_.OnSample(bytes);
  }
  void TakePauses();
  void CountCaused();
  void Free(uint32_t slot);
  // An event that is read when its request has ended and its route was told. Returns false where it
  // is not of that request.
  bool AddLate(const EndedRequests::Ended& request, const Event& event);
  // It is followed no more, from `to_ns` on.
  void Remember(const Request& r, uint32_t route, int64_t to_ns, bool ended);
  // Routes are known of all that ended up to then.
  int64_t SettledTo(int64_t now_ns) const;

  StringPool* strings_;
  profile::ProcessTables* tables_;
  LateSlices slices_;
  RouteBook book_;
  ChildOperations children_;
  PauseLog pauses_;
  uint64_t pauses_seen_ = 0;
  GcShares shares_;
  PathIndex index_;
  std::vector<Request> requests_;
  std::vector<uint32_t> free_;
  std::deque<Turn> begun_, ended_;  // in order of time; of windows, neither
  std::deque<Window> windows_;      // oldest first; only the last may be open
  IdleTimes idle_;
  std::deque<IdleWatch> idle_watches_;  // oldest first
  uint64_t tasks_ = 0, idle_pauses_ = 0;
  std::deque<RoutingWatch> routing_watches_;  // oldest first
  std::vector<Told> told_;
  uint64_t undecided_ = 0, undecided_seen_ = 0;
  // Of the histogram: those that ran again for an error page; matches, and requests of a template.
  uint64_t reexecuted_ = 0, reexecuted_seen_ = 0;
  double matches_ = 0, routed_ = 0;
  bool actions_expected_ = false;
  int64_t watched_to_ns_ = 0;  // the end of the last window, or when windows began
  bool in_windows_ = false;
  RecentRate starts_;
  double counting_ = 0, counted_ = 0;  // by the histogram: of this interval, the most of the last
  double activities_per_second_ = 0;   // of the last window
  uint64_t intervals_ = 0, started_ = 0, all_started_ = 0;
  std::vector<Waiting> waiting_;
  uint32_t free_waiting_ = kNone;
  size_t waiting_count_ = 0;
  size_t long_bytes_ = 0;  // of Request::long_text
  std::vector<Event> unknown_;
  std::string scratch_, refused_;
  int64_t collecting_ns_ = 0, collected_to_ns_ = 0, grace_ns_ = kGraceNs;
  int64_t end_ns_ = INT64_MAX;
  EndedRequests ended_requests_;
  int64_t advanced_ns_ = 0;
  std::unique_ptr<LiveRequests> live_;  // null: nobody asks
  bool remembers_ = false;
  bool on_ = false, templates_expected_ = false, collected_ = false;
};

}  // namespace clrscope::analysis
