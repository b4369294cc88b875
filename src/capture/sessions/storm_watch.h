// SPDX-License-Identifier: Apache-2.0
// When a storm of exceptions is recorded: one window of time about each second, its begin random,
// as long as some thousand throws take. Knows neither sessions nor the time: both are told.
// docs/decisions/0015-storms.md
#pragma once

#include <algorithm>
#include <cstdint>

#include "profile/overhead/window_plan.h"

namespace clrscope::capture {

class StormWatch {
 public:
  static constexpr int64_t kPeriodNs = profile::WindowPlan::kPeriodNs;
  // What a window is to hold, and how long it may be. An open and a stop take the program about a
  // millisecond, so shorter ones would not be cheaper.
  static constexpr double kThrowsPerWindow = 2'500;
  static constexpr int64_t kLongestNs = 200'000'000, kShortestNs = 5'000'000;
  // A storm is over when so many seconds in a row had fewer throws.
  static constexpr double kCalmPerSecond = 5'000;
  static constexpr size_t kCalmSeconds = 3;

  using Window = profile::WindowPlan::Window;

  explicit StormWatch(uint64_t seed) : plan_(seed) {}

  // The next window. Periods are those of the counter, whose values come at `phase_ns` of a second.
  // `per_second`: the highest rate of the last seconds, so that a lull before a burst does not make
  // the window long.
  Window Next(int64_t now_ns, int64_t phase_ns, double per_second) {
    return plan_.Next(now_ns, phase_ns, Length(per_second));
  }
  static int64_t Length(double per_second) {
    if (per_second <= 0) return kLongestNs;
    return std::clamp(static_cast<int64_t>(kThrowsPerWindow / per_second * 1e9), kShortestNs,
                      kLongestNs);
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
  profile::WindowPlan plan_;
};

}  // namespace clrscope::capture
