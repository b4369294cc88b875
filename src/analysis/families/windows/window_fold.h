// SPDX-License-Identifier: Apache-2.0
// Folds what is recorded in windows of time: the events of the windows, and how much there was in
// all, from a counter of the runtime. Both are put into slices of the time that they are of, a
// second or two later, as series with labels of their own (profile/tables/labels.h). Time of which
// no counter told, or one that windows contradict, is marked as such.
// docs/decisions/0015-storms.md, 0019-overhead.md
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/families/requests/activity_path.h"
#include "profile/tables/process_tables.h"
#include "profile/tables/slice.h"

namespace clrscope::analysis {

class WindowFold {
 public:
  struct Home {
    profile::ProcessTables* tables;
    profile::SliceSink* sink;
    uint32_t index;
    int64_t slice_ns;
  };
  // `source`: of the series that have what was counted. `uncounted`: milliseconds of which no
  // counter told.
  WindowFold(const Home& home, profile::Source source, Loss uncounted)
      : home_(home), source_(source), uncounted_(uncounted) {}

  // The source of the counter's series.
  void SetSource(profile::Source source) { source_ = source; }
  // Of an event that is counted like any other, of a session that is open all along: what the
  // counter counts of it. Remembered while the counter may count it too.
  void NoteWhole(int64_t time_ns, double counted);
  // Times of the last seconds are remembered even if nothing counts yet, as the first value of a
  // counter may go back to before it was asked for.
  void RememberWhole(bool remember) { remembering_ = remember; }

  // From now on counters count: until EndWindows().
  void BeginWindows();
  // The counter's session is open: it counts from then at the latest.
  void NoteCounting(int64_t now_ns) { counting_from_ns_ = now_ns; }
  // The session that recorded everything has ended: windows stand for the time from then on.
  void NoteWholeEnded(int64_t now_ns) { windows_from_ns_ = now_ns; }
  bool counting() const { return counting_; }
  // The counter is a sum over the heaps that the GC uses: the runtime's total of allocated bytes
  // before .NET 11. Where DATAS takes a heap away it stands still, and jumps once that one is back
  // (dotnet/runtime#131069).
  void SetOverHeaps(bool over_heaps) { over_heaps_ = over_heaps; }
  // How many heaps the GC used last; 0: not known.
  void NoteHeaps(int32_t heaps) {
    if (heaps <= 0) return;
    if (counting_ && over_heaps_ && heaps_ > 0 && heaps != heaps_) wrong_ = true;
    heaps_ = heaps;
  }
  // What is decoded now comes from a window's stream.
  void SetReading(bool window) { reading_ = window; }
  bool reading() const { return reading_; }

  // An event of the window. `key`: without labels; sums as EstimateOf() takes them, but of
  // AllocationSampled, whose `stands_for` is kUnit for each. `counted`: as of NoteWhole().
  struct Event {
    profile::SeriesKey key;
    uint64_t nominal_size = 0;
    uint64_t thread = 0;
    profile::Sums sums;
    double counted = 0;
  };
  static constexpr uint64_t kUnit = profile::kWindowUnit;
  // `activity`: empty where it is of no request. What request it is of is asked for when the window
  // is put into a slice, a second or two later.
  void OnWindowed(const Event& event, const ActivityPath& activity = {}, int64_t time_ns = 0);
  // A value of LabelKey::kRequest.
  using Whose = std::function<uint64_t(const ActivityPath& activity, int64_t time_ns)>;
  void AskRequests(Whose whose) { whose_ = std::move(whose); }
  // The window's stream has ended. `of_ns`: the time that it stands for by its own; group: from 1.
  void EndWindow(uint64_t group, int64_t start_ns, int64_t end_ns, int64_t of_ns);
  // Forgets what was read of the window: it was cut short.
  void CancelWindow() {
    ForgetOpen();
    canceled_ = true;
  }
  // Events of the window that is read.
  uint64_t events() const { return events_; }

  struct Counted {
    int64_t start_ns = 0, end_ns = 0;
    double count = 0;
    double per_second() const {
      return end_ns > start_ns ? count * 1e9 / static_cast<double>(end_ns - start_ns) : 0;
    }
  };
  void OnCounted(Counted counted);
  // How far the counter's values go; 0: there is none yet.
  int64_t counted_to_ns() const { return counted_to_ns_; }
  // The latest values, oldest first; where no counter tells, or it is wrong, what the latest
  // windows hold.
  const std::deque<Counted>& recent() const { return told() ? recent_ : recent_windows_; }

  // Everything is recorded again since then; goes on counting up to then.
  void EndWindows(int64_t whole_from_ns) { whole_from_ns_ = whole_from_ns; }
  // … and has got there: the counter is needed no longer.
  bool ended() const {
    return counting_ && whole_from_ns_ != kNever && counted_to_ns_ >= whole_from_ns_;
  }
  void Stop();
  // Time passes: windows do not wait for a counter that says nothing.
  void Advance(int64_t now_ns);
  // Everything that is known up to then is put into slices.
  void Flush(int64_t last_ns);
  // The recording was asked to stop: no counter needs to tell of what comes later.
  void NoteStop(int64_t now_ns) { stop_ns_ = now_ns; }
  // Nothing more comes; the windows, if there still are any, are known to go on until `last_ns`.
  void Finish(int64_t last_ns);
  // Goes on in another recording; after Flush(). What is read of a window is forgotten.
  void MoveTo(const Home& home);
  // Times are so much smaller from now on.
  void Shift(int64_t shift_ns);

 private:
  static constexpr int64_t kNever = INT64_MAX;
  // Node, type, attributes, thread, request.
  using Key = std::tuple<uint32_t, uint32_t, uint16_t, uint64_t, uint64_t>;
  struct Of {
    uint64_t nominal_size = 0;
    profile::Sums sums;
  };
  struct OfActivity {
    Event event;
    ActivityPath activity;
    int64_t time_ns;
  };
  struct Window {
    int64_t start_ns, end_ns, of_ns;
    uint64_t group;
    std::map<Key, Of> rows;
    std::vector<OfActivity> of_activities;
    uint64_t events;
    double counted;
  };
  struct Whole {
    int64_t time_ns;
    double counted;
  };
  struct Rows {
    std::map<uint32_t, profile::Sums> of_series;
    std::map<std::pair<uint32_t, uint64_t>, profile::Sums> parts;  // by series and thread
    bool empty() const { return of_series.empty(); }
  };

  void ReserveLabels();
  void ForgetOpen();
  bool told() const { return !wrong_ && !silent_; }
  void WatchGap(const Counted& counted);
  void WatchWrong(const Counted& counted);
  void Settle(const Counted& counted, bool told);
  void SettleCounted(bool all);
  int64_t TellsFrom() const;
  void SettleUntold(int64_t to_ns);
  void AddWindowsUpTo(int64_t until_ns);
  void AddWindow(Window& window, Rows& rows);
  void AddRow(const profile::SeriesKey& key, uint64_t nominal_size, uint64_t thread,
              profile::LabelSet labels, const profile::Sums& sums, Rows& rows);
  uint16_t LabelOf(const profile::LabelSet& labels);
  void Emit(int64_t middle_ns, const Rows& rows);
  double WholeWithin(int64_t start_ns, int64_t end_ns);
  static Key KeyOf(const Event& event, uint64_t request);

  Home home_;
  profile::Source source_;
  Loss uncounted_;
  bool counting_ = false, reading_ = false, canceled_ = false, remembering_ = false;
  bool wrong_ = false;   // the counter is
  bool silent_ = false;  // it has not told for long
  bool over_heaps_ = false;
  int32_t heaps_ = 0;
  int64_t whole_from_ns_ = kNever, counting_from_ns_ = kNever, counted_to_ns_ = 0;
  int64_t windows_from_ns_ = kNever, stop_ns_ = kNever;
  int64_t untold_to_ns_ = INT64_MIN;  // marked as time of which no counter told
  uint64_t events_ = 0;
  double counted_in_window_ = 0;
  std::map<Key, Of> open_;  // of the window that is read
  std::vector<OfActivity> of_activities_;
  Whose whose_;                 // null: there are no requests
  std::deque<Window> windows_;  // that wait for the counter
  std::deque<Counted> counted_, recent_, recent_windows_;
  static constexpr Counted kNoValue{INT64_MIN, INT64_MIN, 1e300};
  Counted last_ = kNoValue;  // the value before the one that is settled
  int64_t late_ns_ = 0;      // how much later values are than their intervals say, in all
  std::deque<int64_t> late_;
  std::deque<Whole> whole_;  // that the counter may count too
  double whole_beyond_ = 0;  // … of which the times are not kept
  double rounding_ = 0.5;
};

}  // namespace clrscope::analysis
