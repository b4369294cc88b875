// SPDX-License-Identifier: Apache-2.0
// Figures of allocations that were recorded in windows of time: what their samples stand for,
// weighted by the share of time that the windows are, and all of it together scaled to what there
// was in all (families/windows/window_sums.h). docs/decisions/0019-overhead.md
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/families/windows/window_sums.h"
#include "profile/profile.h"

namespace clrscope::analysis {

class AllocationWindows {
 public:
  // What a series of a window says of the time that the window stands for, with the variance of
  // samples alone; how windows differ comes besides.
  static profile::Estimate Weighted(const profile::SeriesKey& key, const profile::Sums& sums);

  // `label`: of LabelKey::kWindow. `cell`: in the figure; where the label is kStormCounted, whom
  // belongs what no window saw. `timed`: what came when is kept by cell, too.
  void Add(uint32_t process, uint64_t label, const profile::SeriesKey& key, uint32_t cell,
           std::span<const Aggregate::Moment> moments, bool timed);
  // What of a series one thread did; of those that were added.
  void AddThread(uint32_t process, uint64_t label, const profile::SeriesKey& key, uint64_t thread,
                 std::span<const Aggregate::Moment> moments);
  // The runtime's counter did not cover `seconds` of the time: totals may be off by what they had.
  void NoteUncounted(uint32_t process, double seconds) {
    if (const auto p = processes_.find(process); p != processes_.end())
      p->second.sums.NoteUncounted(seconds);
  }
  bool empty() const { return processes_.empty(); }

  using TimeOf = std::tuple<int64_t, int64_t, uint32_t, profile::HeapKind>;
  using ThreadOf = std::tuple<uint32_t, uint64_t, profile::HeapKind>;
  // Call this after the last Add(); `one_second`: BindOptions::one_second. It adds the scaled
  // amounts to the figure's cells, and by time and thread to the maps.
  void Finish(profile::Figure& figure, std::map<TimeOf, profile::Estimate>& times,
              std::map<ThreadOf, profile::Estimate>& threads, bool one_second = false);

 private:
  struct Part {
    uint32_t cell = 0;
    size_t group = 0;
    profile::HeapKind kind = profile::HeapKind::kUnknown;
    bool timed = false;
    uint64_t thread = 0;
    int64_t start_ns = 0, end_ns = 0;
    profile::Estimate weighted;
  };
  struct Process {
    std::vector<Part> parts, threads, counted;
    WindowSums sums;
  };
  class Scaler;

  std::map<uint32_t, Process> processes_;
};

}  // namespace clrscope::analysis
