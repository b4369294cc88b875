// SPDX-License-Identifier: Apache-2.0
// Samples of one process's CPU time by stops from outside (ThreadStops). On each processor that the
// process uses, a thread of the recorder's own wakes at random times, about `rate_hz` a second,
// which takes the processor away from the thread that runs there. That one is made to stand still
// where it is, for as long as a copy of its registers and its stack's end takes. Who wakes on
// another processor would stop it some µs later, or sooner at the end of a system call: short code
// that makes many of these would be all system calls.
//
// Nothing is loaded into the process and no signal arrives there. It takes the right to trace the
// process, as a debugger does. docs/decisions/0017-cpu.md
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/kernel/perf_record.h"
#include "capture/kernel/stack_copy.h"
#include "capture/kernel/thread_stops.h"

namespace clrscope::capture {

// A thread ran here. Spans are valid during the call.
struct StopSample {
  pid_t thread = 0;
  int64_t time_ns = 0;              // CLOCK_MONOTONIC
  uint64_t period_ns = 0;           // how rare looks were: what it stands for
  std::span<const uint64_t> chain;  // of the user, by frame pointers, leaf first; never empty
  bool truncated = false;           // it goes on where the stack was not copied
  bool in_kernel = false;           // it stopped at the end of a system call
  UserRegs regs;
  Bytes stack;  // from regs.sp upwards
};

class StopSampler {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void OnSample(const StopSample& sample) = 0;
  };

  // What the figures lack, and what it was for the process. Grows only.
  struct Figures {
    uint64_t lost = 0;     // samples that found no room, or came too late
    uint64_t refused = 0;  // threads that may not be stopped: another tracer has them
    uint64_t stops = 0;
    // From the request to stop until the thread went on.
    std::chrono::nanoseconds stopped{}, longest_stop{};
  };

  // Stops nobody before Start(). errors: of MayTrace(); kUsage, kFailed
  static Result<std::unique_ptr<StopSampler>> Open(pid_t pid, uint32_t rate_hz);
  ~StopSampler();
  StopSampler(const StopSampler&) = delete;
  StopSampler& operator=(const StopSampler&) = delete;

  void Start();
  // Hands over what there is by now. Returns whether there was anything.
  bool Read(Sink& sink);
  // No more stops; Read() has the rest afterwards. The first call counts.
  void Stop();
  Figures figures() const;

 private:
  struct Thread {
    Fd schedule, stat;
    int processor = -1;      // as of the last look
    int64_t ran_ns = 0;      // as of the last look at all
    int64_t sampled_ns = 0;  // that it had run at its last sample
    int64_t ran_at_ns =
        0;                // CLOCK_MONOTONIC: when it was last seen to have run, or began; 0: never
    bool active = false;  // that is not long ago
    bool held = false;    // it is being stopped
    bool ended = false;
    int refusals = 0;  // of stops, in a row
  };
  // One processor's. What is not its own thread's is guarded by mutex_.
  struct Worker {
    int processor = 0;
    bool wanted = false;  // threads of the process run there
    std::condition_variable wanted_now;
    ThreadStops* stops = nullptr;
    std::thread thread;
  };
  // Samples on their way, without an allocation for each.
  struct Batch {
    struct Entry {
      pid_t thread;
      int64_t time_ns;
      uint64_t period_ns;
      bool in_kernel;
      UserRegs regs;
      size_t chain_at, chain_size;
      bool chain_cut;
      size_t stack_at, stack_size;
    };
    std::vector<Entry> entries;
    std::vector<uint64_t> chains;
    std::vector<std::byte> stacks;
  };
  class Copy;

  StopSampler(pid_t pid, uint32_t rate_hz);
  // One that does not run: where no thread can be made.
  std::thread StartThread(void (StopSampler::*run)(Worker*), Worker* worker);
  // Looks who has run lately and where, and keeps the workers' waits short.
  void Scout(Worker*);
  void Work(Worker* worker);
  // What the process runs on the worker's processor. Returns false where it runs nothing.
  // `unseen_ns`: the waits since the last look that saw what runs; 0 then.
  bool Sample(const Worker& worker, ThreadStops& stops, Copy& copy, int64_t* unseen_ns);
  bool ended() const { return over_.load(); }

  // With mutex_ held:
  void ListIfChanged();
  void LookAtAll();
  // Returns false when the thread has ended. `runs`: it does, or waits for its processor.
  bool LookAt(Thread& t, bool* runs);
  std::unordered_map<pid_t, Thread>::iterator WhoRunsOn(int processor);
  void Want(int processor);
  void Push(pid_t id, const Copy& copy, uint64_t period_ns);

  pid_t pid_;
  int64_t period_ns_;
  Fd tasks_;
  std::atomic<bool> over_{false}, workers_ended_{false};
  mutable std::mutex mutex_;
  std::unordered_map<pid_t, Thread> threads_;
  std::list<Worker> workers_;
  bool any_died_ = true;
  int64_t looked_ns_ = 0;
  Batch batch_;
  Figures figures_;
  Batch taken_;  // of who reads
  std::thread scout_;
};

}  // namespace clrscope::capture
