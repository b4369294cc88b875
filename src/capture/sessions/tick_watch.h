// SPDX-License-Identifier: Apache-2.0
// Notices that AllocationTick fell silent although the program goes on to allocate. While any
// session of a .NET 10 process has AllocationSampled, the process sends no AllocationTick, and it
// stays silent after that session has ended until some session of the runtime's provider begins
// (measured on 10.0.12). Whether the other session still goes on cannot be known, so asking is
// repeated, less and less often.
#pragma once

#include <algorithm>
#include <cstdint>

namespace clrscope::capture {

class TickWatch {
 public:
  // So many GCs that allocations caused cannot pass without a tick: each needs a generation 0 full
  // of objects, 64 KB at the very least, and a tick comes every 100 KB.
  static constexpr uint64_t kSilentGcs = 4;

  struct Verdict {
    bool fell_silent = false;  // just now
    bool repair = false;       // ask the runtime again
  };
  // Called now and then with the ticks and the GCs by allocation that were seen so far.
  Verdict Look(int64_t now_ns, uint64_t ticks, uint64_t gcs) {
    if (ticks != ticks_) {
      ticks_ = ticks;
      gcs_ = gcs;
      silent_ = false;
      return {};
    }
    Verdict verdict;
    if (!silent_ && gcs - gcs_ >= kSilentGcs) {
      silent_ = verdict.fell_silent = true;
      wait_ns_ = kFirstWaitNs;
      next_ns_ = now_ns;
    }
    if (silent_ && now_ns >= next_ns_) {
      verdict.repair = true;
      next_ns_ = now_ns + wait_ns_;
      wait_ns_ = std::min(2 * wait_ns_, kLongestWaitNs);
    }
    return verdict;
  }
  bool silent() const { return silent_; }

 private:
  static constexpr int64_t kFirstWaitNs = 1'000'000'000, kLongestWaitNs = 30'000'000'000;

  uint64_t ticks_ = 0, gcs_ = 0;
  bool silent_ = false;
  int64_t next_ns_ = 0, wait_ns_ = kFirstWaitNs;
};

}  // namespace clrscope::capture
