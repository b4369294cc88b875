// SPDX-License-Identifier: Apache-2.0
// The last pauses of a process for its garbage collector, by time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace clrscope::analysis {

class PauseLog {
 public:
  struct Pause {
    int64_t begin_ns = 0, end_ns = 0;
  };

  void Add(Pause pause) {
    if (pause.end_ns <= pause.begin_ns) return;
    if (pauses_.size() == kMost) pauses_.pop_front();
    pauses_.push_back(pause);
    ++count_;
  }
  // How much of a span they took.
  int64_t Within(int64_t from_ns, int64_t to_ns) const {
    int64_t sum = 0;
    auto it = std::partition_point(pauses_.begin(), pauses_.end(),
                                   [from_ns](const Pause& p) { return p.end_ns <= from_ns; });
    for (; it != pauses_.end() && it->begin_ns < to_ns; ++it)
      sum += std::max<int64_t>(0, std::min(it->end_ns, to_ns) - std::max(it->begin_ns, from_ns));
    return sum;
  }
  // How many there were, those that are forgotten too.
  uint64_t count() const { return count_; }
  // The `n`th of all; it must not be forgotten.
  const Pause& At(uint64_t n) const { return pauses_[n - oldest()]; }
  // The number of the first that is not forgotten.
  uint64_t oldest() const { return count_ - pauses_.size(); }
  // Times are so much smaller from now on.
  void Shift(int64_t shift_ns) {
    for (Pause& p : pauses_) {
      p.begin_ns -= shift_ns;
      p.end_ns -= shift_ns;
    }
  }

 private:
  static constexpr size_t kMost = 1 << 16;
  std::deque<Pause> pauses_;
  uint64_t count_ = 0;
};

}  // namespace clrscope::analysis
