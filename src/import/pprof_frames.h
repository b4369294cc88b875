// SPDX-License-Identifier: Apache-2.0
// pprof profiles of memory, one after the other, as intervals of a process: what was allocated and
// what lives, of whoever wrote them (clrscope's agent, Go, async-profiler, Datadog …).
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "import/pprof_reader.h"
#include "profile/interval_frame.h"

namespace clrscope::import {

// Which value of a sample is what; -1 = there is none.
struct MemoryColumns {
  int alloc_objects = -1, alloc_bytes = -1, live_objects = -1, live_bytes = -1;
  bool any() const { return alloc_bytes >= 0 || live_bytes >= 0; }
};
MemoryColumns FindMemory(const PprofProfile& profile);

class PprofFrames {
 public:
  // The next profile, in order of time. The frame holds what is new in the dictionaries. Values are
  // what the file says; nothing is known of their error.
  // errors: kFailed for a profile without memory, which names what it has instead
  Result<profile::IntervalFrame> Next(const PprofProfile& profile);

 private:
  uint32_t Method(profile::IntervalMethod&& method, profile::IntervalFrame& frame);
  uint32_t Type(std::string_view name, std::string_view raw, profile::IntervalFrame& frame);
  uint32_t Node(uint32_t parent, uint32_t method, profile::IntervalFrame& frame);

  uint64_t sequence_ = 0;
  int64_t start_unix_ns_ = 0, last_end_ns_ = 0;
  std::map<std::tuple<std::string, std::string>, uint32_t> methods_;  // module, raw
  std::map<std::string, uint32_t, std::less<>> types_;                // by raw name
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes_;
};

}  // namespace clrscope::import
