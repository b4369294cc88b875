// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/live_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace clrscope::analysis {
namespace {

using profile::EstimateSampled;
using profile::Profile;

// One second of one process: main() → Load() allocates `samples` strings of 100 bytes.
Profile SecondOf(uint64_t samples, const std::string& type = "string") {
  Profile p;
  p.processes.push_back({});
  p.frames.resize(3);
  p.frames[1].method = p.strings.Intern("Program.Main");
  p.frames[2].method = p.strings.Intern("Store.Load");
  p.nodes = {{0, 0}, {0, 1}, {1, 2}};
  p.types.push_back({p.strings.Intern(type), p.strings.Intern(type), 1, 0});
  p.shown().cells.push_back({2, 0, 0, profile::HeapKind::kSoh, EstimateSampled(samples, 100)});
  p.shown().threads.push_back({0, 77, profile::HeapKind::kSoh, EstimateSampled(samples, 100)});
  p.thread_names[{0, 77}] = p.strings.Intern(".NET TP Worker");
  return p;
}

TEST(LiveTables, AddsUpByTypeSiteProcessAndThread) {
  LiveTables t;
  const uint32_t id = t.AddProcess(12, "orders");
  t.AddSecond(0, SecondOf(3), {id});
  t.AddSecond(1, SecondOf(5), {id});
  for (const LiveBy by : {LiveBy::kType, LiveBy::kSite, LiveBy::kProcess, LiveBy::kThread}) {
    ASSERT_EQ(t.rows(by).size(), 1u);
    EXPECT_EQ(t.rows(by)[0].total.samples, 8u);
  }
  EXPECT_EQ(t.str(t.rows(LiveBy::kSite)[0].method), "Store.Load");
  EXPECT_EQ(t.rows(LiveBy::kThread)[0].thread, 77u);
  EXPECT_EQ(t.str(t.rows(LiveBy::kThread)[0].name), ".NET TP Worker");
  EXPECT_EQ(t.everything().total.samples, 8u);
}

TEST(LiveTables, AWindowHoldsTheLastSecondsOnly) {
  LiveTables t;
  const uint32_t id = t.AddProcess(12, "orders");
  for (int64_t s = 0; s < 100; ++s) t.AddSecond(s, SecondOf(static_cast<uint64_t>(s)), {id});
  const LiveTables::Row& row = t.rows(LiveBy::kType)[0];
  EXPECT_EQ(t.Window(row, 1).samples, 99u);
  EXPECT_EQ(t.Window(row, 3).samples, 99u + 98 + 97);
  EXPECT_LE(row.recent.size(), 2 * static_cast<size_t>(LiveTables::kSeconds));
  const std::vector<double> trend = t.Trend(row, 4);
  ASSERT_EQ(trend.size(), 4u);
  EXPECT_LT(trend[0], trend[3]);
  EXPECT_EQ(t.Covered(5), 5);
}

TEST(LiveTables, ASecondWithoutEventsCounts) {
  LiveTables t;
  const uint32_t id = t.AddProcess(12, "orders");
  t.AddSecond(0, SecondOf(4), {id});
  t.AddSecond(1, Profile(), {id});
  const LiveTables::Row& row = t.rows(LiveBy::kType)[0];
  EXPECT_EQ(t.Window(row, 1).samples, 0u);
  EXPECT_EQ(t.Window(row, 2).samples, 4u);
  EXPECT_EQ(t.Covered(30), 2);
  LiveTables empty;
  empty.AddSecond(7, Profile(), {});
  EXPECT_EQ(empty.Covered(30), 1);
}

TEST(LiveTables, ATypeThatIsRenamedStaysOneRow) {
  LiveTables t;
  const uint32_t id = t.AddProcess(12, "orders");
  const uint32_t other = t.AddProcess(13, "orders");
  t.AddSecond(0, SecondOf(3, "Slot"), {id});
  t.AddSecond(0, SecondOf(1, "Slot"), {other});
  t.Rename(id, "Slot", "Box.Slot");
  t.AddSecond(1, SecondOf(5, "Box.Slot"), {id});
  for (const LiveBy by : {LiveBy::kType, LiveBy::kSite}) {
    ASSERT_EQ(t.rows(by).size(), 2u);
    EXPECT_EQ(t.str(t.rows(by)[0].type), "Box.Slot");
    EXPECT_EQ(t.rows(by)[0].total.samples, 8u);
    EXPECT_EQ(t.str(t.rows(by)[1].type), "Slot") << "another process's";
  }
}

TEST(LiveTables, ATypeThatIsRenamedToWhatAnotherIsCalledJoinsItsRow) {
  LiveTables t;
  const uint32_t id = t.AddProcess(12, "orders");
  t.AddSecond(0, SecondOf(1, "Slot"), {id});
  t.AddSecond(1, SecondOf(2, "Box.Slot"), {id});
  t.AddSecond(2, SecondOf(4, "Slot"), {id});
  t.AddSecond(2, SecondOf(8, "Box.Slot"), {id});
  t.Rename(id, "Slot", "Box.Slot");
  const std::vector<LiveTables::Row>& rows = t.rows(LiveBy::kType);
  EXPECT_TRUE(rows[0].gone);
  EXPECT_EQ(rows[0].total.samples, 0u);
  EXPECT_EQ(rows[1].total.samples, 15u);
  EXPECT_EQ(t.Window(rows[1], 1).samples, 12u);
  EXPECT_EQ(t.Window(rows[1], 3).samples, 15u);
  t.AddSecond(3, SecondOf(16, "Slot"), {id});  // one that has no owner
  EXPECT_EQ(t.rows(LiveBy::kType)[2].total.samples, 16u);
}

TEST(LiveTables, TooManyRowsAreCountedTogether) {
  LiveTables t;
  const uint32_t id = t.AddProcess(12, "orders");
  const auto rounds = static_cast<int64_t>(LiveTables::kMaxRows + 10);
  for (int64_t s = 0; s < rounds; ++s) t.AddSecond(s, SecondOf(1, "T" + std::to_string(s)), {id});
  EXPECT_EQ(t.rows(LiveBy::kType).size(), LiveTables::kMaxRows + 1);
  EXPECT_EQ(t.str(t.rows(LiveBy::kType).back().type), "(other)");
  EXPECT_EQ(t.rows(LiveBy::kType).back().total.samples, 10u);
  EXPECT_EQ(t.everything().total.samples, static_cast<uint64_t>(rounds));
}

}  // namespace
}  // namespace clrscope::analysis
