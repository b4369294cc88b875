// SPDX-License-Identifier: Apache-2.0
// Where the threads of a process wait, from outside and without privileges: a thread of the
// recorder's own looks at each of them at random times, about `rate_hz` a second. Looks take a
// hundredth of a CPU at most, but there is about one a second whatever that takes. They are left
// out while the process does not run. What a look costs does not depend on how often the threads
// switch, and nothing of it is the target's. What a blocked thread's stack is, its memory tells
// (process_vm_readv), from the stack pointer that the system tells (/proc/PID/task/TID/syscall).
// Both need the right to trace the process; without it the time is told and the place is not.
// docs/decisions/0017-cpu.md
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "capture/kernel/code_look.h"
#include "capture/kernel/code_rules.h"
#include "capture/kernel/process_memory.h"
#include "capture/kernel/stack_unwinder.h"
#include "capture/kernel/wall_clock.h"
#include "profile/tables/thread_state.h"

namespace clrscope::capture {

// A thread did not run here. Times are CLOCK_MONOTONIC.
struct WallSpan {
  pid_t thread = 0;
  int64_t ns = 0;
  int64_t first_ns = 0, last_ns = 0;  // looks that saw it there
  uint32_t looks = 0;
  profile::ThreadState state{};     // kRunnable, or why it was blocked as far as the call says
  std::vector<uint64_t> addresses;  // leaf first; empty: not known
};

class WallSampler {
 public:
  // `rules` must outlive it.
  WallSampler(pid_t pid, uint32_t rate_hz, CodeRules* rules);
  ~WallSampler();
  WallSampler(const WallSampler&) = delete;
  WallSampler& operator=(const WallSampler&) = delete;

  // Appends what is known by now. Returns what was mapped when stacks met code that was not known;
  // "": none has since the last call.
  std::string Take(std::vector<WallSpan>& spans);
  // The last looks; Take() has the rest afterwards. The first call counts.
  void Stop();
  // Spans that found no room. Grows only.
  uint64_t dropped() const { return dropped_.load(); }
  // How many looks a second there were, where their cost made them much rarer than was asked for.
  // After Stop().
  std::optional<double> slowed_to_hz() const;
  // The system does not tell where threads are blocked.
  bool blind() const { return blind_.load(); }

 private:
  struct Thread {
    Fd schedule, call;
    WallClock clock;
    WallSpan span;  // under way
    int64_t unseen_ns = 0, ready_ns = 0;
    int64_t again_ns = 0;  // when its stack is to be read again; 0: it is whole
    int tries = 0;
  };
  // What a look at a blocked thread tells.
  struct Place {
    bool blocked = false;
    profile::ThreadState state{};
    std::vector<uint64_t> addresses;
    bool whole = true;  // false: it ended in code that was not known yet
  };

  void Run();
  // Whether a thread may have run since the last look.
  bool MayHaveRun(int64_t now_ns);
  void ListThreads();
  void Look(int64_t now_ns);
  void HandOnMaps();
  // Returns false when the thread has ended.
  bool LookAt(pid_t id, Thread& t, int64_t now_ns);
  Place PlaceOf(pid_t id, Thread& t, int64_t now_ns);
  // Returns false where it ends in code that is not known yet.
  bool ReadStack(uint64_t sp, uint64_t pc, std::vector<uint64_t>& out, int64_t now_ns);
  // Of a thread that stays where it is.
  void ReadAgainIfNeeded(pid_t id, Thread& t, int64_t now_ns);
  void Emit(pid_t id, Thread& t);
  void EmitReady(pid_t id, Thread& t, int64_t now_ns);
  // It is not looked at any more.
  void EmitAll(pid_t id, Thread& t, int64_t now_ns);
  void Push(WallSpan span);

  pid_t pid_;
  int64_t period_ns_;
  Fd tasks_;
  std::unordered_map<pid_t, Thread> threads_;
  bool any_listed_ = false;
  size_t threads_listed_ = 0;  // less those that have ended since
  int64_t listed_ns_ = 0;
  int64_t ran_ns_ = -1;  // all threads, at the last look
  int64_t looked_ns_ = 0;
  // Looks since then, the last of them at stayed_until_ns_.
  uint32_t looks_left_out_ = 0;
  int64_t stayed_until_ns_ = 0;
  // All looks, also those that were left out, and the pauses that were chosen between them.
  uint64_t looks_ = 0;
  int64_t periods_ns_ = 0, first_look_ns_ = 0, last_look_ns_ = 0;
  CodeLook code_;
  RemoteMemory memory_;
  StackUnwinder unwinder_;
  std::vector<std::byte> copy_;
  std::mutex mutex_;
  std::vector<WallSpan> spans_;  // guarded by mutex_
  std::string maps_;             // guarded by mutex_
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> over_{false}, blind_{false};
  std::thread thread_;
};

}  // namespace clrscope::capture
