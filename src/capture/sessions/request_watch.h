// SPDX-License-Identifier: Apache-2.0
// Whether the requests of a process are followed one by one or in windows of time, and how long the
// windows are: ids are to take the machine no more than a hundredth of its CPU, or what
// --max-overhead leaves them. Knows neither sessions nor the time: both are told.
// docs/decisions/0016-requests.md
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "capture/sessions/cpu_budget.h"
#include "profile/overhead/window_plan.h"

namespace clrscope::capture {

class RequestWatch {
 public:
  using Window = profile::WindowPlan::Window;
  // What ids take a server, of its CPU time, for each request (docs/performance.md).
  static constexpr double kNsPerRequest = 12'000;
  // An open and a stop take the program about a millisecond, so shorter ones would not be cheaper.
  static constexpr int64_t kShortestNs = 20'000'000, kLongestNs = 500'000'000;
  // Intervals of the histogram, a second each, with few requests after which all are followed.
  static constexpr size_t kCalmIntervals = 4;

  RequestWatch(uint64_t seed, unsigned cpus, double ns_per_request = kNsPerRequest)
      : plan_(seed), budget_(cpus, ns_per_request) {}

  // Requests a second that are all followed.
  double most_per_second() const { return budget_.most_per_second(); }
  void SetMost(double per_second) { budget_.SetMost(per_second); }
  // `started`: requests so far that were followed one by one. A burst of three seconds' worth is
  // followed as a whole; what is far above the limit shows within a fraction of a second.
  bool TooMany(uint64_t started, int64_t now_ns) {
    budget_.Drain(now_ns);
    budget_.Spend(static_cast<double>(started - started_));
    started_ = started;
    return budget_.spent();
  }
  // `interval`: the number of the histogram's interval whose rate this is.
  bool FewAgain(double per_second, uint64_t interval) {
    if (interval == seen_) return calm_ >= kCalmIntervals;
    seen_ = interval;
    calm_ = per_second < most_per_second() / 2 ? calm_ + 1 : 0;
    return calm_ >= kCalmIntervals;
  }
  // Windows begin, or end.
  void Restart() {
    calm_ = 0;
    budget_.Restart();
  }

  Window Next(int64_t now_ns, double per_second) {
    return plan_.Next(now_ns, 0, Length(per_second));
  }
  int64_t Length(double per_second) const {
    if (per_second <= most_per_second()) return kLongestNs;
    const double part = most_per_second() / per_second;
    return std::clamp(
        static_cast<int64_t>(part * static_cast<double>(profile::WindowPlan::kPeriodNs)),
        kShortestNs, kLongestNs);
  }

 private:
  profile::WindowPlan plan_;
  CpuBudget budget_;
  uint64_t started_ = 0, seen_ = 0;
  size_t calm_ = 0;
};

}  // namespace clrscope::capture
