// SPDX-License-Identifier: Apache-2.0
// When to ask the runtime for its allocation events once more. Two sessions that begin at the same
// time can leave the process without them: the runtime tells its providers what to send after it
// has let go of its lock, and the later word need not come last. A session that begins anew, when
// nothing else begins, sets it right.
#pragma once

#include <algorithm>
#include <cstdint>

namespace clrscope::agent {

class Silence {
 public:
  // `samples`, `gcs`: so far. True: begin the session anew. A program that allocates nothing is
  // silent too, so it is asked less and less often; one that was heard, when it collects, or at
  // long last.
  bool TimeToAsk(uint64_t samples, uint64_t gcs, int64_t now_ns) {
    if (next_ns_ == 0 || samples != samples_) {
      heard_ = heard_ || samples != samples_;
      samples_ = samples;
      gcs_ = gcs;
      wait_ns_ = kFirst;
      next_ns_ = now_ns + wait_ns_;
      return false;
    }
    if (now_ns < next_ns_) return false;
    if (heard_ && gcs - gcs_ < kGcs && now_ns < next_ns_ - wait_ns_ + kLongLast) return false;
    wait_ns_ = std::min(wait_ns_ * 2, kMost);
    next_ns_ = now_ns + wait_ns_;
    gcs_ = gcs;
    return true;
  }

 private:
  static constexpr int64_t kFirst = 500'000'000, kMost = 32'000'000'000,
                           kLongLast = 300'000'000'000;
  static constexpr uint64_t kGcs = 4;
  uint64_t samples_ = 0, gcs_ = 0;
  int64_t wait_ns_ = kFirst, next_ns_ = 0;
  bool heard_ = false;
};

}  // namespace clrscope::agent
