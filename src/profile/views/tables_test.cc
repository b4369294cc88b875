// SPDX-License-Identifier: Apache-2.0
#include "profile/views/tables.h"

#include <gtest/gtest.h>

#include "profile/testing/orders_profile.h"

namespace clrscope::profile {
namespace {

using testing::OrdersProfile;

const MethodRow& MethodNamed(const Profile& p, const std::vector<MethodRow>& rows,
                             std::string_view name) {
  for (const MethodRow& r : rows)
    if (p.str(p.frames[r.frame].method) == name) return r;
  ADD_FAILURE() << name;
  return rows.front();
}

TEST(TablesTest, TypesOfOneNameStayTwoRows) {
  const Profile p = OrdersProfile();
  const auto rows = ByType(p, SortBy::kSamples);
  ASSERT_EQ(rows.size(), 4u);  // byte[] lies on two heaps
  EXPECT_EQ(p.types[rows[0].type].id, 0x7f01u);
  EXPECT_EQ(rows[0].value.samples, 10u);
  EXPECT_EQ(p.types[rows[1].type].id, 0x7f02u);
  EXPECT_EQ(rows[2].kind, HeapKind::kLoh);
}

TEST(TablesTest, RowsAddUpToTheTotal) {
  const Profile p = OrdersProfile();
  const Estimate total = p.Total();
  const auto sum = [](const auto& rows) {
    Estimate e;
    for (const auto& r : rows) e += r.value;
    return e;
  };
  for (const SortBy sort : {SortBy::kAmount, SortBy::kCount, SortBy::kSamples}) {
    EXPECT_NEAR(sum(ByType(p, sort)).amount, total.amount, 1e-6);
    EXPECT_NEAR(sum(BySite(p, sort, false)).amount, total.amount, 1e-6);
    EXPECT_NEAR(sum(ByStack(p, sort)).amount, total.amount, 1e-6);
    EXPECT_NEAR(sum(ByAssembly(p, sort, true)).amount, total.amount, 1e-6);
    EXPECT_NEAR(sum(ByKind(p, sort)).amount, total.amount, 1e-6);
    EXPECT_NEAR(sum(ByProcess(p, sort)).amount, total.amount, 1e-6);
    EXPECT_NEAR(sum(ByThread(p, sort)).amount, total.amount, 1e-6);
  }
  EXPECT_NEAR(sum(ByTime(p, 0)).amount, total.amount, 400000);
}

TEST(TablesTest, LinesAreThoseOfTheSite) {
  Profile p = OrdersProfile();
  // Without lines each method is a row.
  const auto by_method = ByMethod(p, SortBy::kSamples);
  EXPECT_EQ(ByLine(p, SortBy::kSamples, true).size(), by_method.size());
  const auto self = [&p](bool raw_leaf) {
    uint64_t samples = 0;
    for (const LineRow& r : ByLine(p, SortBy::kSamples, raw_leaf)) samples += r.self.samples;
    return samples;
  };
  EXPECT_EQ(self(false), p.Total().samples);
  EXPECT_EQ(self(true), p.Total().samples);
  // With a line each node is at, those of one line add up, and know that it is approximate.
  p.source_files.push_back({p.strings.Intern("/src/Orders.cs"), {}, {}, {}});
  p.lines.push_back({1, 7, Place::Sure::kExact});
  p.lines.push_back({1, 9, Place::Sure::kApproximate});
  for (size_t i = 1; i < p.nodes.size(); ++i) p.nodes[i].line = 1 + i % 2;
  for (const LineRow& r : ByLine(p, SortBy::kSamples, false)) {
    EXPECT_EQ(r.approximate, r.line == 9);
    EXPECT_GE(r.total.samples, r.self.samples);
  }
  EXPECT_EQ(self(false), p.Total().samples);
}

TEST(TablesTest, RecursionCountsOnceInTotal) {
  const Profile p = OrdersProfile();
  const auto rows = ByMethod(p, SortBy::kAmount);
  const MethodRow& walk = MethodNamed(p, rows, "Orders.Tree.Walk");
  EXPECT_EQ(walk.self.samples, 0u);
  EXPECT_EQ(walk.total.samples, 14u);
  EXPECT_EQ(MethodNamed(p, rows, "Orders.Program.Main").total.samples, 14u);
  const MethodRow& add = MethodNamed(p, rows, "System.Collections.Generic.List<T>.Add");
  EXPECT_EQ(add.self.samples, 4u);
  EXPECT_EQ(add.total.samples, 14u);
  const MethodRow& pool = MethodNamed(p, rows, "System.Threading.ThreadPool.Dispatch");
  EXPECT_EQ(pool.self.samples, 2u);
  EXPECT_EQ(pool.total.samples, 2u);
}

TEST(TablesTest, SiteIsTheFirstFrameOutsideTheFramework) {
  const Profile p = OrdersProfile();
  const auto name = [&](const std::vector<uint32_t>& sites, const Cell& c) {
    return p.str(p.frames[sites[c.node]].method);
  };
  const auto own = SiteFrames(p, false), leaf = SiteFrames(p, true);
  EXPECT_EQ(name(own, p.shown().cells[0]), "Orders.Tree.Walk");
  EXPECT_EQ(name(leaf, p.shown().cells[0]), "System.Collections.Generic.List<T>.Grow");
  EXPECT_EQ(name(own, p.shown().cells[2]),
            "System.Threading.ThreadPool.Dispatch");  // none: the leaf
  EXPECT_EQ(name(own, p.shown().cells[3]), "[no stack]");
}

TEST(TablesTest, TimeBucketsIncludeEmptyOnes) {
  const auto rows = ByTime(OrdersProfile(), 5'000'000'000);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].value.samples, 10u);
  EXPECT_EQ(rows[1].value.samples, 0u);
  EXPECT_EQ(rows[2].value.samples, 5u);
  EXPECT_EQ(rows[3].value.samples, 2u);
  EXPECT_EQ(rows[3].end_ns, 20'000'000'000);
}

TEST(TablesTest, BucketsAreNotNarrowerThanSlices) {
  Profile p = OrdersProfile();
  p.shown().times[0].end_ns = 10'000'000'000;
  const auto rows = ByTime(p, 1'000'000'000);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].end_ns, 10'000'000'000);
}

TEST(TablesTest, EmptyProfileHasNoRows) {
  const Profile p;
  EXPECT_TRUE(ByType(p, SortBy::kAmount).empty());
  EXPECT_TRUE(BySite(p, SortBy::kAmount, false).empty());
  EXPECT_TRUE(ByMethod(p, SortBy::kAmount).empty());
  EXPECT_TRUE(ByTime(p, 0).empty());
}

}  // namespace
}  // namespace clrscope::profile
