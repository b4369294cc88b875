// SPDX-License-Identifier: Apache-2.0
// Notices a storm of exceptions, and folds what is recorded of one: throws in windows of time, and
// how many there were, from a counter of the runtime. Both are put into slices of the time that
// they are of, a second or two later, as series with labels of their own (profile/tables/labels.h).
// docs/decisions/0015-storms.md
#pragma once

#include <array>
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

class StormFold {
 public:
  // More throws than these within a second are a storm.
  static constexpr uint64_t kMostPerSecond = 10'000;

  struct Home {
    profile::ProcessTables* tables;
    profile::SliceSink* sink;
    uint32_t index;
    int64_t slice_ns;
  };
  explicit StormFold(const Home& home) : home_(home) {}

  // A throw that is counted like any other, of a session that is open all along.
  void OnWhole(int64_t time_ns);
  // A storm goes on: more than kMostPerSecond throws came in a second.
  bool stormy() const { return stormy_; }
  // Throws a second, of the last second's worst tenth.
  double whole_rate() const;

  // From now on counters count: until EndStorm().
  void BeginStorm();
  // The counter's session is open: it counts from then at the latest.
  void NoteCounting(int64_t now_ns) { counting_from_ns_ = now_ns; }
  bool counting() const { return counting_; }
  // What is decoded now comes from a window's stream.
  void SetReading(bool window) { reading_ = window; }
  bool reading() const { return reading_; }
  // `activity`: empty where it is of no request. What request it is of is asked for when the window
  // is put into a slice, a second or two later.
  void OnWindowed(uint32_t node, uint32_t type, uint64_t thread, bool again,
                  const ActivityPath& activity = {}, int64_t time_ns = 0);
  // A value of LabelKey::kRequest.
  using Whose = std::function<uint64_t(const ActivityPath& activity, int64_t time_ns)>;
  void AskRequests(Whose whose) { whose_ = std::move(whose); }
  // The window's stream has ended. `weight`: the time that it stands for by its own; group: from 1.
  void EndWindow(uint64_t group, int64_t start_ns, int64_t end_ns, double weight);
  // Forgets what was read of the window: it was cut short.
  void CancelWindow() {
    open_.clear();
    of_activities_.clear();
    canceled_ = true;
  }

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
  // The latest values, oldest first.
  const std::deque<Counted>& recent() const { return recent_; }

  // Every throw is recorded again since then; goes on counting up to then.
  void EndStorm(int64_t whole_from_ns);
  // … and has got there: the counter is needed no longer.
  bool ended() const {
    return counting_ && whole_from_ns_ != kNever && counted_to_ns_ >= whole_from_ns_;
  }
  void Stop();
  // Time passes: windows do not wait for a counter that says nothing.
  void Advance(int64_t now_ns);
  // Everything that is known is put into slices.
  void Flush();
  // Nothing more comes; the storm, if there still is one, is known to go on until `last_ns`.
  void Finish(int64_t last_ns);
  // Goes on in another recording; after Flush(). What is read of a window is forgotten.
  void MoveTo(const Home& home);
  // Times are so much smaller from now on.
  void Shift(int64_t shift_ns);

 private:
  static constexpr int64_t kNever = INT64_MAX;
  using Key = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>;  // node, type, thread, request
  struct Throws {
    uint64_t first = 0, again = 0;
  };
  struct OfActivity {
    uint32_t node, type;
    uint64_t thread;
    bool again;
    ActivityPath activity;
    int64_t time_ns;
  };
  struct Window {
    int64_t start_ns, end_ns;
    uint64_t group;
    double weight;
    std::map<Key, Throws> rows;
    std::vector<OfActivity> of_activities;
  };
  using Rows = std::map<uint32_t, profile::Sums>;  // by series

  void ReserveLabels();
  void WatchGap(const Counted& counted);
  void Settle(const Counted& counted);
  void SettleCounted(bool all);
  void AddWindow(Window& window, Rows& rows);
  void AddRow(uint32_t node, uint32_t type, profile::LabelSet labels, const profile::Sums& sums,
              Rows& rows);
  uint16_t LabelOf(const profile::LabelSet& labels);
  void Emit(int64_t middle_ns, const Rows& rows);
  uint64_t WholeWithin(int64_t start_ns, int64_t end_ns);

  Home home_;
  // The last second's throws by tenths.
  std::array<uint32_t, 10> tenths_{};
  int64_t tenth_ = 0;
  uint64_t in_second_ = 0;
  bool stormy_ = false;

  bool counting_ = false, reading_ = false, canceled_ = false;
  int64_t whole_from_ns_ = kNever, counting_from_ns_ = kNever, counted_to_ns_ = 0;
  std::map<Key, Throws> open_;  // of the window that is read
  std::vector<OfActivity> of_activities_;
  Whose whose_;                 // null: there are no requests
  std::deque<Window> windows_;  // that wait for the counter
  std::deque<Counted> counted_, recent_;
  int64_t late_ns_ = 0;  // how much later values are than their intervals say, in all
  std::deque<int64_t> late_;
  std::vector<int64_t> whole_;  // times of whole throws that the counter may count too
  uint64_t whole_beyond_ = 0;   // … of which the times are not kept
  double rounding_ = 0.5;
};

}  // namespace clrscope::analysis
