// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/cpu_stacks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

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
    stacks.OnSample({1, ms * kStackMs, 10'000'000, chain, {}, {}, false, false});
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

TEST(CpuStacks, NothingIsLostThatIsFlushed) {
  StacksCase c;
  for (int i = 1; i <= 50; ++i) c.Sample(i * 10, 0x10);
  c.Times(1000, 500);
  c.stacks.Flush();
  c.fold.Finish(3'000 * kStackMs);
  EXPECT_EQ(c.Sums(), (std::map<uint64_t, int64_t>{{0x10, 500 * kStackMs}}));
}

}  // namespace
}  // namespace clrscope::capture
