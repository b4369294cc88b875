// SPDX-License-Identifier: Apache-2.0
// When something is recorded under a limit of what it may take: one window of time in each period,
// its begin random, and periods as long as the limit makes them. Knows neither sessions nor the
// time: both are told. docs/decisions/0019-overhead.md
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "capture/sessions/overhead_prices.h"
#include "capture/sessions/window_plan.h"

namespace clrscope::capture {

class BudgetPlan {
 public:
  using Window = WindowPlan::Window;
  // The runtime looks at a session ten times a second, and until it does, one that was asked to
  // stop goes on costing what it costs. So a window is stopped right before the first look.
  static constexpr int64_t kLookNs = 100'000'000, kLengthNs = 93'000'000;
  // A window takes 0.2 s with its reminder, and what has none for so long is as good as unknown.
  static constexpr int64_t kShortestNs = 300'000'000, kLongestNs = 10'000'000'000;

  explicit BudgetPlan(uint64_t seed) : random_(seed), groups_(seed ^ 0x9E3779B97F4A7C15) {}

  // `demand`: what recording everything would take, `allowed`: what it may; both ns a second.
  static int64_t Period(double demand, double allowed) {
    const double cost = demand * static_cast<double>(kLookNs) / 1e9 + kNsPerWindow;
    const double seconds = allowed > 0 ? cost / allowed : 1e9;
    constexpr double kLongest = static_cast<double>(kLongestNs) / 1e9;
    return std::max(kShortestNs, static_cast<int64_t>(std::min(seconds, kLongest) * 1e9));
  }
  // The next window, and its period: from where the last one ended.
  Window Next(int64_t now_ns, int64_t period_ns) {
    if (at_ns_ < now_ns - kLongestNs) at_ns_ = now_ns;
    Window w;
    w.of_ns = period_ns;
    w.length_ns = kLengthNs;
    w.group = groups_.NextGroup();
    const double part = std::uniform_real_distribution<double>(0, 1)(random_);
    w.begin_ns =
        std::max(now_ns, at_ns_ + static_cast<int64_t>(part * static_cast<double>(period_ns)));
    at_ns_ += period_ns;
    return w;
  }
  // Windows begin, at another time than the last ones went on to.
  void Restart(int64_t now_ns) { at_ns_ = now_ns; }

 private:
  std::mt19937_64 random_;
  WindowPlan groups_;
  int64_t at_ns_ = INT64_MIN / 2;
};

}  // namespace clrscope::capture
