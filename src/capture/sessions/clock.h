// SPDX-License-Identifier: Apache-2.0
// The clocks of a recording: the machine's, which tests replace, and time 0 of the recording, which
// all its streams are put in relation to.
#pragma once

#include <cstdint>
#include <optional>

#include "nettrace/stream_info.h"

namespace clrscope::capture {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t monotonic_ns() const = 0;  // CLOCK_MONOTONIC, which runtimes stamp events with
  virtual int64_t unix_ns() const = 0;

  static const Clock& System();
};

class RecordingClock {
 public:
  explicit RecordingClock(const Clock* clock) : clock_(clock) {}

  // Time 0 is now; otherwise it is where the first stream begins.
  void Start() { StartAt(clock_->monotonic_ns(), clock_->unix_ns()); }
  // Time 0 moves to now. Returns by how much.
  int64_t Restart() {
    const int64_t before = zero_ns_.value_or(0);
    Start();
    return *zero_ns_ - before;
  }
  bool started() const { return zero_ns_.has_value(); }
  int64_t start_unix_ns() const { return start_unix_ns_; }
  // How far the recording goes now; 0 before it started.
  int64_t now_ns() const { return zero_ns_ ? clock_->monotonic_ns() - *zero_ns_ : 0; }

  // Where a stream that has just begun to arrive starts, on our clock. The clock of a process in
  // another time namespace differs: such a stream starts when its first bytes arrive.
  int64_t StartOf(const nettrace::StreamInfo& info) {
    constexpr int64_t kSameClock = 30'000'000'000;
    const int64_t now = clock_->monotonic_ns();
    int64_t start = Nanos(info);
    int64_t unix_ns = info.sync_unix_ns;
    if (start < now - kSameClock || start > now + kSameClock) {
      start = now;
      unix_ns = clock_->unix_ns();
    }
    if (!zero_ns_) StartAt(start, unix_ns);
    return start;
  }
  // From our clock to the recording's. What the kernel or the agent samples before the first stream
  // begins is of its start.
  int64_t SinceStart(int64_t monotonic_ns) const {
    return monotonic_ns - zero_ns_.value_or(monotonic_ns);
  }

 private:
  void StartAt(int64_t monotonic_ns, int64_t unix_ns) {
    zero_ns_ = monotonic_ns;
    start_unix_ns_ = unix_ns;
  }
  static int64_t Nanos(const nettrace::StreamInfo& info) {
    if (info.ticks_per_second == 1'000'000'000) return info.sync_ticks;
    return static_cast<int64_t>(static_cast<double>(info.sync_ticks) * 1e9 /
                                static_cast<double>(info.ticks_per_second));
  }

  const Clock* clock_;
  std::optional<int64_t> zero_ns_;
  int64_t start_unix_ns_ = 0;
};

}  // namespace clrscope::capture
