// SPDX-License-Identifier: Apache-2.0
// Figures of exceptions that were recorded in windows of time: what the windows hold, weighted by
// the share of time that they are, and all of it together scaled to what there was in all
// (families/windows/window_sums.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/families/windows/window_sums.h"
#include "profile/profile.h"

namespace clrscope::analysis {

class StormEstimate {
 public:
  // A series of a process whose LabelKey::kWindow is `label`. `cell`: in the figure; where the
  // label is kStormCounted, whom throws belong to that no window saw.
  void Add(uint32_t process, uint64_t label, uint32_t cell, bool again,
           std::span<const Aggregate::Moment> moments);
  // The runtime's counter did not cover `seconds` of the time: totals may be off by what they had.
  void NoteUncounted(uint32_t process, double seconds) {
    if (const auto p = processes_.find(process); p != processes_.end())
      p->second.sums.NoteUncounted(seconds);
  }
  bool empty() const { return processes_.empty(); }
  // Call this after the last Add(); `one_second`: BindOptions::one_second. It fills the figure's
  // cells, moments and Storms.
  void Finish(profile::Figure& figure, bool one_second);

 private:
  struct Part {
    uint32_t cell;
    size_t group;
    bool again;
    Aggregate::Moment moment;
  };
  struct Process {
    std::vector<Part> parts, counted;
    WindowSums sums;

    bool few() const { return sums.scale().alone || sums.storms().windows < profile::kFewWindows; }
  };
  static void MarkCells(uint32_t index, const Process& process, profile::Figure& figure);
  static void AddParts(const Process& process, profile::Figure& figure);

  std::map<uint32_t, Process> processes_;
};

}  // namespace clrscope::analysis
