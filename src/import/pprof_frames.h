// SPDX-License-Identifier: Apache-2.0
// pprof profiles of memory and of events, one after the other, as intervals of a process: what was
// allocated, what lives, what was thrown and waited for, of whoever wrote them (clrscope's agent,
// Go, async-profiler, Datadog …).
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "import/pprof_reader.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::import {

// Which value of a sample is what; -1 = there is none.
struct MemoryColumns {
  int alloc_objects = -1, alloc_bytes = -1, live_objects = -1, live_bytes = -1;
  bool any() const { return alloc_bytes >= 0 || live_bytes >= 0; }
};
MemoryColumns FindMemory(const PprofProfile& profile);

// The values of events, by measure: their count, and their amount (MeasureSpec); -1 = there is
// none. Go's profiles of mutexes have the names of those of locks.
struct EventColumns {
  struct Pair {
    int count = -1, amount = -1;
  };
  std::array<Pair, profile::kMeasures> pairs;
  bool any() const {
    return std::any_of(pairs.begin(), pairs.end(), [](const Pair& p) { return p.count >= 0; });
  }
};
EventColumns FindEvents(const PprofProfile& profile);

class PprofFrames {
 public:
  // The next profile, in order of time. The frame holds what is new in the dictionaries. Values are
  // what the file says; nothing is known of their error.
  // errors: kFailed for a profile without any of these, which names what it has instead
  Result<profile::IntervalFrame> Next(const PprofProfile& profile);

 private:
  uint32_t Method(profile::IntervalMethod&& method, profile::IntervalFrame& frame);
  uint32_t Type(std::string_view name, std::string_view raw, profile::IntervalFrame& frame);
  uint32_t Node(uint32_t parent, uint32_t method, profile::IntervalFrame& frame);
  // The node and the type of a sample.
  std::pair<uint32_t, uint32_t> StackOf(const PprofSample& sample, const PprofProfile& profile,
                                        profile::IntervalFrame& frame);
  void SetTimes(const PprofProfile& profile, profile::IntervalFrame& frame);

  uint64_t sequence_ = 0;
  int64_t start_unix_ns_ = 0, last_end_ns_ = 0;
  std::map<std::tuple<std::string, std::string>, uint32_t> methods_;  // module, raw
  std::map<std::string, uint32_t, std::less<>> types_;                // by raw name
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes_;
};

}  // namespace clrscope::import
