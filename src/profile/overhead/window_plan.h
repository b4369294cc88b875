// SPDX-License-Identifier: Apache-2.0
// Windows of time in which something is recorded: one to each second, its begin random, and each of
// a random group, by which estimates know their error (profile/estimate/window_groups.h). Knows
// neither sessions nor the time: both are told.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>

#include "profile/tables/labels.h"

namespace clrscope::profile {

class WindowPlan {
 public:
  static constexpr int64_t kPeriodNs = 1'000'000'000;
  struct Window {
    int64_t begin_ns = 0, length_ns = 0;
    uint64_t group = 1;
    int64_t of_ns = kPeriodNs;  // the time that it stands for
  };

  explicit WindowPlan(uint64_t seed) : random_(seed) {
    std::iota(groups_.begin(), groups_.end(), 1);
  }

  // The next window: each period has one, which begins anywhere in it, and may reach into the next
  // one. Periods begin at `phase_ns` of a second.
  Window Next(int64_t now_ns, int64_t phase_ns, int64_t length_ns) {
    phase_ns %= kPeriodNs;
    const auto part = static_cast<int64_t>(std::uniform_real_distribution<double>(0, 1)(random_) *
                                           static_cast<double>(kPeriodNs));
    const int64_t period = (now_ns - phase_ns) / kPeriodNs;
    Window w;
    if (first_) {
      w.begin_ns = now_ns + part;
      last_ = (w.begin_ns - phase_ns) / kPeriodNs;
    } else {
      last_ = period > last_ + 1 ? period + 1 : last_ + 1;
      w.begin_ns = std::max(now_ns, phase_ns + last_ * kPeriodNs + part);
    }
    first_ = false;
    w.length_ns = length_ns;
    w.group = NextGroup();
    return w;
  }

  // Sixteen windows in a row are one of each group, in random order.
  uint64_t NextGroup() {
    if (at_ == groups_.size()) at_ = 0;
    if (at_ == 0) std::shuffle(groups_.begin(), groups_.end(), random_);
    return groups_[at_++];
  }

 private:
  std::mt19937_64 random_;
  std::array<uint64_t, kWindowGroups> groups_{};
  size_t at_ = 0;
  int64_t last_ = 0;
  bool first_ = true;
};

}  // namespace clrscope::profile
