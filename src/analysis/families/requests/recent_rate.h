// SPDX-License-Identifier: Apache-2.0
// How many of something there were in the last moments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace clrscope::analysis {

// Counts by tenths of a second, for half a second.
class RecentRate {
 public:
  void Add(int64_t time_ns) {
    const int64_t tenth = time_ns / kTenthNs;
    for (int64_t i = 0, n = std::min<int64_t>(tenth - last_, kTenths); i < n; ++i)
      At(tenth - i) = 0;
    if (tenth < last_ - kTenths) return;
    last_ = std::max(last_, tenth);
    ++At(tenth);
  }
  // A second, of the time that was counted; of what goes on for less than half a second, less.
  double per_second() const {
    uint64_t sum = 0;
    for (const uint32_t n : counts_) sum += n;
    return static_cast<double>(sum) * 10 / static_cast<double>(kTenths);
  }
  void Clear() { *this = {}; }

 private:
  static constexpr int64_t kTenthNs = 100'000'000, kTenths = 5;
  uint32_t& At(int64_t tenth) {
    return counts_[static_cast<size_t>((tenth % kTenths + kTenths) % kTenths)];
  }
  std::array<uint32_t, kTenths> counts_{};
  int64_t last_ = INT64_MIN / 2;
};

}  // namespace clrscope::analysis
