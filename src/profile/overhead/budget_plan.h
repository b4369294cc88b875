// SPDX-License-Identifier: Apache-2.0
// When something is recorded under a limit of what it may take: one window of time in each period,
// its begin random, and periods as long as the limit makes them. Knows neither sessions nor the
// time: both are told. docs/decisions/0019-overhead.md
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>

#include "profile/overhead/overhead_prices.h"
#include "profile/overhead/window_plan.h"

namespace clrscope::profile {

class BudgetPlan {
 public:
  using Window = WindowPlan::Window;
  // The runtime looks at a session ten times a second, and until it does, one that was asked to
  // stop goes on costing what it costs. So a window is stopped right before the first look.
  static constexpr int64_t kLookNs = 100'000'000, kLengthNs = 93'000'000;
  // A window takes 0.3 s until it is read, and what has none for so long is as good as unknown.
  static constexpr int64_t kShortestNs = 500'000'000, kLongestNs = 60'000'000'000;
  static constexpr int64_t kAheadNs = 120'000'000;

  explicit BudgetPlan(uint64_t seed) : random_(seed), groups_(seed ^ 0x9E3779B97F4A7C15) {}

  // A window that ends right before so many looks have been.
  static constexpr int64_t LengthOf(int64_t looks) { return (looks - 1) * kLookNs + kLengthNs; }
  // `demand`: what recording everything would take, `allowed`: what it may; both ns a second.
  static int64_t Period(double demand, double allowed, int64_t length_ns = kLengthNs) {
    const int64_t paid_ns = length_ns + kLookNs - kLengthNs;
    const double cost = demand * static_cast<double>(paid_ns) / 1e9 + kNsPerWindow;
    constexpr double kLongest = static_cast<double>(kLongestNs) / 1e9;
    const double seconds = allowed > 0 ? std::min(cost / allowed, kLongest) : kLongest;
    return std::max({kShortestNs, 2 * length_ns, static_cast<int64_t>(seconds * 1e9)});
  }
  // Of what goes on for long, a long window sees more than several short ones: the longest of which
  // there still is one in two seconds.
  static int64_t Longest(double demand, double allowed) {
    constexpr int64_t kOftenNs = 2'000'000'000, kLooks[] = {10, 6, 4, 2};
    for (const int64_t looks : kLooks)
      if (Period(demand, allowed, LengthOf(looks)) <= kOftenNs) return LengthOf(looks);
    return kLengthNs;
  }
  // Windows begin now.
  void Restart(int64_t now_ns) {
    at_ns_ = now_ns;
    passed_ = 0;
    next_ = Uniform();
  }
  // Time passes, in which the period is so long: some times a second. Each period has a window at a
  // random time, and one that changes meanwhile passes faster or slower. A window begins kAheadNs
  // after its time, so that it can be prepared.
  std::optional<Window> Next(int64_t now_ns, int64_t period_ns, int64_t length_ns = kLengthNs) {
    const double was = passed_;
    const int64_t from_ns = at_ns_;
    const auto period = static_cast<double>(period_ns);
    // Windows are not made up for: the program may have been stopped.
    passed_ += std::min(1.0, static_cast<double>(std::max<int64_t>(0, now_ns - from_ns)) / period);
    at_ns_ = std::max(at_ns_, now_ns);
    if (passed_ < next_) return std::nullopt;
    Window w;
    w.begin_ns = from_ns + kAheadNs + static_cast<int64_t>(std::max(0.0, next_ - was) * period);
    w.length_ns = length_ns;
    w.of_ns = period_ns;
    w.group = groups_.NextGroup();
    next_ = static_cast<double>(static_cast<int64_t>(next_)) + 1 + Uniform();
    return w;
  }
  // A window that others bring, about one in `of_ns`, is used for something else, too, that may
  // have one in `period_ns`: by chance. What it stands for; 0: this one is not used.
  int64_t Ride(int64_t of_ns, int64_t period_ns) {
    if (period_ns <= of_ns) return of_ns;
    const double chance = static_cast<double>(of_ns) / static_cast<double>(period_ns);
    return Uniform() < chance ? period_ns : 0;
  }

 private:
  double Uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  std::mt19937_64 random_;
  WindowPlan groups_;
  int64_t at_ns_ = 0;
  double passed_ = 0, next_ = 0;  // periods
};

}  // namespace clrscope::profile
