// SPDX-License-Identifier: Apache-2.0
// GCSampledObjectAllocation: what its figures are, how far they go, and what is added to them.
#include <gtest/gtest.h>

#include <cstring>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/trace_fold.h"
#include "nettrace/testing/synthetic_writer.h"
#include "profile/estimate/bounds.h"
#include "profile/views/tables.h"

namespace clrscope::analysis {
namespace {

using namespace nettrace::testing;
using clr::EventTag;
using profile::CountMode;

constexpr uint64_t kPoint = 0x7000, kText = 0x7100, kArray = 0x7200;

template <class Number>
void Append(std::string& out, Number n) {
  char bytes[sizeof(n)];
  std::memcpy(bytes, &n, sizeof(n));
  out.append(bytes, sizeof(n));
}

class Counted {
 public:
  explicit Counted(CountMode mode) : aggregate(&recording), fold(&recording, &aggregate, Of(mode)) {
    fold.OnStream(7, 8, 0);
    recording.processes[0]->counting.ended = true;
  }
  void Event(uint64_t thread, EventTag tag, uint32_t version, const std::string& payload,
             const std::vector<uint64_t>& stack = {}) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.process = 7;
    e.thread = thread;
    e.time_ns = ++now;
    e.payload = AsBytes(payload.data(), payload.size());
    e.stack = {reinterpret_cast<const std::byte*>(stack.data()),
               static_cast<uint32_t>(stack.size()), 8, nullptr};
    e.stack_state = stack.empty() ? clr::StackState::kNone : clr::StackState::kPresent;
    fold.OnEvent(e);
  }
  void Objects(uint64_t thread, uint64_t type, uint32_t count, uint64_t bytes) {
    Event(thread, EventTag::kSampledObjectAllocation, 0,
          SampledObjectPayload(0x5000, type, count, bytes), {0x1010, 0x2020});
  }
  void Name(uint64_t thread, uint64_t type, const std::string& name, uint32_t flags = 0) {
    TypeFields f;
    f.type_id = type;
    f.name = name;
    f.flags = flags;
    Event(thread, EventTag::kBulkType, 0, BulkTypePayload({f}));
  }
  void Tick(uint64_t amount) {
    TickFields f;
    f.amount = amount;
    Event(1, EventTag::kAllocationTick, 4, AllocationTickPayload(4, f));
  }
  void UnloadAssembly(uint32_t flags) {
    std::string payload;
    Append(payload, uint64_t{1});
    Append(payload, uint64_t{2});
    Append(payload, uint64_t{3});
    Append(payload, flags);
    payload.append("A\0\0\0", 4);
    Event(1, EventTag::kAssemblyUnload, 1, payload);
  }
  profile::Profile Bound() {
    fold.Finish(true);
    BindOptions options;
    options.source = profile::Source::kCounted;
    return Bind(recording, aggregate, options);
  }
  const profile::Counting& counting() {
    fold.Finish(true);
    return recording.processes[0]->counting;
  }

  profile::Recording recording;
  Aggregate aggregate;
  TraceFold fold;
  int64_t now = 0;

 private:
  static FoldOptions Of(CountMode mode) {
    FoldOptions options;
    options.count_mode = mode;
    return options;
  }
};

profile::TypeRow RowOf(const profile::Profile& p, uint64_t id) {
  for (const profile::TypeRow& row : ByType(p, profile::SortBy::kAmount))
    if (p.types[row.type].id == id) return row;
  ADD_FAILURE() << "no type " << id;
  return {};
}

TEST(TypeCounts, FirstObjectsThatTheRuntimeLeavesOutAreAdded) {
  // The thread that names a type has its first object counted, every other one has not.
  Counted c(CountMode::kAll);
  c.Name(1, kPoint, "App.Point");
  for (const uint64_t thread : {1u, 2u, 3u})
    for (int i = 0; i < 5; ++i) c.Objects(thread, kPoint, 1, 32);
  const profile::Profile p = c.Bound();
  EXPECT_EQ(RowOf(p, kPoint).value.count, 17);
  EXPECT_EQ(RowOf(p, kPoint).value.amount, 17 * 32);
  EXPECT_TRUE(p.exact());
  EXPECT_EQ(CountBounds(p, RowOf(p, kPoint).value).high, 17);
  EXPECT_EQ(AmountBounds(p, RowOf(p, kPoint).value).low, 17 * 32);
}

TEST(TypeCounts, TheNameMayComeAfterTheObjects) {
  // It comes by another session: what is added is known when it is there.
  Counted c(CountMode::kAll);
  c.Objects(2, kPoint, 1, 32);
  c.Objects(1, kPoint, 1, 32);
  c.Name(1, kPoint, "App.Point");
  c.Objects(3, kPoint, 1, 32);
  EXPECT_EQ(RowOf(c.Bound(), kPoint).value.count, 5);
}

TEST(TypeCounts, ATypeThatNobodyNamedIsShownByItsIdAndCountedAsALoss) {
  Counted c(CountMode::kAll);
  c.Objects(1, kPoint, 1, 32);
  c.Objects(2, kPoint, 1, 32);
  const profile::Profile p = c.Bound();
  EXPECT_EQ(p.str(p.types[RowOf(p, kPoint).type].name), "[type 0x7000]");
  EXPECT_EQ(RowOf(p, kPoint).value.count, 2);
  EXPECT_EQ(p.losses[Loss::kUnnamedType], 1u);
}

TEST(TypeCounts, SizesOfArraysAndStringsThatWereLeftOutAreGuessesWithBounds) {
  Counted c(CountMode::kAll);
  c.Name(1, kText, "System.String");
  c.Name(1, kArray, "App.Point[]", 8);
  c.Objects(1, kText, 1, 40);
  c.Objects(2, kText, 1, 30);
  c.Objects(2, kArray, 1, 1000);
  const profile::Profile p = c.Bound();
  EXPECT_EQ(RowOf(p, kText).value.amount, 100);
  EXPECT_EQ(AmountBounds(p, RowOf(p, kText).value).low, 70);
  EXPECT_EQ(RowOf(p, kArray).value.amount, 2000);
  EXPECT_EQ(c.counting().guessed, 2u);
}

TEST(TypeCounts, NothingIsAddedWhereEventsGather) {
  for (const CountMode mode : {CountMode::kUnknown, CountMode::kLow, CountMode::kHigh}) {
    Counted c(mode);
    c.Name(1, kPoint, "App.Point");
    c.Objects(1, kPoint, 10, 320);
    c.Objects(2, kPoint, 5, 160);
    const profile::Profile p = c.Bound();
    EXPECT_EQ(RowOf(p, kPoint).value.count, 15);
    EXPECT_FALSE(p.exact());
  }
}

TEST(TypeCounts, OnlyTheLastObjectOfAnEventCanBeLarge) {
  Counted c(CountMode::kLow);
  c.Name(1, kArray, "System.Byte[]", 8);
  c.Objects(1, kArray, 1, 85'000);              // large
  c.Objects(1, kArray, 1, 84'999);              // not
  c.Objects(1, kArray, 3, 85'000 + 2 * 9'999);  // one must be large
  c.Objects(1, kArray, 3, 85'000 + 2 * 9'998);  // may be, may not
  const profile::TypeRow row = RowOf(c.Bound(), kArray);
  EXPECT_EQ(row.large.count, 2);
  EXPECT_EQ(row.large.amount, 170'000);
  EXPECT_EQ(row.value.count, 8);
  EXPECT_EQ(row.value.amount, 85'000 + 84'999 + 85'000 + 19'998 + 85'000 + 19'996);
}

TEST(TypeCounts, TheProcessTellsWhereTheLohBegins) {
  Counted c(CountMode::kAll);
  std::string settings;
  for (const uint64_t v : {0u, 200'000u, 0u, 0u, 0u}) Append(settings, v);
  for (const uint32_t v : {90u, 0u}) Append(settings, v);
  c.Event(1, EventTag::kGcSettings, 0, settings);
  c.Name(1, kArray, "System.Byte[]", 8);
  c.Objects(1, kArray, 1, 199'999);
  c.Objects(1, kArray, 1, 200'000);
  EXPECT_EQ(RowOf(c.Bound(), kArray).large.count, 1);
  EXPECT_TRUE(c.counting().loh_known);
}

TEST(TypeCounts, SizesAreRoundedUpObjectByObject) {
  Counted c(CountMode::kHigh);
  c.Name(1, kPoint, "App.Point");
  c.Name(1, kArray, "System.Byte[]", 8);
  c.Objects(1, kArray, 1, 25);    // 32
  c.Objects(1, kPoint, 10, 360);  // objects of one type have one size: 40 each
  EXPECT_EQ(c.counting().aligned_low, 432u);
  EXPECT_EQ(c.counting().aligned_high, 432u);
  c.Objects(1, kArray, 4, 101);  // at least 104, at most 7 more for each
  EXPECT_EQ(c.counting().aligned_low, 432u + 104u);
  EXPECT_EQ(c.counting().aligned_high, 432u + 129u);
}

TEST(TypeCounts, WhatIsMissingIsBoundedByWhatTheGcHandedOut) {
  Counted c(CountMode::kLow);
  c.Name(1, kPoint, "App.Point");
  c.Objects(1, kPoint, 25'000, 1'000'000);
  c.Tick(1'200'000);
  const profile::Profile p = c.Bound();
  const profile::Estimate value = RowOf(p, kPoint).value;
  ASSERT_TRUE(AmountBounds(p, value).high.has_value());
  EXPECT_EQ(AmountBounds(p, value).low, 1'000'000);
  EXPECT_GE(*AmountBounds(p, value).high, 1'200'000);
  EXPECT_LT(*AmountBounds(p, value).high, 1'600'000);  // each heap kind may owe a tick
  EXPECT_GT(*CountBounds(p, value).high, 25'000);
}

TEST(TypeCounts, SilentTicksBoundNothing) {
  // Another tool's AllocationSampled silences them.
  Counted c(CountMode::kLow);
  c.Name(1, kPoint, "App.Point");
  c.Objects(1, kPoint, 100'000, 4'000'000);
  c.Tick(1'000'000);
  const profile::Profile p = c.Bound();
  EXPECT_FALSE(AmountBounds(p, RowOf(p, kPoint).value).high.has_value());
}

TEST(TypeCounts, AnUnloadedAssemblyEndsExactness) {
  // The runtime forgets all that it gathered. At the end of a process every assembly is unloaded.
  for (const uint32_t flags : {0u, 8u}) {
    Counted c(CountMode::kAll);
    c.Name(1, kPoint, "App.Point");
    c.Objects(1, kPoint, 1, 32);
    c.UnloadAssembly(flags);
    EXPECT_EQ(c.Bound().exact(), flags == 0);
  }
}

TEST(TypeCounts, WhatWasLostEndsExactness) {
  Counted c(CountMode::kAll);
  c.Name(1, kPoint, "App.Point");
  c.Objects(1, kPoint, 1, 32);
  EXPECT_TRUE(c.Bound().exact());
  c.recording.processes[0]->losses.Add(Loss::kEventsDropped);
  EXPECT_FALSE(c.Bound().exact());
}

TEST(TypeCounts, TypesMadeOnThePathThatCountsNothingAreMarked) {
  Counted c(CountMode::kAll);
  c.Name(1, kPoint, "App.Point");
  c.Name(1, kText, "System.String");
  MethodFields m;
  m.method_id = 9;
  m.start = 0x9000;
  m.owner = "System.RuntimeTypeHandle";
  m.name = "InternalAllocNoChecks";
  c.Event(1, EventTag::kMethodLoadVerbose, 2, MethodVerbosePayload(2, m));
  c.Objects(1, kText, 1, 30);
  c.Event(1, EventTag::kSampledObjectAllocation, 0, SampledObjectPayload(0, kPoint, 1, 32),
          {0x9010});
  const profile::Profile p = c.Bound();
  EXPECT_TRUE(p.types[RowOf(p, kPoint).type].partial);
  EXPECT_FALSE(p.types[RowOf(p, kText).type].partial);
}

TEST(TypeCounts, AnEventOfNoObjectsIsCountedAsUnreadable) {
  Counted c(CountMode::kAll);
  c.Objects(1, kPoint, 0, 0);
  EXPECT_EQ(c.Bound().losses[Loss::kUnsupportedVersion], 1u);
}

}  // namespace
}  // namespace clrscope::analysis
