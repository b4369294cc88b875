// SPDX-License-Identifier: Apache-2.0
// CPU time of a process by stack and thread. Samples say where threads run, the system says how
// much they have run: what a thread used between two readings is split over its samples of that
// time, so that sums are the system's. docs/decisions/0017-cpu.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/families/late_slices.h"

namespace clrscope::analysis {

class CpuFold {
 public:
  // Samples that wait for the next reading; more are counted as dropped.
  static constexpr size_t kMostSamples = 1'000'000, kMostThreads = 100'000;

  explicit CpuFold(const LateSlices::Home& home) : slices_(home) {}

  // They are recorded. `kernel_told`: samples tell the kernel's part, too.
  void Begin(bool kernel_told) {
    on_ = true;
    kernel_told_ = kernel_told;
  }
  bool on() const { return on_; }
  // A thread of clrscope's own in the process: all that it uses is a frame of its own.
  void SetOwn(uint64_t thread) { own_thread_ = thread; }
  // addresses: leaf first. `ns`: of CPU time, that it stands for by the clock alone.
  void OnSample(uint64_t thread, int64_t time_ns, std::span<const uint64_t> addresses, uint64_t ns);

  struct ThreadTime {
    uint64_t thread = 0;
    int64_t cpu_ns = 0;  // since it began
    // Of it, the system's part: in ticks of the system, so that differences are rough. -1 =
    // unknown.
    int64_t user_ticks = -1, system_ticks = -1;
  };
  // What the system says now. `process_ns`: of all threads, those that have ended, too; -1 =
  // unknown.
  void OnTimes(int64_t now_ns, std::span<const ThreadTime> threads, int64_t process_ns);
  // Nothing more comes: what no sample stands for is told.
  void Finish(int64_t now_ns);
  // What waits is handed out by the clock alone.
  void Flush(int64_t now_ns);
  // Goes on in another recording; after Flush().
  void MoveTo(const LateSlices::Home& home) { slices_.MoveTo(home); }
  void Shift(int64_t shift_ns);

  uint64_t samples() const { return samples_; }

 private:
  struct Sample {
    int64_t time_ns;
    uint32_t node;
    uint64_t ns;
  };
  struct Thread {
    std::vector<Sample> waiting;
    int64_t cpu_ns = -1;  // at the last reading; -1 = it was not there
    int64_t user_ticks = -1, system_ticks = -1;
    int64_t left_ns = 0;  // used, and given to no sample yet; below 0: given too much
    bool there = false;   // at this reading
  };
  profile::ProcessTables& tables() { return *slices_.home().tables; }
  uint16_t LabelOf(uint64_t thread);
  void Emit(uint64_t thread, int64_t time_ns, uint32_t node, int64_t ns, bool sampled);
  // All that waits, as this much together.
  void HandOut(uint64_t thread, Thread& t, int64_t ns);
  // The system's part of what a thread used, where no sample tells it.
  int64_t TakeKernel(uint64_t id, Thread& t, const ThreadTime& now, int64_t ns, int64_t now_ns);
  uint32_t MadeUp(uint64_t address, uint64_t thread, int64_t time_ns);

  LateSlices slices_;
  std::unordered_map<uint64_t, Thread> threads_;
  int64_t process_ns_ = -1, ended_left_ns_ = 0;
  uint64_t samples_ = 0, own_thread_ = 0;  // 0 = none
  size_t waiting_ = 0;
  bool on_ = false, kernel_told_ = true;
};

}  // namespace clrscope::analysis
