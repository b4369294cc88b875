// SPDX-License-Identifier: Apache-2.0
// CPU time of one process by samples of the agent: its batches, with chains repaired as the
// kernel's are, and what the system says that threads have used. docs/decisions/0017-cpu.md
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/families/cpu/cpu_fold.h"
#include "base/byte_reader.h"
#include "capture/kernel/code_rules.h"
#include "capture/proc/gc_threads.h"
#include "capture/sessions/clock.h"
#include "capture/sessions/cpu_stacks.h"
#include "profile/interval/cpu_batch.h"

namespace clrscope::capture {

// Thread numbers as the process sees them, in ours: another pid namespace has others.
class ThreadNumbers {
 public:
  ThreadNumbers(pid_t pid, pid_t inner_pid) : pid_(pid), inner_pid_(inner_pid) {}
  // One that has ended before it was looked for keeps its own.
  uint64_t OuterOf(uint32_t inner);

 private:
  void Look();

  pid_t pid_, inner_pid_;  // 0: not known to differ
  std::unordered_map<uint32_t, uint64_t> outer_;
};

class AgentCpu {
 public:
  // All must outlive it. `hz`: that was asked for.
  AgentCpu(pid_t pid, pid_t inner_pid, uint32_t hz, analysis::CpuFold* fold,
           const RecordingClock* clock, profile::ProcessTables* tables, const GcThreads* collectors,
           CodeRules* rules, CpuStacks::Retire retire);

  // As it came over the agent's socket.
  void OnBatch(Bytes bytes);
  // Once a second.
  void Tick(int64_t now_ns);
  // Who is to be told of code.
  CpuStacks& stacks() { return stacks_; }
  // As of CpuStacks.
  void Advance(int64_t now_ns, bool naming) { stacks_.Advance(now_ns, naming); }
  void Flush() { stacks_.Flush(); }
  // Nothing comes any more. The first call counts.
  void End();
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }

 private:
  void OnHead(const profile::CpuBatchHead& head);
  void OnSample(const profile::CpuBatchSample& sample);

  pid_t pid_;
  uint32_t hz_;
  analysis::CpuFold& fold_;
  const RecordingClock& clock_;
  profile::ProcessTables& tables_;
  const GcThreads& collectors_;
  ThreadNumbers numbers_;
  CpuStacks stacks_;
  std::vector<uint64_t> user_;
  profile::CpuBatchHead head_;  // the last one
  bool any_ = false, ended_ = false;
  int64_t from_ns_ = 0;  // CLOCK_MONOTONIC: what is older was used before
  uint64_t periods_ = 0, samples_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace clrscope::capture
