// SPDX-License-Identifier: Apache-2.0
#include "profile/views/call_tree.h"

#include <gtest/gtest.h>

#include "profile/testing/orders_profile.h"

namespace clrscope::profile {
namespace {

using testing::OrdersProfile;

std::string_view Name(const Profile& p, const CallTree& t, uint32_t node) {
  return p.str(p.frames[t.nodes[node].frame].method);
}

TEST(CallTreeTest, TopDownFoldsMachinery) {
  const Profile p = OrdersProfile();
  const CallTree t = BuildCallTree(p, {.sort = SortBy::kSamples});
  EXPECT_EQ(t.nodes[0].total.samples, 17u);
  ASSERT_EQ(t.nodes[0].children.size(), 3u);
  EXPECT_EQ(Name(p, t, t.nodes[0].children[0]), "Orders.Program.Main");
  EXPECT_EQ(Name(p, t, t.nodes[0].children[1]), "System.IO.File.Read");
  EXPECT_EQ(t.nodes[t.nodes[0].children[1]].total.samples, 2u);
  EXPECT_TRUE(t.nodes[t.nodes[0].children[1]].children.empty());
}

TEST(CallTreeTest, MachineryIsKeptOnDemand) {
  const Profile p = OrdersProfile();
  const CallTree t = BuildCallTree(p, {.keep_machinery = true, .sort = SortBy::kSamples});
  EXPECT_EQ(Name(p, t, t.nodes[0].children[1]), "System.Threading.ThreadPool.Dispatch");
}

TEST(CallTreeTest, BottomUpStartsAtTheLeaf) {
  const Profile p = OrdersProfile();
  const CallTree t = BuildCallTree(p, {.bottom_up = true, .sort = SortBy::kSamples});
  const uint32_t grow = t.nodes[0].children[0];
  EXPECT_EQ(Name(p, t, grow), "System.Collections.Generic.List<T>.Grow");
  EXPECT_EQ(Name(p, t, t.nodes[grow].children[0]), "System.Collections.Generic.List<T>.Add");
}

}  // namespace
}  // namespace clrscope::profile
