// SPDX-License-Identifier: Apache-2.0
// Samples of one process's CPU time, by the kernel: perf_event_open's CPU clock on every thread and
// CPU, written into one buffer of each CPU. Needs no runtime and works for the user's own processes
// without privileges, then without the time in the kernel.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/kernel/event_choice.h"
#include "capture/kernel/perf_record.h"
#include "capture/kernel/record_ring.h"

namespace clrscope::capture {

// A thread ran here. Spans are valid during the call.
struct CpuSample {
  pid_t pid = 0, tid = 0;
  int64_t time_ns = 0;               // CLOCK_MONOTONIC
  uint64_t period = 0;               // ns of the CPU clock that it stands for
  std::span<const uint64_t> user;    // by frame pointers, leaf first; empty: none
  std::span<const uint64_t> kernel;  // leaf first; empty where it may not be seen
  bool in_kernel = false;            // the leaf was in the kernel
  bool truncated = false;            // the chain has as many frames as the kernel walks
  UserRegs regs;
  Bytes stack;  // of the user, from regs.sp upwards
};

class KernelSampler {
 public:
  struct Options {
    uint32_t rate_hz = 99;  // samples of a second of CPU, 1 to 10,000
    // Copied with each sample; half of it where little memory may be used for buffers. What throws
    // and collects uses 12 KB and more.
    uint32_t stack_bytes = 16384;
    bool kernel_frames = true;       // false: samples in the kernel tell the user's frames only
    size_t buffer_bytes = 2u << 20;  // of each CPU at most; halved until it fits
    size_t total_bytes = size_t{256} << 20;  // of all
    size_t most_descriptors = 20'000;
    // One event of each CPU, for all that runs, where that is allowed and there are no more CPUs
    // than these. Events of threads are set up anew at each switch between threads, which takes a
    // program that switches at each request a third of its requests. 0: never. Such samples tell
    // neither threads that begin or end nor counted_ns().
    size_t most_cpus_as_a_whole = 0;
  };

  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void OnSample(const CpuSample& sample) = 0;
    // Of threads that began, ended or took a name while they were watched.
    virtual void OnThreadStart(pid_t, pid_t /*parent*/, int64_t /*time_ns*/) {}
    virtual void OnThreadEnd(pid_t, int64_t /*time_ns*/) {}
    virtual void OnThreadName(pid_t, std::string_view, int64_t /*time_ns*/) {}
    // The process runs another program: all addresses mean something else.
    virtual void OnExec(int64_t /*time_ns*/) {}
  };

  // What the figures lack. Grows only.
  struct Losses {
    uint64_t lost = 0;       // records that found no room; exact once stopped, from Linux 6.0 on
    uint64_t throttled = 0;  // times that the kernel paused an event
    uint64_t unopened = 0;   // threads that could not be opened
    uint64_t malformed = 0;  // records that contradict their layout, or a buffer's rest
    uint64_t others = 0;     // samples of processes that were forked, before Linux 5.13
  };

  // Threads that it makes are sampled too, processes that it forks are not. The calling thread must
  // live as long as what AddPolls() gives is polled. May raise the soft limit of descriptors.
  static Result<std::unique_ptr<KernelSampler>> Open(pid_t pid, const Options& options);
  ~KernelSampler();
  KernelSampler(const KernelSampler&) = delete;
  KernelSampler& operator=(const KernelSampler&) = delete;

  // Takes at most `most` records that have arrived: those of one call in the order of time. Returns
  // whether there was anything.
  bool Read(Sink& sink, size_t most = SIZE_MAX);
  // Becomes readable when a buffer is half full: what is to be seen sooner is read in between.
  void AddPolls(std::vector<pollfd>& polls) const;
  // No more samples; Read() drains what is there.
  void Stop();

  const Losses& losses() const { return losses_; }
  // Time in the kernel is sampled. Otherwise counted_ns() has it and the samples do not.
  bool sees_kernel() const { return sees_kernel_; }
  // By CPU: Options::most_cpus_as_a_whole.
  bool whole_machine() const { return whole_machine_; }
  uint64_t period_ns() const { return period_ns_; }
  // The CPU time of all threads since Open(), in user and kernel mode, by the same clock as the
  // samples and without what sampling misses; 0 until Stop().
  uint64_t counted_ns() const { return counted_ns_; }
  uint64_t samples() const { return samples_; }
  size_t descriptors() const { return events_.size() + buffers_.size(); }
  size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  // One CPU's.
  struct Buffer {
    int cpu = 0;
    Fd holder;  // its owner; outlives the threads of the process
    void* mapped = nullptr;
    size_t mapped_bytes = 0;
    RecordRing ring;
    int64_t next_ns = 0;  // of the record at its front
    bool has_next = false;
  };
  class Setup;

  KernelSampler() = default;
  void Peek(Buffer& buffer);
  void TakeRecord(Sink& sink, Bytes bytes, size_t buffer);
  void TakeSample(Sink& sink, const PerfSample& sample, size_t buffer);

  pid_t pid_ = 0;
  uint64_t period_ns_ = 0;
  bool sees_kernel_ = false, tells_lost_ = false, whole_machine_ = false, stopped_ = false;
  size_t buffer_bytes_ = 0, most_frames_ = 127;
  std::vector<Fd> events_;
  std::vector<Buffer> buffers_;
  // A thread was opened although it may have inherited the events of the one that made it.
  bool opened_late_ = false;
  EventChoice choice_;
  uint64_t told_lost_ = 0, counted_ns_ = 0, samples_ = 0;
  Losses losses_;

  std::vector<uint64_t> user_, kernel_;
};

}  // namespace clrscope::capture
