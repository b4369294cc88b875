// SPDX-License-Identifier: Apache-2.0
// Folding of events into tables and slices, and what binding makes of them. It lies here because
// src/analysis may not use the payload builders of src/nettrace/testing.
#include "analysis/trace_fold.h"

#include <gtest/gtest.h>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::analysis {
namespace {

using namespace nettrace::testing;
using clr::EventTag;

// Feeds events by hand, as a stream would deliver them.
class Feeder {
 public:
  explicit Feeder(const FoldOptions& options = {}, Aggregate::Detail detail = {})
      : aggregate(&recording, {}, detail), fold(&recording, &aggregate, options) {
    fold.OnStream(7, 8, 0);
  }
  void Event(EventTag tag, uint32_t version, int64_t time, const std::string& payload,
             const std::vector<uint64_t>& stack = {}, uint32_t pid = 7,
             clr::StackMemo* memo = nullptr) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.process = pid;
    e.thread = thread;
    e.time_ns = time;
    e.payload = AsBytes(payload.data(), payload.size());
    e.stack = {reinterpret_cast<const std::byte*>(stack.data()),
               static_cast<uint32_t>(stack.size()), 8, memo};
    e.stack_state = stack.empty() ? clr::StackState::kNone : clr::StackState::kPresent;
    fold.OnEvent(e);
  }
  void Sample(int64_t time, const std::vector<uint64_t>& stack, uint32_t pid = 7,
              clr::StackMemo* memo = nullptr) {
    Event(EventTag::kAllocationSampled, 0, time, AllocationSampledPayload({}), stack, pid, memo);
  }
  void Method(EventTag tag, int64_t time, uint64_t id, uint64_t start, const std::string& name) {
    MethodFields f;
    f.method_id = id;
    f.start = start;
    f.name = name;
    Event(tag, 2, time, MethodVerbosePayload(2, f));
  }
  profile::Profile Bound() {
    fold.Finish(true);
    return Bind(recording, aggregate);
  }

  uint64_t thread = 1;  // of what comes next
  profile::Recording recording;
  Aggregate aggregate;
  TraceFold fold;
};

// Leaf methods and their samples.
std::map<std::string, uint64_t> Leaves(const profile::Profile& p) {
  std::map<std::string, uint64_t> out;
  for (const profile::Cell& c : p.shown().cells)
    out[std::string(p.str(p.frames[p.nodes[c.node].frame].method))] += c.value.samples;
  return out;
}

TEST(TraceFold, SamplesAreToldByStackThreadAndTime) {
  for (const Aggregate::Detail detail : {Aggregate::Detail{},
                                         {.threads = true},
                                         {.times = true},
                                         {.threads = true, .times = true}}) {
    Feeder f({}, detail);
    f.Method(EventTag::kMethodDcEndVerbose, 0, 1, 0x1000, "One");
    f.Method(EventTag::kMethodDcEndVerbose, 0, 2, 0x5000, "Two");
    const auto sample = [&f](int64_t second, uint64_t thread, uint64_t at, int n) {
      f.thread = thread;
      for (int i = 0; i < n; ++i) f.Sample(second * 1'000'000'000 + i, {at});
    };
    sample(0, 7, 0x1010, 1);
    sample(0, 8, 0x1010, 2);
    sample(1, 7, 0x1010, 4);
    sample(1, 8, 0x5010, 8);
    const profile::Profile p = f.Bound();
    EXPECT_EQ(p.Total().samples, 15u);
    std::map<uint64_t, uint64_t> threads;
    for (const profile::ThreadRow& r : p.shown().threads) threads[r.thread] += r.value.samples;
    EXPECT_EQ(threads, (std::map<uint64_t, uint64_t>{{7, 5}, {8, 10}}));
    std::map<std::tuple<std::string, uint64_t, int64_t>, uint64_t> told;
    const auto leaf = [&p](const profile::Cell& c) {
      return std::string(p.str(p.frames[p.nodes[c.node].frame].method));
    };
    const auto by = [&p](const profile::Cell& c) {
      return p.labels[c.labels][profile::LabelKey::kThread];
    };
    for (const profile::TimedCell& t : p.shown().timed) {
      const profile::Cell& c = p.shown().cells[t.cell];
      told[{leaf(c), by(c), t.start_ns / 1'000'000'000}] += t.value.samples;
    }
    if (!detail.times)
      for (const profile::Cell& c : p.shown().cells) told[{leaf(c), by(c), -1}] += c.value.samples;
    using Rows = decltype(told);
    const Rows want =
        detail.threads && detail.times
            ? Rows{{{"One", 7, 0}, 1}, {{"One", 8, 0}, 2}, {{"One", 7, 1}, 4}, {{"Two", 8, 1}, 8}}
        : detail.threads ? Rows{{{"One", 7, -1}, 5}, {{"One", 8, -1}, 2}, {{"Two", 8, -1}, 8}}
        : detail.times   ? Rows{{{"One", 0, 0}, 3}, {{"One", 0, 1}, 4}, {{"Two", 0, 1}, 8}}
                         : Rows{{{"One", 0, -1}, 7}, {{"Two", 0, -1}, 8}};
    EXPECT_EQ(told.size(), want.size());
    auto it = want.begin();
    for (const auto& [key, samples] : told) {
      EXPECT_TRUE(std::get<0>(key).ends_with(std::get<0>(it->first)));
      EXPECT_EQ(std::get<1>(key), std::get<1>(it->first));
      EXPECT_EQ(std::get<2>(key), std::get<2>(it->first));
      EXPECT_EQ(samples, it->second);
      ++it;
    }
    EXPECT_EQ(p.shown().by_thread(), detail.threads);
    EXPECT_EQ(p.shown().by_time(), detail.times);
  }
}

TEST(TraceFold, ProcessesThatShareAStackKeepTheirOwnNodes) {
  // A machine-wide stream holds a stack once for all processes: its memo must not cross over.
  Feeder f;
  clr::StackMemo memo;
  for (uint64_t i = 0; i < 100; ++i) f.Sample(1, {0x5000 + i, 0x9000}, 7);
  f.Sample(2, {0x1010}, 7, &memo);
  f.Sample(3, {0x1010}, 8, &memo);
  f.Sample(4, {0x1010}, 7, &memo);
  const profile::Profile p = f.Bound();
  ASSERT_EQ(p.processes.size(), 2u);
  EXPECT_EQ(Leaves(p)["0x1010"], 3u);
}

TEST(TraceFold, ReusedCodeIsNamedByTheTimeOfTheSample) {
  Feeder f;
  f.Method(EventTag::kMethodLoadVerbose, 0, 1, 0x1000, "Old");
  clr::StackMemo memo;
  f.Sample(1'000'000'000, {0x1010}, 7, &memo);
  f.Method(EventTag::kMethodUnloadVerbose, 2'000'000'000, 1, 0x1000, "Old");
  // The load event follows the first sample of the new code.
  f.Sample(9'990'000'000, {0x1010}, 7, &memo);
  f.Method(EventTag::kMethodLoadVerbose, 10'000'000'000, 2, 0x1000, "New");
  f.Sample(11'000'000'000, {0x1010}, 7, &memo);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(Leaves(p),
            (std::map<std::string, uint64_t>{{"App.Program.Old", 1}, {"App.Program.New", 2}}));
  EXPECT_EQ(p.losses[Loss::kAmbiguousFrame], 0u);
}

TEST(TraceFold, RundownNamesWhatWasSampledBefore) {
  Feeder f;
  f.Sample(1, {0x1010});
  f.Method(EventTag::kMethodDcEndVerbose, 100, 1, 0x1000, "Main");
  EXPECT_EQ(Leaves(f.Bound()), (std::map<std::string, uint64_t>{{"App.Program.Main", 1}}));
}

TEST(TraceFold, UnresolvedAndMissingStacksAreCounted) {
  Feeder f;
  f.Sample(1, {0xABC});
  f.Sample(2, {});
  const profile::Profile p = f.Bound();
  EXPECT_EQ(Leaves(p), (std::map<std::string, uint64_t>{{"0xabc", 1}, {"[no stack]", 1}}));
  EXPECT_EQ(p.losses[Loss::kUnresolvedFrame], 1u);
}

TEST(TraceFold, DeepStacksHangUnderTruncated) {
  Feeder f;
  std::vector<uint64_t> deep(100, 0x1010);
  f.Sample(1, deep);
  const profile::Profile p = f.Bound();
  ASSERT_EQ(p.shown().cells.size(), 1u);
  uint32_t node = p.shown().cells[0].node;
  while (p.nodes[node].parent != 0) node = p.nodes[node].parent;
  EXPECT_EQ(p.str(p.frames[p.nodes[node].frame].method), "[truncated]");
  EXPECT_EQ(p.losses[Loss::kTruncatedStack], 1u);
}

TEST(TraceFold, ProgramsThatNativeAotCompiledSayThatTheyHaveNeitherStacksNorNames) {
  Feeder f;
  SampledFields allocated;
  allocated.type = "NULL";
  f.Event(EventTag::kAllocationSampled, 0, 1, AllocationSampledPayload(allocated));
  f.Event(EventTag::kAllocationSampled, 0, 2, AllocationSampledPayload(allocated));
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.losses[Loss::kNoStacks], 2u);
  EXPECT_EQ(p.losses[Loss::kUnnamedType], 1u);
  EXPECT_EQ(p.str(p.types[p.shown().cells[0].type].name), "[type 0x7000]");
  EXPECT_EQ(Leaves(p), (std::map<std::string, uint64_t>{{"[no stack]", 2}}));
}

TEST(TraceFold, OfOtherProgramsSomeEventsMayHaveNoStack) {
  Feeder f;
  f.Sample(1, {0xABC});
  f.Sample(2, {});
  EXPECT_EQ(f.Bound().losses[Loss::kNoStacks], 0u);
}

TEST(TraceFold, TypeNamedAfterItsFirstUseAndReusedIds) {
  Feeder f;
  f.Event(EventTag::kSampledObjectAllocation, 0, 1, SampledObjectPayload(1, 0x7000, 3, 96));
  f.Event(EventTag::kBulkType, 0, 2, BulkTypePayload({{0x7000, "App.Late", {}}}));
  f.Event(EventTag::kSampledObjectAllocation, 0, 3, SampledObjectPayload(1, 0x7000, 1, 32));
  f.Event(EventTag::kBulkType, 0, 4, BulkTypePayload({{0x7000, "App.Other", {}}}));
  f.Event(EventTag::kSampledObjectAllocation, 0, 5, SampledObjectPayload(1, 0x7000, 1, 8));
  const profile::Profile p = f.Bound();
  std::map<std::string, double> bytes;
  for (const profile::Cell& c : p.shown().cells)
    bytes[std::string(p.str(p.types[c.type].name))] += c.value.amount;
  EXPECT_EQ(bytes, (std::map<std::string, double>{{"App.Late", 128}, {"App.Other", 8}}));
}

TEST(TraceFold, MemoOfASeriesDoesNotOutliveItsType) {
  Feeder f;
  clr::StackMemo memo;
  const std::vector<uint64_t> stack = {0x1010};
  f.Event(EventTag::kBulkType, 0, 0, BulkTypePayload({{0x7000, "App.First", {}}}));
  f.Event(EventTag::kSampledObjectAllocation, 0, 1, SampledObjectPayload(1, 0x7000, 1, 8), stack, 7,
          &memo);
  f.Event(EventTag::kSampledObjectAllocation, 0, 1, SampledObjectPayload(1, 0x7000, 1, 8), stack, 7,
          &memo);
  f.Event(EventTag::kBulkType, 0, 2, BulkTypePayload({{0x7000, "App.Second", {}}}));
  f.Event(EventTag::kSampledObjectAllocation, 0, 3, SampledObjectPayload(1, 0x7000, 1, 8), stack, 7,
          &memo);
  const profile::Profile p = f.Bound();
  std::map<std::string, double> bytes;
  for (const profile::Cell& c : p.shown().cells)
    bytes[std::string(p.str(p.types[c.type].name))] += c.value.amount;
  EXPECT_EQ(bytes, (std::map<std::string, double>{{"App.First", 16}, {"App.Second", 8}}));
}

TEST(TraceFold, CapsFoldIntoOtherAndKeepTheTotal) {
  FoldOptions options;
  options.max_nodes = 10;
  options.max_series = 5;
  Feeder f(options);
  for (uint64_t i = 0; i < 100; ++i) f.Sample(static_cast<int64_t>(i), {0x1000 + i});
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.Total().samples, 100u);
  EXPECT_GT(Leaves(p)["(other)"], 80u);
  EXPECT_GT(p.losses[Loss::kStackNodesCapped], 0u);
}

TEST(TraceFold, ShortPayloadsAreCountedAsUnsupported) {
  Feeder f;
  for (const EventTag tag : {EventTag::kAllocationTick, EventTag::kAllocationSampled,
                             EventTag::kSampledObjectAllocation, EventTag::kMethodLoadVerbose,
                             EventTag::kModuleLoad, EventTag::kGcStart, EventTag::kBulkType})
    f.Event(tag, 4, 1, "xyz");
  EXPECT_EQ(f.Bound().losses[Loss::kUnsupportedVersion], 7u);
}

TEST(TraceFold, SlicesCoverTimeAndWildClocksDoNotOverflow) {
  Feeder f;
  for (const int64_t t : {int64_t{-5}, int64_t{0}, int64_t{999'999'999}, int64_t{1'000'000'000},
                          int64_t{5'500'000'000}, INT64_MAX, INT64_MIN, int64_t{7}})
    f.Sample(t, {0x1010});
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.Total().samples, 8u);
  ASSERT_GE(p.shown().times.size(), 3u);
  EXPECT_EQ(p.shown().times[0].start_ns, 0);
  EXPECT_EQ(p.shown().times[0].value.samples, 3u);
  EXPECT_EQ(p.shown().times[1].start_ns, 1'000'000'000);
  EXPECT_EQ(p.shown().times[2].start_ns, 5'000'000'000);
}

TEST(TraceFold, WildProcessIdsStaySmall) {
  Feeder f;
  for (uint32_t pid = 1; pid < 20'000; ++pid) f.Sample(1, {0x1010}, pid);
  EXPECT_LE(f.recording.processes.size(), 4200u);
  EXPECT_EQ(f.Bound().Total().samples, 19'999u);
}

TEST(TraceFold, EventsWithoutAUseAreNotWantedAndTellTheTime) {
  const auto wants = [](EventTag tag, const FoldOptions& options) {
    clr::EventKind kind;
    kind.tag = tag;
    return Feeder(options).fold.Wants(kind);
  };
  FoldOptions no_marks;
  no_marks.gc_marks = false;
  EXPECT_FALSE(wants(EventTag::kUnknown, {}));
  EXPECT_TRUE(wants(EventTag::kGcMarkWithType, {}));
  EXPECT_FALSE(wants(EventTag::kGcMarkWithType, no_marks));
  EXPECT_TRUE(wants(EventTag::kGcHeapStats, no_marks));
  Feeder f;
  f.Sample(1'000, {0x10});
  f.fold.OnSkippedUntil(9'000);
  f.fold.OnSkippedUntil(5'000);
  f.fold.Finish(true);
  EXPECT_EQ(f.recording.end_ns, 9'000);
}

TEST(TraceFold, ForegroundCollectionsInsideABackgroundOneFindTheirSizes) {
  Feeder f;
  const auto gc = [&](int64_t t, uint32_t number, uint32_t type) {
    f.Event(EventTag::kGcStart, 2, t, GcStartPayload(2, number, 2, 0, type));
  };
  const auto end = [&](int64_t t, uint32_t number, int64_t size) {
    f.Event(EventTag::kGcEnd, 1, t, GcEndPayload(1, number, 2));
    f.Event(EventTag::kGcHeapStats, 2, t + 1, HeapStatsPayload(2, {size, 0, 0, 0, 0}));
  };
  gc(10, 1, 1);
  for (uint32_t n = 2; n < 40; ++n) {
    gc(10 * n, n, 2);
    end(10 * n + 5, n, n);
  }
  end(1000, 1, 1);
  f.fold.Finish(true);
  const auto& gcs = f.recording.processes[0]->gcs;
  ASSERT_EQ(gcs.size(), 39u);
  for (const profile::PackedGc& g : gcs) EXPECT_EQ(g.Unpack().size_after[0], g.number);
  EXPECT_EQ(gcs[0].end_ns, 1000);
}

}  // namespace
}  // namespace clrscope::analysis
