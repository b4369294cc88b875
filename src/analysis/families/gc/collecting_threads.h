// SPDX-License-Identifier: Apache-2.0
// When threads of the program collected. A blocking collection of workstation GC runs on the thread
// that triggered it, from where it begins to suspend the others until they run again.
// Source: dotnet/runtime src/coreclr/vm/gcenv.ee.cpp (GCToEEInterface::SuspendEE, RestartEE),
// src/coreclr/gc/gc.cpp (gc1)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace clrscope::analysis {

class CollectingThreads {
 public:
  // A suspension for a GC begins; what the thread had open ends without a word.
  void Begin(uint64_t thread, int64_t from_ns) {
    End(thread, -1);
    if (open_.size() >= kMostOpen) open_.erase(open_.begin());
    open_.push_back({thread, from_ns, INT64_MAX});
  }
  // `to_ns` -1: it was not seen.
  void End(uint64_t thread, int64_t to_ns) {
    const auto it =
        std::find_if(open_.begin(), open_.end(), [&](const Span& s) { return s.thread == thread; });
    if (it == open_.end()) return;
    if (to_ns > it->from_ns) {
      if (ended_.size() == kMostEnded) ended_.pop_front();
      ended_.push_back({thread, it->from_ns, to_ns});
    }
    open_.erase(it);
  }
  bool Collected(uint64_t thread, int64_t time_ns) const {
    const auto holds = [&](const Span& s) {
      return s.thread == thread && s.from_ns <= time_ns && time_ns <= s.to_ns;
    };
    // Suspensions come one after the other, but for those that wait for one to end.
    const auto from = std::partition_point(ended_.begin(), ended_.end(),
                                           [&](const Span& s) { return s.to_ns < time_ns; });
    const auto to = from + std::min<std::ptrdiff_t>(ended_.end() - from, std::ptrdiff_t{kMostOpen});
    return std::any_of(from, to, holds) || std::any_of(open_.begin(), open_.end(), holds);
  }
  // Whether one suspension, of any thread's, was there all along.
  bool Suspended(int64_t from_ns, int64_t to_ns) const {
    const auto holds = [&](const Span& s) { return s.from_ns <= from_ns && to_ns <= s.to_ns; };
    const auto from = std::partition_point(ended_.begin(), ended_.end(),
                                           [&](const Span& s) { return s.to_ns < to_ns; });
    const auto to = from + std::min<std::ptrdiff_t>(ended_.end() - from, std::ptrdiff_t{kMostOpen});
    return std::any_of(from, to, holds) || std::any_of(open_.begin(), open_.end(), holds);
  }
  // Times are so much smaller from now on.
  void Shift(int64_t shift_ns) {
    for (Span& s : open_) s.from_ns -= shift_ns;
    for (Span& s : ended_) {
      s.from_ns -= shift_ns;
      s.to_ns -= shift_ns;
    }
  }

 private:
  struct Span {
    uint64_t thread = 0;
    int64_t from_ns = 0, to_ns = 0;
  };
  static constexpr size_t kMostOpen = 64, kMostEnded = 1 << 16;
  std::vector<Span> open_;
  std::deque<Span> ended_;  // in the order of their ends
};

}  // namespace clrscope::analysis
