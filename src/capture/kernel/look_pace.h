// SPDX-License-Identifier: Apache-2.0
// When a sampler looks at a process from outside: at random times, so that no periodic program
// keeps step with it, and so rarely that its looks take a small part of a CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

namespace clrscope::capture {

class LookPace {
 public:
  enum class Waits : uint8_t {
    kAround,  // half of the period to one and a half
    // However long it was since the last look: several samplers that take turns look as often as
    // one.
    kMemoryless,
  };
  // Looks take 1 / `cpu_part` of a CPU at most. What a look did not take is saved for looks that
  // cost more: the first, and those that read maps and images of code anew.
  LookPace(int64_t period_ns, uint64_t seed, int64_t cpu_part, Waits waits = Waits::kAround)
      : asked_ns_(period_ns),
        cpu_part_(cpu_part),
        period_ns_(period_ns),
        waits_(waits),
        random_(seed) {}

  // A look began at `begin_ns` and cost `cpu_ns`. Returns when the next one begins.
  int64_t Next(int64_t begin_ns, int64_t cpu_ns) {
    const int64_t allowed = last_ns_ == 0 ? 0 : (begin_ns - last_ns_) / cpu_part_;
    last_ns_ = begin_ns;
    saved_ns_ = std::min(kMostSavedNs, saved_ns_ + allowed);
    saved_ns_ = std::max(-kLongestNs / cpu_part_, saved_ns_ - cpu_ns);
    period_ns_ = std::max(asked_ns_, -saved_ns_ * cpu_part_);
    const double periods =
        waits_ == Waits::kAround ? around_(random_) : std::min(kMostPeriods, memoryless_(random_));
    return begin_ns + static_cast<int64_t>(static_cast<double>(period_ns_) * periods);
  }
  // The mean of the wait that Next() has chosen. What the next look sees stands for so much time:
  // looks that are rarer for a while stand for more each.
  int64_t period_ns() const { return period_ns_; }

 private:
  // However much a look costs, there is about one a second.
  static constexpr int64_t kMostSavedNs = 20'000'000, kLongestNs = 1'000'000'000;
  static constexpr double kMostPeriods = 10;

  int64_t asked_ns_, cpu_part_, period_ns_, saved_ns_ = kMostSavedNs, last_ns_ = 0;
  Waits waits_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> around_{0.5, 1.5};
  std::exponential_distribution<double> memoryless_{1};
};

}  // namespace clrscope::capture
