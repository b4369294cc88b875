// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/il_maps.h"

#include <gtest/gtest.h>

#include <vector>

namespace clrscope::profile {
namespace {

using Points = std::vector<IlMapPoint>;

TEST(IlMaps, EachVersionOfAMethodHasItsOwn) {
  IlMaps maps;
  const Points first = {{0, -2}, {7, 0}, {90, 33}, {20, 5}, {4'000'000'000, -3}};
  const Points second = {{0, 0}};
  EXPECT_TRUE(maps.Add(0x7000, 0, first));
  EXPECT_TRUE(maps.Add(0x7000, 2, second));
  EXPECT_EQ(maps.Find(0x1000, 0x7000), first);  // nothing was said of that code: it is the first
  maps.NoteVersion(0x2000, 0x7000, 2);
  EXPECT_EQ(maps.Find(0x2000, 0x7000), second);
  EXPECT_EQ(maps.Find(0x1000, 0x7000), first);
  EXPECT_EQ(maps.Find(0x1000, 0x7001), std::nullopt);
  EXPECT_EQ(maps.size(), 2u);
}

TEST(IlMaps, TheVersionMayComeBeforeItsMap) {
  IlMaps maps;
  maps.NoteVersion(0x2000, 0x7000, 5);
  EXPECT_EQ(maps.Find(0x2000, 0x7000), std::nullopt);
  EXPECT_TRUE(maps.Add(0x7000, 5, {{3, 1}}));
  EXPECT_EQ(maps.Find(0x2000, 0x7000), (Points{{3, 1}}));
}

TEST(IlMaps, CodeThatTakesAnothersPlace) {
  IlMaps maps;
  EXPECT_TRUE(maps.Add(0x7000, 0, {{1, 1}}));
  EXPECT_TRUE(maps.Add(0x7000, 9, {{2, 2}}));
  maps.NoteVersion(0x2000, 0x7000, 9);
  maps.NoteVersion(0x2000, 0x7000, 0);
  EXPECT_EQ(maps.Find(0x2000, 0x7000), (Points{{1, 1}}));
}

TEST(IlMaps, WhatIsKnownStays) {
  IlMaps maps;
  EXPECT_TRUE(maps.Add(0x7000, 0, {{1, 1}}));
  EXPECT_TRUE(maps.Add(0x7000, 0, {}));  // a rundown may repeat it
  EXPECT_EQ(maps.Find(0, 0x7000), (Points{{1, 1}}));
  EXPECT_TRUE(maps.Add(0x7001, 0, {}));
  EXPECT_EQ(maps.Find(0, 0x7001), Points{});
}

}  // namespace
}  // namespace clrscope::profile
