// SPDX-License-Identifier: Apache-2.0
#include "profile/views/filter.h"

#include <gtest/gtest.h>

#include "profile/testing/orders_profile.h"

namespace clrscope::profile {
namespace {

using testing::OrdersProfile;

TEST(FilterTest, TypeKeepsMatchingCells) {
  Profile p = OrdersProfile();
  ASSERT_TRUE(Apply({.type = "^byte"}, p).ok());
  EXPECT_EQ(p.Total().samples, 3u);
  EXPECT_TRUE(p.times.empty());
  EXPECT_TRUE(p.threads.empty());
}

TEST(FilterTest, MethodMatchesAnywhereOnTheStack) {
  Profile p = OrdersProfile();
  ASSERT_TRUE(Apply({.method = "Program\\.Main$"}, p).ok());
  EXPECT_EQ(p.Total().samples, 14u);
}

TEST(FilterTest, BadPatternTellsItsPosition) {
  Profile p = OrdersProfile();
  const Status status = Apply({.type = "ab[c"}, p);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  EXPECT_NE(status.error().message.find("at character 3"), std::string::npos)
      << status.error().message;
}

TEST(FilterTest, ProcessByNameOrPid) {
  for (const char* wanted : {"web", "43"}) {
    testing::OrdersBuilder b;
    b.AddProcess(42, "orders");
    b.AddProcess(43, "web");
    const uint32_t node = b.Stack({b.AddFrame("M", "M.F")});
    b.Add(node, b.AddType("A", 1, 0), 3, 100, HeapKind::kSoh, 0);
    b.Add(node, b.AddType("B", 2, 1), 5, 100, HeapKind::kSoh, 1);
    ASSERT_TRUE(Apply({.process = wanted}, b.p).ok());
    ASSERT_EQ(b.p.processes.size(), 1u);
    EXPECT_EQ(b.p.processes[0].pid, 43u);
    ASSERT_EQ(b.p.cells.size(), 1u);
    EXPECT_EQ(b.p.cells[0].process, 0u);
    EXPECT_EQ(b.p.types[b.p.cells[0].type].process, 0u);
    EXPECT_EQ(b.p.Total().samples, 5u);
  }
}

TEST(FilterTest, UnknownProcessNamesThoseThereAre) {
  Profile p = OrdersProfile();
  const Status status = Apply({.process = "shop"}, p);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kEmpty);
  EXPECT_NE(status.error().message.find("orders (42)"), std::string::npos);
}

}  // namespace
}  // namespace clrscope::profile
