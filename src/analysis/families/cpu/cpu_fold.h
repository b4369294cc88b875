// SPDX-License-Identifier: Apache-2.0
// CPU time of a process by stack and thread. Samples say where threads run, the system says how
// much they have run: what a thread used between two readings is split over its samples of that
// time, so that sums are the system's. docs/decisions/0017-cpu.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/families/gc/collecting_threads.h"
#include "analysis/families/late_slices.h"

namespace clrscope::analysis {

class RequestFold;
class WallFold;

class CpuFold {
 public:
  // Samples that wait for the next reading; more are counted as dropped.
  static constexpr size_t kMostSamples = 1'000'000, kMostThreads = 100'000;

  explicit CpuFold(const LateSlices::Home& home) : slices_(home) {}

  // They are recorded. `kernel_told`: samples tell the kernel's part, too.
  void Begin(bool kernel_told) {
    on_ = true;
    ended_ = false;
    kernel_told_ = kernel_told;
  }
  bool on() const { return on_; }
  // Nobody reads for a while: what is used until the next Begin() is not recorded.
  void Leave(int64_t now_ns);
  struct Sampled {
    uint64_t thread = 0;
    int64_t time_ns = 0;
    std::span<const uint64_t> addresses{};  // leaf first
    size_t natives = 0;           // of these, at the leaf's end: native code and the kernel
    bool callers_missed = false;  // managed ones may be missing
    uint64_t ns = 0;              // of CPU time, that it stands for by the clock alone
    bool cut = false;             // those at the root's end are missing
  };
  void OnSample(const Sampled& sample);
  // What the events of collections tell is noted there.
  CollectingThreads& collecting() { return collecting_; }
  // What threads do for requests counts to these; it must outlive this.
  void GiveTo(RequestFold* requests) { requests_ = requests; }

  // What runs is wall time, too; it must outlive this.
  void TellWall(WallFold* wall) { wall_ = wall; }

  struct ThreadTime {
    uint64_t thread = 0;
    int64_t cpu_ns = 0;  // since it began
    // Of it, the system's part: in ticks of the system, so that differences are rough. -1 =
    // unknown.
    int64_t user_ticks = -1, system_ticks = -1;
    bool collector = false;  // it is one of the garbage collector's own
  };
  // What the system says now. `process_ns`: of all threads, those that have ended, too; -1 =
  // unknown.
  void OnTimes(int64_t now_ns, std::span<const ThreadTime> threads, int64_t process_ns);
  // The process has ended: what it had used when it was looked at last. Its threads cannot be read
  // any more, and no reading counts from here on.
  //   kernel: the system's part of what it used since the last reading, where no sample tells it
  void OnEnd(int64_t time_ns, int64_t process_ns, double kernel);
  // Time passes without readings.
  void Advance(int64_t now_ns) { Settle(now_ns - kSettleNs); }
  // Nothing more comes: what no sample stands for is told.
  void Finish(int64_t now_ns);
  // What waits is handed out by the clock alone.
  void Flush();
  // Goes on in another recording; after Flush().
  void MoveTo(const LateSlices::Home& home) { slices_.MoveTo(home); }
  void Shift(int64_t shift_ns);

 private:
  // What a thread did when is told by events that come later than its samples.
  static constexpr int64_t kSettleNs = 1'500'000'000;

  struct Sample {
    int64_t time_ns;
    uint64_t ns;
    uint32_t node;
    uint16_t natives;
    bool callers_missed;
  };
  // It is known how much it stands for.
  struct Valued {
    uint64_t thread;
    int64_t time_ns, ns;
    uint32_t node;
    uint16_t natives;
    bool callers_missed, sampled, collector;
  };
  struct Thread {
    std::vector<Sample> waiting;
    int64_t cpu_ns = -1;  // at the last reading; -1 = it was not there
    int64_t user_ticks = -1, system_ticks = -1;
    int64_t left_ns = 0;  // used, and given to no sample yet; below 0: given too much
    bool there = false;   // at this reading
    bool collector = false;
    int64_t clock_ns() const;  // of what waits
  };
  profile::ProcessTables& tables() { return *slices_.home().tables; }
  uint16_t LabelOf(uint64_t thread);
  void Value(uint64_t id, const Thread& t, const Sample& sample, int64_t ns, bool sampled);
  // All that waits, as this much together.
  void HandOut(uint64_t id, Thread& t, int64_t ns);
  // The system's part of what a thread used, where no sample tells it.
  int64_t TakeKernel(uint64_t id, Thread& t, const ThreadTime& now, int64_t ns, int64_t now_ns);
  // Of time that no sample tells.
  void AddUnsampled(uint64_t id, const Thread& t, uint64_t address, int64_t ns, int64_t now_ns);
  // `cut`: callers at the root's end are missing.
  uint32_t Fold(std::span<const uint64_t> addresses, uint64_t thread, int64_t time_ns, bool cut);
  // The stack with the collector as its leaf, above the managed code that has called it.
  uint32_t CollectorNode(const Valued& v);
  void Settle(int64_t to_ns);

  LateSlices slices_;
  CollectingThreads collecting_;
  RequestFold* requests_ = nullptr;
  WallFold* wall_ = nullptr;
  std::unordered_map<uint64_t, Thread> threads_;
  std::vector<Valued> valued_;
  std::vector<uint64_t> scratch_;
  int64_t process_ns_ = -1, ended_left_ns_ = 0;
  size_t waiting_ = 0;  // and valued
  bool on_ = false, kernel_told_ = true, ended_ = false;
};

}  // namespace clrscope::analysis
