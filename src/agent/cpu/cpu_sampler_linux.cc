// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "agent/cpu/cpu_sampler.h"
#include "agent/cpu/cpu_signal.h"
#include "agent/cpu/thread_files.h"
#include "agent/host/clock.h"

namespace clrscope::agent {
namespace {

// Looking for threads takes at most this part of a CPU.
constexpr int64_t kLookShare = 100;
constexpr uint8_t kMostTries = 50;   // while a thread begins it may have signals blocked
constexpr uint8_t kEarlyTries = 10;  // so often it is looked at again soon

// The kernel looks at timers of CPU clocks at its ticks; its coarse clock goes on with them.
int64_t TickNs() {
  timespec tick{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0) return 0;
  return static_cast<int64_t>(tick.tv_sec) * 1'000'000'000 + tick.tv_nsec;
}

}  // namespace

Status CpuTimeSampler::Start(uint32_t hz, int64_t now_ns) {
  if (on_) return OkStatus();
  period_ns_ = 1'000'000'000 / std::clamp<int64_t>(hz, 1, kMostHz);
  RETURN_IF_ERROR(CpuSignal::Take(period_ns_));
  trouble_.clear();
  tick_ns_ = TickNs();
  own_thread_ = static_cast<uint32_t>(::syscall(SYS_gettid));
  ring_ = CpuSignal::ring();
  lost_before_ = ring_->lost();
  samples_ = lost_ = missed_ = blocked_ = repeated_ = 0;
  next_ns_ = next_send_ns_ = next_head_ns_ = next_look_ns_ = look_anyway_ns_ = next_stacks_ns_ = 0;
  next_check_ns_ = now_ns;
  last_thread_ = -1;
  on_ = begun_ = true;
  Follow(now_ns);
  const bool any =
      std::any_of(slots_.begin(), slots_.end(), [](const auto& s) { return s.second.watched; });
  if (missed_ != 0 && !any) {
    Stop();
    begun_ = false;
    return Error{ErrorCode::kRefused,
                 "no timer of a thread's CPU clock may be made here: the limit of pending signals "
                 "(ulimit -i) is used up, or a seccomp filter forbids timer_create"};
  }
  return OkStatus();
}

void CpuTimeSampler::Stop() {
  if (!on_) return;
  on_ = false;
  CpuSignal::GiveBack();
  slots_.clear();
}

void CpuTimeSampler::Watch(pid_t thread, Known& known) {
  if (static_cast<uint32_t>(thread) == own_thread_) return;
  switch (CpuSignal::Watch(thread, &known.slot)) {
    case CpuSignal::Made::kMade:
      known.watched = true;
      if (known.tries >= 2) --blocked_;
      return;
    case CpuSignal::Made::kGone:
      return;
    case CpuSignal::Made::kBlocked:
      if (++known.tries == 2) ++blocked_;
      blocked_lately_ = blocked_lately_ || known.tries <= kEarlyTries;
      return;
    case CpuSignal::Made::kNoRoom:
      ++missed_;
      known.tries = kMostTries;
      return;
  }
}

void CpuTimeSampler::Look() {
  blocked_lately_ = false;
  for (auto& [thread, known] : slots_) known.seen = false;
  (void)ForEachThread([this](pid_t thread) {
    Known& known = slots_[thread];
    known.seen = true;
    if (!known.watched && known.tries < kMostTries) Watch(thread, known);
  });
  std::erase_if(slots_, [this](const auto& entry) {
    const Known& known = entry.second;
    if (known.seen) return false;
    if (known.watched) CpuSignal::Forget(known.slot);
    return true;
  });
}

void CpuTimeSampler::Follow(int64_t now_ns) {
  next_ns_ = now_ns + kLookEvery;
  if (now_ns >= next_check_ns_) {
    next_check_ns_ = now_ns + kLookAnyway;
    if (!CpuSignal::is_ours()) {
      trouble_ =
          "the program set a handler of its own for the signal that CPU time was sampled "
          "with: it is not sampled any more";
      return Stop();
    }
    if (!CpuSignal::spares_fault_handlers()) {
      trouble_ =
          "the program set a handler of SIGSEGV that signals may interrupt on an alternate stack: "
          "CPU time is not sampled any more";
      return Stop();
    }
    // Half of what is left is the program's.
    CpuSignal::SetRoom(SignalsLeft() / 2);
  }
  if (now_ns >= next_stacks_ns_) {
    const int64_t begin = MonotonicNs();
    CpuSignal::FindStacks();
    next_stacks_ns_ = now_ns + (MonotonicNs() - begin) * kLookShare;
  }
  const int64_t last = LastThread();
  const bool news = last < 0 || last != last_thread_;
  if (now_ns < look_anyway_ns_ && ((!news && !blocked_lately_) || now_ns < next_look_ns_)) return;
  last_thread_ = last;
  look_anyway_ns_ = now_ns + kLookAnyway;
  const int64_t begin = MonotonicNs();
  Look();
  next_look_ns_ = now_ns + (MonotonicNs() - begin) * kLookShare;
}

bool CpuTimeSampler::half_full() const { return ring_->waiting() > ring_->size() / 2; }

bool CpuTimeSampler::has_more() const { return ring_->Front() != nullptr; }

size_t CpuTimeSampler::Fill() {
  CpuRing& ring = *ring_;
  while (writer_.size() < kBatchBytes) {
    const CpuCell* cell = ring.Front();
    if (cell == nullptr) break;
    profile::CpuBatchSample s;
    s.thread = cell->thread;
    s.periods = cell->periods;
    s.time_ns = cell->time_ns;
    s.ip = cell->ip;
    s.sp = cell->sp;
    s.bp = cell->bp;
    s.in_kernel = cell->in_kernel;
    s.cut = cell->cut;
    s.chain = {cell->chain, cell->frames};
    s.stack = {cell->stack, cell->stack_bytes};
    repeated_ += cell->periods - 1;
    // Of a thread whose slot was given away while it was on its way here.
    if (cell->thread != 0) writer_.Add(s);
    ring.Drop();
  }
  samples_ += writer_.count();
  return writer_.count();
}

profile::CpuBatchHead CpuTimeSampler::Head(bool last) const {
  profile::CpuBatchHead head;
  head.period_ns = period_ns_;
  head.tick_ns = tick_ns_;
  head.own_thread = own_thread_;
  head.lost = lost_ + ring_->lost() - lost_before_;
  head.missed = missed_;
  head.blocked = blocked_;
  head.repeated = repeated_;
  head.last = last;
  return head;
}

}  // namespace clrscope::agent
