// SPDX-License-Identifier: Apache-2.0
// What one thread did between two looks at it. The system counts how long it ran, how long it was
// ready and waited for a CPU, and how often it was put on one: the rest of the time it was blocked,
// and while that number stays the same it is blocked at the same place. Pure: who looks is told.
// Source: proc(5), /proc/PID/task/TID/schedstat
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace clrscope::capture {

// What schedstat says.
struct ScheduleTimes {
  int64_t ran_ns = 0, ready_ns = 0;
  uint64_t turns = 0;  // times that it was put on a CPU
};

class WallClock {
 public:
  // What became of the time since the look before. The three add up to it, but for what the
  // system's figures are late.
  struct Passed {
    int64_t ready_ns = 0;
    int64_t before_ns = 0;  // blocked where the look before saw it; below 0: that was too much
    int64_t now_ns = 0;     // blocked where this look sees it
    int64_t unseen_ns = 0;  // blocked where no look saw it; below 0: that was too much
  };

  // Whether it is certain that it has not run since the last look, at which it was blocked.
  bool Same(const ScheduleTimes& now) const {
    return any_ && blocked_ && now.turns == last_.turns && now.ran_ns == last_.ran_ns;
  }
  // It has not run until then, which is known without a look at it. Returns for how long it was
  // blocked where the last look saw it; 0: it was not.
  int64_t Stay(int64_t until_ns) {
    if (!any_ || !blocked_ || until_ns <= time_ns_) return 0;
    return until_ns - std::exchange(time_ns_, until_ns);
  }
  // It began then, as far as it is followed: what it did until the first look counts.
  void Begin(int64_t time_ns, const ScheduleTimes& then) {
    any_ = true;
    last_ = then;
    time_ns_ = time_ns;
  }
  // `blocked`: it is blocked now, and where is known.
  Passed Look(int64_t time_ns, const ScheduleTimes& now, bool blocked) {
    Passed p;
    if (any_) {
      const int64_t time = std::max<int64_t>(0, time_ns - time_ns_);
      if (Same(now)) {
        p.before_ns = time;
      } else {
        const int64_t ran_ns = now.ran_ns - last_.ran_ns;
        p.ready_ns = std::max<int64_t>(0, now.ready_ns - last_.ready_ns);
        // The system counts a wait for a CPU when it is over: looks within it took it for what went
        // on, for what is owed, or for a wait that no look saw.
        const int64_t waited_before =
            std::max<int64_t>(0, p.ready_ns - std::max<int64_t>(0, time - ran_ns));
        // What it ran is told late, at the system's ticks: what was too much is taken back.
        int64_t rest = time - ran_ns - (p.ready_ns - waited_before) + owed_ns_;
        const int64_t was_owed =
            blocked_ ? 0 : std::min(waited_before, std::max<int64_t>(0, owed_ns_));
        rest -= was_owed;
        const bool never_left = !blocked_ && !blocked && now.turns == last_.turns;
        if (rest < 0 || never_left) {
          // While it does not run, it may be a wait for a CPU that goes on.
          owed_ns_ = std::clamp(rest, -kMostOwedNs, ran_ns > 0 ? kMostOwedNs : kMostReadyNs);
          rest = 0;
        } else {
          owed_ns_ = 0;
        }
        if (blocked_ && blocked) {
          p.before_ns = rest / 2;
          p.now_ns = rest - p.before_ns;
        } else if (blocked_) {
          p.before_ns = rest;
        } else if (blocked) {
          p.now_ns = rest;
        } else {
          p.unseen_ns = rest;
        }
        (blocked_ ? p.before_ns : p.unseen_ns) -= waited_before - was_owed;
      }
    }
    any_ = true;
    blocked_ = blocked;
    last_ = now;
    time_ns_ = time_ns;
    return p;
  }

 private:
  static constexpr int64_t kMostOwedNs = 20'000'000, kMostReadyNs = 1'000'000'000;

  bool any_ = false, blocked_ = false;
  ScheduleTimes last_;
  int64_t time_ns_ = 0, owed_ns_ = 0;
};

}  // namespace clrscope::capture
