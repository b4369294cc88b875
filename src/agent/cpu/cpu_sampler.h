// SPDX-License-Identifier: Apache-2.0
// Samples of this process's CPU time: a timer of each thread's CPU clock sends it a signal, whose
// handler notes where it is. This follows the threads as they come and go, and empties the ring. On
// the agent's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "agent/cpu/cpu_ring.h"
#include "base/result.h"
#include "profile/interval/cpu_batch.h"

namespace clrscope::agent {

class CpuTimeSampler {
 public:
  static constexpr uint32_t kMostHz = 10'000;
  static constexpr size_t kBatchBytes = 256 << 10;

  ~CpuTimeSampler() { Stop(); }
  // errors: kRefused, kFailed: as of the signal
  Status Start(uint32_t hz, int64_t now_ns);
  // Leaves nothing behind: no timer, no handler. What was sampled is still there to be read.
  void Stop();
  bool on() const { return on_; }

  // When Step() is to be called next; times are the agent's.
  int64_t next_ns() const { return next_ns_; }
  // Follows the threads. `send(bytes)`: a batch; whether somebody took it. `heard`: somebody is
  // there; who is to come finds what was sampled, as far as there is room.
  template <class Send>
  void Step(int64_t now_ns, bool heard, Send&& send) {
    if (!on_ || now_ns < next_ns_) return;
    Follow(now_ns);
    if (!half_full() && (!heard || now_ns < next_send_ns_)) return;
    next_send_ns_ = now_ns + kSendEvery;
    Send_(now_ns, false, send);
  }
  // What is left, and that nothing more comes.
  template <class Send>
  void Finish(Send&& send) {
    if (!begun_) return;
    Stop();
    Send_(0, true, send);
    begun_ = false;
  }

  size_t threads() const { return slots_.size(); }
  uint64_t samples() const { return samples_; }
  // Why it stopped by itself; "" while it has not.
  const std::string& trouble() const { return trouble_; }

 private:
  static constexpr int64_t kLookEvery = 50'000'000, kSendEvery = 200'000'000,
                           kLookAnyway = 1'000'000'000;
  struct Known {
    uint32_t slot = 0;
    bool watched = false, seen = false;
    uint8_t tries = 0;  // to watch one that has the signal blocked
  };

  template <class Send>
  void Send_(int64_t now_ns, bool last, Send& send) {  // NOLINT(readability-identifier-naming)
    do {
      const size_t count = Fill();
      if (count == 0 && !last && now_ns < next_head_ns_) return;
      next_head_ns_ = now_ns + kLookAnyway;
      const bool more = has_more();
      if (!send(writer_.Take(Head(last && !more)))) lost_ += count;
    } while (has_more());
  }
  void Follow(int64_t now_ns);
  void Look();
  void Watch(pid_t thread, Known& known);
  size_t Fill();
  bool half_full() const;
  bool has_more() const;
  profile::CpuBatchHead Head(bool last) const;

  CpuRing* ring_ = nullptr;  // once it was started
  bool on_ = false, begun_ = false;
  bool blocked_lately_ = false;  // a new thread has the signal blocked: perhaps while it begins
  int64_t period_ns_ = 0, tick_ns_ = 0;
  uint32_t own_thread_ = 0;
  int64_t next_ns_ = 0, next_send_ns_ = 0, next_head_ns_ = 0, next_look_ns_ = 0,
          look_anyway_ns_ = 0, next_check_ns_ = 0, next_stacks_ns_ = 0;
  int64_t last_thread_ = -1;
  std::unordered_map<pid_t, Known> slots_;
  profile::CpuBatchWriter writer_;
  uint64_t samples_ = 0, lost_ = 0, missed_ = 0, blocked_ = 0, repeated_ = 0, lost_before_ = 0;
  std::string trouble_;
};

}  // namespace clrscope::agent
