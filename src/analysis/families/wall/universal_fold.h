// SPDX-License-Identifier: Apache-2.0
// One process of a trace of a whole machine (clr/universal_events.h): CPU time by its samples, wall
// time by its switches between threads, and the names of its code.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/families/late_slices.h"
#include "base/string_pool.h"
#include "clr/raw_event.h"

namespace clrscope::analysis {

// What the trace says of its clock and its samples.
struct UniversalClock {
  int64_t ticks_per_second = 1'000'000'000;
  int64_t period_ns = 1'000'000;  // between samples of a CPU
};

class UniversalFold {
 public:
  explicit UniversalFold(const LateSlices::Home& home) : slices_(home) {}
  void SetClock(const UniversalClock& clock) { clock_ = clock; }

  // In order of time. `node`: of the event's stack.
  void OnCpu(const clr::RawEvent& event, int64_t time_ns, uint32_t node);
  void OnSwitch(const clr::RawEvent& event, int64_t time_ns, uint32_t node);
  void OnProcess(const clr::RawEvent& event, StringPool& strings);
  void OnMapping(const clr::RawEvent& event, int64_t time_ns, StringPool& strings);
  void OnSymbol(const clr::RawEvent& event, StringPool& strings);
  void Flush() { slices_.Flush(); }
  void MoveTo(const LateSlices::Home& home) { slices_.MoveTo(home); }

 private:
  profile::ProcessTables& tables() { return *slices_.home().tables; }
  void Add(profile::Source source, const profile::LabelSet& set, int64_t time_ns, uint32_t node,
           const profile::Sums& sums);
  uint64_t ModuleId(StringId path);

  LateSlices slices_;
  UniversalClock clock_;
  int64_t slice_ = -1;  // the number of the one that is open
  bool switches_ = false;
  std::string scratch_;
};

}  // namespace clrscope::analysis
