// SPDX-License-Identifier: Apache-2.0
// A hundredth of the machine's CPU, or what else is set, for events that a process makes for a
// recording: a leaky bucket, so that a burst of three seconds' worth is within it. Does not know
// the time: it is told.
#pragma once

#include <algorithm>
#include <cstdint>

namespace clrscope::capture {

class CpuBudget {
 public:
  static constexpr double kPartOfMachine = 0.01;
  static constexpr double kBurst = 3;  // seconds' worth
  static constexpr double kLeastPerSecond = 0.01;

  // `ns_each`: what one takes the process, of its CPU time.
  CpuBudget(unsigned cpus, double ns_each)
      : most_(kPartOfMachine * std::max(1u, cpus) * 1e9 / ns_each) {}

  // As many a second are within it all along.
  double most_per_second() const { return most_; }
  void SetMost(double per_second) { most_ = std::max(per_second, kLeastPerSecond); }
  void Drain(int64_t now_ns) {
    if (now_ns <= at_ns_) return;
    level_ = std::max(0.0, level_ - most_ * static_cast<double>(now_ns - at_ns_) / 1e9);
    at_ns_ = now_ns;
  }
  void Spend(double events) { level_ += events; }
  bool spent() const { return level_ > kBurst * most_; }
  bool whole() const { return level_ <= 0; }
  void Restart() { level_ = 0; }

 private:
  double most_;
  double level_ = 0;  // events that are not paid for yet
  int64_t at_ns_ = 0;
};

}  // namespace clrscope::capture
