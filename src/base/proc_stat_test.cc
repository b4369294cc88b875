// SPDX-License-Identifier: Apache-2.0
#include "base/proc_stat.h"

#include <gtest/gtest.h>

namespace clrscope {
namespace {

TEST(ProcStat, NamesMayHoldSpacesAndParentheses) {
  StatFields f;
  ASSERT_TRUE(ParseStat("12 (.NET Server GC) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0 20 0", &f));
  EXPECT_EQ(f.name, ".NET Server GC");
  EXPECT_EQ(f.cpu_ticks, 42);
  EXPECT_EQ(f.start_ticks, -1);
  ASSERT_TRUE(ParseStat("12 (a) S (b)) T 1 2 3 4 5 6 7 8 9 10 1 1 13 14 15 16 17 987 20\n", &f));
  EXPECT_EQ(f.name, "a) S (b)");
  EXPECT_EQ(f.state, 'T');
  EXPECT_EQ(f.cpu_ticks, 2);
  EXPECT_EQ(f.start_ticks, 20);
  EXPECT_EQ(f.processor, -1);
  ASSERT_TRUE(
      ParseStat("12 (a) R 1 2 3 4 5 6 7 8 9 10 1 1 13 14 15 16 17 18 20 21 22 23 24 25 26 27 28 "
                "29 30 31 32 33 34 35 17 3 0 0",
                &f));
  EXPECT_EQ(f.processor, 3);
}

TEST(ProcStat, WhatIsNotThereIsNotTold) {
  StatFields f;
  ASSERT_TRUE(ParseStat("12 (a) S\n", &f));
  EXPECT_EQ(f.cpu_ticks, -1);
  ASSERT_TRUE(ParseStat("12 (a) S 1 2 3 4 5 6 7 8 9 10 40", &f));
  EXPECT_EQ(f.cpu_ticks, -1) << "half of it";
  for (const char* bad : {"", "12", "12 (a", "12 (a)", "12 (a) SS 1", "12 )a( S 1", ") (",
                          "12 (a) S 1 2 3 4 5 6 7 8 9 10 x y"})
    EXPECT_FALSE(ParseStat(bad, &f)) << bad;
}

}  // namespace
}  // namespace clrscope
