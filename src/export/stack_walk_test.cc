// SPDX-License-Identifier: Apache-2.0
// What is shown of a profile's stacks.
#include "export/stack_walk.h"

#include <gtest/gtest.h>

#include "export/testing/profile_builder.h"

namespace clrscope::exporter {
namespace {

using testing::ProfileBuilder;
using testing::ShopProfile;

std::string Show(const profile::Profile& p, const Stacks& stacks, size_t sample) {
  std::vector<uint32_t> path;
  PathTo(stacks, stacks.samples[sample].node, path);
  std::string out;
  for (const uint32_t frame : path) out += std::string(FrameName(p, frame)) + " > ";
  return out + std::string(TypeName(p, stacks.samples[sample].type));
}

TEST(CollectStacksTest, MachineryIsElidedAndEqualStacksMerge) {
  const profile::Profile p = ShopProfile();
  const Stacks stacks = CollectStacks(p, {});
  ASSERT_EQ(stacks.samples.size(), 5u);
  EXPECT_EQ(Show(p, stacks, 0),
            "Acme.Shop.Program.Main > Acme.Shop.Repo<System.String>.Load > byte[]");
  EXPECT_DOUBLE_EQ(stacks.samples[0].value.amount, 700000.4);
  EXPECT_EQ(stacks.samples[0].value.samples, 52u);
}

TEST(CollectStacksTest, KindsStayApartWhenAsked) {
  const profile::Profile p = ShopProfile();
  EXPECT_EQ(CollectStacks(p, {.by_kind = true}).samples.size(), 6u);
}

TEST(CollectStacksTest, MachineryStaysWhenAsked) {
  const profile::Profile p = ShopProfile();
  const Stacks stacks = CollectStacks(p, {.keep_machinery = true, .by_kind = true});
  EXPECT_EQ(stacks.samples.size(), p.shown().cells.size());
  EXPECT_EQ(stacks.nodes.size(), p.nodes.size());
}

TEST(CollectStacksTest, NothingIsLostByFolding) {
  const profile::Profile p = ShopProfile();
  profile::Estimate sum;
  for (const StackSample& s : CollectStacks(p, {}).samples) sum += s.value;
  EXPECT_DOUBLE_EQ(sum.amount, p.Total().amount);
  EXPECT_DOUBLE_EQ(sum.count, p.Total().count);
  EXPECT_EQ(sum.samples, p.Total().samples);
}

TEST(CollectStacksTest, HeavySubtreesComeFirstAndStayTogether) {
  ProfileBuilder b;
  b.Process(1, "a");
  const uint32_t light = b.Frame("m", "light", ""), heavy = b.Frame("m", "heavy", "");
  const uint32_t x = b.Frame("m", "x", ""), y = b.Frame("m", "y", "");
  const uint32_t type = b.Type("T", "T");
  b.Cell(b.Stack({light}), type, 50, 1);
  b.Cell(b.Stack({heavy, x}), type, 40, 1);
  b.Cell(b.Stack({heavy, y}), type, 45, 1);
  const profile::Profile p = b.Build();
  const Stacks stacks = CollectStacks(p, {});
  EXPECT_EQ(Show(p, stacks, 0), "heavy > y > T");
  EXPECT_EQ(Show(p, stacks, 1), "heavy > x > T");
  EXPECT_EQ(Show(p, stacks, 2), "light > T");
}

TEST(CollectStacksTest, IdentityDecidesWhetherOverloadsMerge) {
  ProfileBuilder b;
  b.Process(1, "a");
  const uint32_t one = b.Frame("m", "C.F", "C.F(int32)", 1), two = b.Frame("m", "C.F", "C.F()", 2);
  const uint32_t other = b.Frame("n", "C.F", "C.F()", 2);
  const uint32_t type = b.Type("T", "T");
  for (const uint32_t f : {one, two, other}) b.Cell(b.Stack({f}), type, 10, 1);
  const profile::Profile p = b.Build();
  EXPECT_EQ(CollectStacks(p, {.identity = Identity::kExact}).samples.size(), 3u);
  EXPECT_EQ(CollectStacks(p, {.identity = Identity::kModuleAndName}).samples.size(), 2u);
  EXPECT_EQ(CollectStacks(p, {.identity = Identity::kName}).samples.size(), 1u);
}

TEST(CollectStacksTest, AnEmptyProfileHasOnlyARoot) {
  ProfileBuilder b;
  const Stacks stacks = CollectStacks(b.Build(), {});
  EXPECT_EQ(stacks.nodes.size(), 1u);
  EXPECT_TRUE(stacks.samples.empty());
}

TEST(NamesTest, AreNeverEmpty) {
  ProfileBuilder b;
  b.Process(7, "");
  b.Frame("", "", "");
  b.Frame("", "", "raw()");
  b.Type("", "");
  const profile::Profile p = b.Build();
  EXPECT_EQ(FrameName(p, 0), "[unknown method]");
  EXPECT_EQ(FrameName(p, 1), "raw()");
  EXPECT_EQ(TypeName(p, 0), "[unknown type]");
  EXPECT_EQ(ProcessName(p, 0), "process (7)");
}

}  // namespace
}  // namespace clrscope::exporter
