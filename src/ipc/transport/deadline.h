// SPDX-License-Identifier: Apache-2.0
// A point in time after which waiting is given up. Every call that talks to a peer takes one.
#pragma once

#include <algorithm>
#include <chrono>

namespace clrscope::ipc {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline After(std::chrono::milliseconds wait) { return Deadline(Clock::now() + wait); }
  static Deadline Never() { return Deadline(Clock::time_point::max()); }

  bool never() const { return at_ == Clock::time_point::max(); }
  bool expired() const { return !never() && Clock::now() >= at_; }
  // What poll(2) wants: -1 = for ever, 0 = expired, else milliseconds, rounded up. `cap_ms` >= 0
  // limits the answer, for callers that have to look around in between.
  int poll_timeout_ms(int cap_ms = -1) const {
    if (never()) return cap_ms;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    const auto limit = cap_ms >= 0 ? decltype(left){cap_ms} : decltype(left){1 << 30};
    return static_cast<int>(std::clamp(left, decltype(left){0}, limit));
  }
  // The earlier of this deadline and `wait` from now.
  Deadline AtMost(std::chrono::milliseconds wait) const {
    return Deadline(std::min(at_, Clock::now() + wait));
  }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace clrscope::ipc
