// SPDX-License-Identifier: Apache-2.0
// Numbers for the activities that followed objects were allocated in, as long as any of these is
// followed: so there are no more of them than followed objects, and births and deaths of one
// interval. On the agent's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "base/com/unknown.h"
#include "profile/estimate/reservoir.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

class ActivityNumbers {
 public:
  // What one activity allocates has a number for each such span of time: its id may stay on a
  // thread for longer than its request goes on.
  static constexpr int64_t kSpanNs = 10'000'000;

  // 0 for no activity. `alloc_ns`: since the agent's start.
  uint32_t Of(const Guid& activity, int64_t alloc_ns);

  // After the rows of an interval were taken from `live`: tells the numbers that these and what is
  // followed have, as far as they are new, and gives up those that nothing has any more.
  void FillFrame(const profile::LiveSample& live, profile::IntervalFrame& frame);
  // The next frame tells all of them.
  void Resend();

  size_t size() const { return numbers_.size(); }
  size_t memory_bytes() const { return numbers_.size() * kEntryBytes; }

 private:
  static constexpr size_t kEntryBytes = 2 * 112;        // of both maps
  using Key = std::tuple<uint64_t, uint64_t, int64_t>;  // the id's halves, the span
  struct Known {
    Key key;
    int64_t first_ns = 0;
    bool told = false, used = false;
  };
  std::map<Key, uint32_t> numbers_;
  std::map<uint32_t, Known> known_;
  uint32_t last_ = 0;
};

}  // namespace clrscope::agent
