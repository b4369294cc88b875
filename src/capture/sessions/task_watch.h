// SPDX-License-Identifier: Apache-2.0
// Whether it is told all along what threads do for requests or in windows of time, and how long
// these are: events of tasks are to take the machine no more than a hundredth of its CPU. Knows
// neither sessions nor the time: both are told. docs/decisions/0016-requests.md
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "capture/sessions/cpu_budget.h"
#include "profile/overhead/window_plan.h"

namespace clrscope::capture {

class TaskWatch {
 public:
  using Window = profile::WindowPlan::Window;
  // What an event takes a server, of its CPU time (docs/performance.md).
  static constexpr double kNsPerEvent = 4'000;
  static constexpr int64_t kShortestNs = 20'000'000, kLongestNs = 5'000'000'000;
  // Windows with few events after which it is told all along.
  static constexpr size_t kCalmWindows = 4;

  TaskWatch(uint64_t seed, unsigned cpus) : plan_(seed), budget_(cpus, kNsPerEvent) {}

  // Events a second that are all taken.
  double most_per_second() const { return budget_.most_per_second(); }
  void SetMost(double per_second) { budget_.SetMost(per_second); }
  // Events a second when they were told last.
  double per_second() const { return per_second_; }
  // `events`: so far.
  bool TooMany(uint64_t events, int64_t now_ns) {
    budget_.Drain(now_ns);
    if (budget_.whole()) {
      since_ns_ = now_ns;
      since_events_ = events_;
    }
    budget_.Spend(static_cast<double>(events - events_));
    events_ = events;
    if (!budget_.spent()) return false;
    constexpr int64_t kLeastNs = 1'000'000;
    per_second_ = static_cast<double>(events - since_events_) * 1e9 /
                  static_cast<double>(std::max(now_ns - since_ns_, kLeastNs));
    return true;
  }
  // A window has ended; `events`: so far.
  void OnWindow(uint64_t events, int64_t length_ns) {
    const auto seen = static_cast<double>(events - events_);
    events_ = events;
    budget_.Spend(seen);
    if (length_ns <= 0) return;
    per_second_ = seen * 1e9 / static_cast<double>(length_ns);
    calm_ = per_second_ < most_per_second() / 2 ? calm_ + 1 : 0;
  }
  bool FewAgain() const { return calm_ >= kCalmWindows; }
  // Windows begin, or end; `events`: so far.
  void Restart(uint64_t events) {
    calm_ = 0;
    budget_.Restart();
    events_ = events;
  }
  // The windows so far are paid for, so that there may be another one.
  bool Ready(int64_t now_ns) {
    budget_.Drain(now_ns);
    return budget_.whole();
  }
  Window Next(int64_t now_ns) { return plan_.Next(now_ns, 0, Length()); }
  // As long as what can be spent at once lasts: few long windows rather than many short ones, as
  // these see little of long awaits.
  int64_t Length() const {
    const double seconds =
        CpuBudget::kBurst * most_per_second() / std::max(per_second_, most_per_second());
    return std::clamp(static_cast<int64_t>(seconds * 1e9), kShortestNs, kLongestNs);
  }

 private:
  profile::WindowPlan plan_;
  CpuBudget budget_;
  double per_second_ = 0;  // in the last window
  int64_t since_ns_ = 0;
  uint64_t events_ = 0, since_events_ = 0;
  size_t calm_ = 0;
};

}  // namespace clrscope::capture
