// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/generations.h"

#include <gtest/gtest.h>

namespace clrscope::agent {
namespace {

TEST(Generations, AnAddressBelongsToTheRangeAroundIt) {
  std::vector<GenerationRange> ranges = {{3, 0x9000, 0x100, 0x1000},
                                         {0, 0x1000, 0x400, 0x1000},
                                         {2, 0x4000, 0x1000, 0x800},
                                         {9, 0xb000, 8, 8}};
  Generations::Sort(ranges);
  EXPECT_EQ(Generations::LookUp(ranges, 0xfff), -1);
  EXPECT_EQ(Generations::LookUp(ranges, 0x1000), 0);
  EXPECT_EQ(Generations::LookUp(ranges, 0x1fff), 0) << "allocated since";
  EXPECT_EQ(Generations::LookUp(ranges, 0x2000), -1);
  EXPECT_EQ(Generations::LookUp(ranges, 0x4fff), 2);
  EXPECT_EQ(Generations::LookUp(ranges, 0x9010), 3);
  EXPECT_EQ(Generations::LookUp(ranges, 0xb000), -1) << "no generation of today";
  EXPECT_EQ(Generations::LookUp({}, 0x9010), -1);
}

TEST(GcPhase, QuietIsBetweenTheEndOfACollectionAndTheNext) {
  GcPhase phase;
  EXPECT_EQ(phase.Quiet(), 0u) << "nothing is known before a collection has ended";
  phase.Begun();
  EXPECT_EQ(phase.Quiet(), 0u);
  phase.Finished();
  const uint64_t first = phase.Quiet();
  EXPECT_NE(first, 0u);
  EXPECT_EQ(phase.Quiet(), first);
  phase.Begun();
  EXPECT_EQ(phase.Quiet(), 0u);
  phase.Finished();
  EXPECT_NE(phase.Quiet(), first) << "a collection came between";
  EXPECT_NE(phase.Quiet(), 0u);
  phase.Forget();
  EXPECT_EQ(phase.Quiet(), 0u);
}

}  // namespace
}  // namespace clrscope::agent
