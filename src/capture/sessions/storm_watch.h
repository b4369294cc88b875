// SPDX-License-Identifier: Apache-2.0
// When a storm of exceptions is recorded: one window of time about each second, its begin random,
// as long as some thousand throws take. Knows neither sessions nor the time: both are told.
// docs/decisions/0015-storms.md
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "analysis/families/exceptions/storm_fold.h"

namespace clrscope::capture {

class StormWatch {
 public:
  static constexpr int64_t kPeriodNs = 1'000'000'000;
  // What a window is to hold, and how long it may be. An open and a stop take the program about a
  // millisecond, so shorter ones would not be cheaper.
  static constexpr double kThrowsPerWindow = 2'500;
  static constexpr int64_t kLongestNs = 200'000'000, kShortestNs = 5'000'000;
  // A storm is over when so many seconds in a row had fewer throws.
  static constexpr double kCalmPerSecond = 5'000;
  static constexpr size_t kCalmSeconds = 3;

  struct Window {
    int64_t begin_ns = 0, length_ns = 0;
    uint64_t group = 1;
  };

  explicit StormWatch(uint64_t seed) : random_(seed) {
    std::iota(groups_.begin(), groups_.end(), 1);
  }

  // The next window: each period has one, which begins anywhere in it, and may reach into the next
  // one. Periods are those of the counter, whose values come at `phase_ns` of a second.
  // `per_second`: the highest rate of the last seconds, so that a lull before a burst does not make
  // the window long.
  Window Next(int64_t now_ns, int64_t phase_ns, double per_second) {
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
    w.length_ns = Length(per_second);
    w.group = NextGroup();
    return w;
  }
  static int64_t Length(double per_second) {
    if (per_second <= 0) return kLongestNs;
    return std::clamp(static_cast<int64_t>(kThrowsPerWindow / per_second * 1e9), kShortestNs,
                      kLongestNs);
  }
  // What a window of this length stands for by itself.
  static double Weight(int64_t length_ns) {
    return static_cast<double>(kPeriodNs) / static_cast<double>(std::max<int64_t>(1, length_ns));
  }

  // By the counter's latest values, of a second each.
  template <class Values>
  static bool Calm(const Values& values) {
    return values.size() >= kCalmSeconds &&
           std::all_of(values.end() - kCalmSeconds, values.end(),
                       [](const auto& v) { return v.per_second() < kCalmPerSecond; });
  }
  template <class Values>
  static double Highest(const Values& values, double before_any) {
    double rate = values.empty() ? before_any : 0;
    for (const auto& v : values) rate = std::max(rate, v.per_second());
    return rate;
  }

 private:
  // Sixteen windows in a row are one of each group, in random order.
  uint64_t NextGroup() {
    if (at_ == groups_.size()) at_ = 0;
    if (at_ == 0) std::shuffle(groups_.begin(), groups_.end(), random_);
    return groups_[at_++];
  }

  std::mt19937_64 random_;
  std::array<uint64_t, profile::kWindowGroups> groups_{};
  size_t at_ = 0;
  int64_t last_ = 0;
  bool first_ = true;
};

}  // namespace clrscope::capture
