// SPDX-License-Identifier: Apache-2.0
// Samples of CPU time on their way into the fold. Code that is new is told of some tenths of a
// second after it runs, so samples and what the system says of threads wait that long, in the order
// in which they came, and stacks that met such code are walked again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/families/code/code_listener.h"
#include "analysis/families/cpu/cpu_fold.h"
#include "capture/kernel/code_look.h"
#include "capture/kernel/code_rules.h"
#include "capture/kernel/stack_unwinder.h"
#include "capture/proc/thread_times.h"

namespace clrscope::capture {

class CpuStacks final : public analysis::CodeListener {
 public:
  // Of code: from `start` on, so many bytes mean something else.
  using Retire = std::function<void(uint64_t start, uint64_t size)>;

  // All must outlive it.
  CpuStacks(pid_t pid, CodeRules* rules, analysis::CpuFold* fold, Retire retire)
      : code_(pid),
        memory_(pid),
        rules_(*rules),
        unwinder_(rules, &memory_),
        fold_(*fold),
        retire_(std::move(retire)) {}

  // As it was taken. Views are valid during the call. Times are the recording's.
  struct Sample {
    uint64_t thread = 0;
    int64_t time_ns = 0;
    uint64_t ns = 0;                       // of the CPU clock that it stands for
    std::span<const uint64_t> by_records;  // of the program, by frame pointers, leaf first
    bool by_records_cut = false;           // there are more than its writer follows
    UserRegs regs;
    Bytes stack;             // from regs.sp upwards
    bool in_kernel = false;  // it ran there, called by that stack
  };
  void OnSample(const Sample& sample);
  // What the system said at that time.
  void OnTimes(int64_t time_ns, ThreadTimes times);
  // As CpuFold::OnEnd().
  void OnEnd(int64_t time_ns, int64_t process_ns, double kernel);
  // What code is used again for is told to `rules` at once, and to who folds in its turn: samples
  // of before may still wait.
  void OnMethod(const Method& method) override;
  void OnUnload(const Method& method) override;
  // A file is not mapped there any more; known at `time_ns`.
  void OnUnmapped(uint64_t start, uint64_t size, int64_t time_ns) {
    QueueCode(start, size, time_ns);
  }
  // What was mapped when stacks met code that was not known; "": none has since the last call.
  std::string TakeMaps() { return code_.TakeMaps(); }
  // Another program runs.
  void OnExec() {
    code_.Outdate();
    rules_.Forget();
  }
  // Hands on what has waited long enough. `naming`: code that is there already is still being told.
  void Advance(int64_t now_ns, bool naming);
  // Hands on everything.
  void Flush();

 private:
  static constexpr int64_t kLateNs = 400'000'000, kNamingNs = 4'000'000'000;
  // For methods that nobody has told of yet: events wait in the runtime and for each other.
  static constexpr int64_t kLatestNs = 1'500'000'000, kTryEveryNs = 100'000'000;
  static constexpr size_t kMostBytes = size_t{64} << 20;  // of stacks that wait

  struct Waiting {
    int64_t time_ns = 0;
    enum class Kind : uint8_t { kSample, kTimes, kEnd, kCode } kind = Kind::kSample;
    ThreadTimes times;
    double kernel = 0;  // of an end
    uint64_t code_start = 0, code_size = 0;
    // Of a sample:
    uint64_t thread = 0, ns = 0;
    std::vector<uint64_t> chain;               // walked, or if `stack` is there by frame pointers
    bool by_records_cut = false, cut = false;  // `cut`: callers at the root's end are missing
    UserRegs regs;
    std::vector<std::byte> stack;
    std::vector<uint64_t> walked;  // if `stack` is there, at first
    bool in_kernel = false, callers_missed = false;
  };
  // Returns whether another try may tell more.
  bool Walk(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack, int64_t time_ns,
            bool* callers_missed);
  // The stack that waited.
  void WalkAgain(Waiting& w);
  // A method on its stack may still be told of.
  bool WaitsLonger(Waiting& w, int64_t now_ns);
  void QueueCode(uint64_t start, uint64_t size, int64_t time_ns);
  void Insert(Waiting w);  // in order of time
  void HandOn(Waiting& w);
  void HandOnFirst();

  CodeLook code_;
  RemoteMemory memory_;
  CodeRules& rules_;
  StackUnwinder unwinder_;
  analysis::CpuFold& fold_;
  Retire retire_;
  std::deque<Waiting> waiting_;
  size_t bytes_ = 0;
  int64_t now_ns_ = 0;  // as far as it is known
  int64_t next_try_ns_ = 0;
  std::vector<uint64_t> addresses_, scratch_, again_;
};

}  // namespace clrscope::capture
