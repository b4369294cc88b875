// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/cpu_stacks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "capture/testing/fake_memory.h"

namespace clrscope::capture {
namespace {

constexpr int64_t kStackMs = 1'000'000;

class StackSlices final : public profile::SliceSink {
 public:
  void OnSlice(profile::Slice&& s) override { slices.push_back(std::move(s)); }
  std::vector<profile::Slice> slices;
};

struct StacksCase {
  profile::ProcessTables tables;
  StackSlices sink;
  analysis::CpuFold fold{{&tables, &sink, 0, 1'000'000'000}};
  CodeRules rules{std::make_unique<FakeMemory>()};
  CpuStacks stacks{::getpid(), &rules, &fold,
                   [this](uint64_t start, uint64_t size) { tables.stacks.Retire(start, size); }};

  StacksCase() {
    fold.Begin(true);
    Times(0, 0);
  }
  void Times(int64_t ms, int64_t used_ms) {
    ThreadTimes times;
    times.threads.push_back({1, used_ms * kStackMs});
    times.process_ns = used_ms * kStackMs;
    stacks.OnTimes(ms * kStackMs, std::move(times));
  }
  void Sample(int64_t ms, uint64_t address) {
    const uint64_t chain[] = {address};
    stacks.OnSample({1, ms * kStackMs, 10'000'000, chain, false, {}, {}, false});
  }
  // By leaf.
  std::map<uint64_t, int64_t> Sums() {
    std::map<uint64_t, int64_t> out;
    for (const profile::Slice& s : sink.slices)
      for (const auto& row : s.rows) {
        const uint32_t node = tables.series.keys()[row.series].node;
        out[tables.stacks.addresses()[tables.stacks.address_index(node)].address] +=
            static_cast<int64_t>(row.sums.amount);
      }
    return out;
  }
};

TEST(CpuStacks, WhatTheSystemSaysWaitsAsLongAsSamplesDo) {
  StacksCase c;
  c.Sample(100, 0x10);
  c.Sample(900, 0x20);
  c.Times(1000, 60);
  c.Sample(1100, 0x30);
  c.stacks.Advance(1350 * kStackMs, false);  // up to 950 ms: no reading yet
  c.stacks.Flush();
  c.Times(2000, 100);
  c.stacks.Flush();
  c.fold.Finish(3'000 * kStackMs);
  EXPECT_EQ(c.Sums(), (std::map<uint64_t, int64_t>{
                          {0x10, 30 * kStackMs}, {0x20, 30 * kStackMs}, {0x30, 40 * kStackMs}}));
}

// Code was unloaded and its place used again at 500 ms, which is told later than the samples.
TEST(CpuStacks, CodeThatIsUsedAgainIsSomethingElseFromThenOn) {
  StacksCase c;
  c.Sample(100, 0x1010);
  c.Sample(450, 0x1010);
  c.Sample(550, 0x1010);
  c.Sample(560, 0x1010);
  c.stacks.OnUnload({0x1000, 0x100, 1, 500 * kStackMs});
  c.stacks.OnMethod({0x1000, 0x100, 2, 500 * kStackMs});
  c.Times(1000, 40);
  c.stacks.Flush();
  c.fold.Finish(3'000 * kStackMs);
  std::map<int64_t, int64_t> by_first;  // ns by when an address was first seen, ms
  for (const profile::Slice& s : c.sink.slices)
    for (const auto& row : s.rows) {
      const uint32_t node = c.tables.series.keys()[row.series].node;
      const auto& address = c.tables.stacks.addresses()[c.tables.stacks.address_index(node)];
      by_first[address.first_ns / kStackMs] += static_cast<int64_t>(row.sums.amount);
    }
  EXPECT_EQ(by_first, (std::map<int64_t, int64_t>{{100, 20 * kStackMs}, {550, 20 * kStackMs}}));
}

// Files are seen to be gone at a look, and samples of before may still wait.
TEST(CpuStacks, AFileThatIsGoneIsSomethingElseFromThenOn) {
  StacksCase c;
  for (const int64_t ms : {100, 450, 550}) c.Sample(ms, 0x1010);
  c.stacks.OnUnmapped(0x1000, 0x100, 500 * kStackMs);
  c.stacks.Flush();
  c.fold.Finish(3'000 * kStackMs);
  std::vector<int64_t> first_seen;  // ms
  for (const auto& address : c.tables.stacks.addresses())
    if (address.address == 0x1010) first_seen.push_back(address.first_ns / kStackMs);
  EXPECT_EQ(first_seen, (std::vector<int64_t>{100, 550}));
}

TEST(CpuStacks, NothingIsLostThatIsFlushed) {
  StacksCase c;
  for (int i = 1; i <= 50; ++i) c.Sample(i * 10, 0x10);
  c.Times(1000, 500);
  c.stacks.Flush();
  c.fold.Finish(3'000 * kStackMs);
  EXPECT_EQ(c.Sums(), (std::map<uint64_t, int64_t>{{0x10, 500 * kStackMs}}));
}

// Its threads are gone when it is known that the process has ended: what it had used is known from
// before.
TEST(CpuStacks, WhatAProcessHadUsedWhenItWasLookedAtLastIsShared) {
  StacksCase c;
  c.Sample(100, 0x10);
  c.Sample(200, 0x20);
  c.Sample(320, 0x30);
  c.stacks.OnEnd(300 * kStackMs, 70 * kStackMs, 0);
  c.stacks.Flush();
  c.fold.Finish(3'000 * kStackMs);
  EXPECT_EQ(c.Sums(), (std::map<uint64_t, int64_t>{
                          {0x10, 35 * kStackMs}, {0x20, 35 * kStackMs}, {0x30, 10 * kStackMs}}))
      << "what came later stands for the clock's period";
}

// A process that waits, in which memory for code is mapped.
class ChildWithCode {
 public:
  ChildWithCode()
      : code_(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  ChildWithCode(const ChildWithCode&) = delete;
  ChildWithCode& operator=(const ChildWithCode&) = delete;
  ~ChildWithCode() {
    End();
    ::munmap(code_, kSize);
  }
  void End() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  uint64_t code() const { return reinterpret_cast<uint64_t>(code_); }

 private:
  static constexpr size_t kSize = 1 << 16;
  void* code_;
  pid_t pid_;
};

// A method without a frame that a method calls of which nobody has told yet. The process ends
// before that is over, and the code cannot be read again.
TEST(CpuStacks, WhatWasFoundWhileTheProcessRanIsKept) {
  ChildWithCode child;
  const uint64_t leaf = child.code() + 0x100, frameless = child.code() + 0x200,
                 untold = child.code() + 0x300, top = 0x7000'0000;
  StackSlices sink;
  profile::ProcessTables tables;
  analysis::CpuFold fold{{&tables, &sink, 0, 1'000'000'000}};
  auto owned = std::make_unique<FakeMemory>();
  FakeMemory& memory = *owned;
  CodeRules rules{std::move(owned)};
  CpuStacks stacks{child.pid(), &rules, &fold, [](uint64_t, uint64_t) {}};
  // push rbp; sub rsp, 20h; lea rbp, [rsp+20h]; call; add; pop; ret: but for the frameless one.
  for (const uint64_t at : {leaf, untold})
    memory.Put(at, "554883ec20488d6c2420e8000000004883c4205dc3");
  memory.Put(frameless, "4883ec28e8000000004883c428c3");
  stacks.OnMethod({leaf, 21, 1});
  stacks.OnMethod({frameless, 14, 2});
  fold.Begin(true);
  const uint64_t words[] = {
      1, 2, 3, 4, top + 8 * 16, frameless + 9, 5, 6, 7, 8, 9, untold + 15, 1, 2, 3, 4, 0, 0};
  const uint64_t by_records[] = {leaf + 10, untold + 15};
  CpuStacks::Sample sample;
  sample.thread = 1;
  sample.time_ns = 100 * kStackMs;
  sample.ns = 10 * kStackMs;
  sample.by_records = by_records;
  sample.regs.known = true;
  sample.regs.sp = top;
  sample.regs.fp = top + 8 * 4;
  sample.regs.ip = leaf + 10;
  sample.stack = AsBytes(words, sizeof words);
  stacks.OnSample(sample);
  child.End();
  memory.pieces.clear();
  stacks.OnUnload({leaf, 21, 1, 150 * kStackMs});  // what is known of code is forgotten
  ThreadTimes times;
  times.threads.push_back({1, 10 * kStackMs});
  times.process_ns = 10 * kStackMs;
  stacks.OnTimes(200 * kStackMs, std::move(times));
  stacks.Flush();
  fold.Finish(1'000 * kStackMs);
  std::vector<uint64_t> found;
  for (const profile::Slice& s : sink.slices)
    for (const auto& row : s.rows)
      for (uint32_t node = tables.series.keys()[row.series].node; node != 0;
           node = tables.stacks.parent(node))
        found.push_back(tables.stacks.addresses()[tables.stacks.address_index(node)].address);
  EXPECT_EQ(found, (std::vector<uint64_t>{leaf + 10, frameless + 9, untold + 15}));
}

}  // namespace
}  // namespace clrscope::capture
