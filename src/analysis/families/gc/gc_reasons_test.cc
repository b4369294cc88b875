// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_reasons.h"

#include <gtest/gtest.h>

namespace clrscope::analysis {
namespace {

constexpr uint32_t Reasons(uint32_t initial, uint32_t final, uint32_t budget, uint32_t time) {
  return initial | final << 2 | budget << 4 | time << 6;
}

TEST(CondemnedOf, NothingWithoutHistories) {
  EXPECT_FALSE(CondemnedOf(profile::GcRecord()).has_value());
}

TEST(CondemnedOf, TheHeapThatWentFurthestDecides) {
  profile::GcRecord gc;
  gc.condemn_reasons0 = gc.condemn_reasons1 = 0;  // the GC as a whole gives no reason
  gc.heaps.resize(2);
  gc.heaps[0].condemn_reasons0 = Reasons(0, 1, 1, 0);
  gc.heaps[0].condemn_reasons1 = 0b0011;
  gc.heaps[1].condemn_reasons0 = Reasons(0, 2, 0, 2);
  gc.heaps[1].condemn_reasons1 = 0b0110;
  const auto why = CondemnedOf(gc);
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->initial, 0u);
  EXPECT_EQ(why->final, 2u);
  EXPECT_EQ(why->by_budget, 1u);
  EXPECT_EQ(why->by_time, 2u);
  EXPECT_EQ(why->conditions.size(), 3u);
}

TEST(CondemnedOf, TheGcAsAWholeCountsToo) {
  profile::GcRecord gc;
  gc.condemn_reasons0 = Reasons(1, 2, 2, 0);
  gc.condemn_reasons1 = 0;
  const auto why = CondemnedOf(gc);
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->final, 2u);
  EXPECT_EQ(why->by_budget, 2u);
  EXPECT_TRUE(why->conditions.empty());
}

}  // namespace
}  // namespace clrscope::analysis
