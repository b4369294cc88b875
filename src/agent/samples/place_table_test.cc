// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/place_table.h"

#include <gtest/gtest.h>

namespace clrscope::agent {
namespace {

TEST(PlaceTable, CodeThatStaysKeepsItsPlace) {
  PlaceTable t;
  t.Bind(4, 0x1000, 7, false, 10);
  t.Bind(5, 0x2000, 7, false, 11);
  EXPECT_EQ(t.OfFrame(4), 1u);
  EXPECT_EQ(t.OfFrame(5), 2u);
  EXPECT_EQ(t.OfFrame(3), 0u);
  EXPECT_EQ(t.OfFrame(99), 0u);
  t.UnbindAll();  // frames are numbered anew
  EXPECT_EQ(t.OfFrame(4), 0u);
  t.Bind(9, 0x1000, 7, false, 20);
  EXPECT_EQ(t.OfFrame(9), 1u);
  EXPECT_EQ(t.all()[0], (profile::IntervalPlace{0x1000, 10}));
}

TEST(PlaceTable, OtherCodeAtTheSameAddressHasAnother) {
  PlaceTable t;
  t.Bind(4, 0x1000, 7, false, 10);
  t.Bind(5, 0x1000, 8, false, 20);
  EXPECT_EQ(t.OfFrame(5), 2u);
  t.Bind(6, 0x1000, 8, true, 30);  // it may have been unloaded, and loaded again
  EXPECT_EQ(t.OfFrame(6), 3u);
  EXPECT_EQ(t.all().size(), 3u);
}

TEST(PlaceTable, WhatNobodyNeedsIsGivenBack) {
  PlaceTable t;
  for (uint32_t i = 0; i < 5; ++i) t.Bind(4 + i, 0x1000 + i, 7, false, i);
  std::vector<bool> keep(6);
  keep[2] = true;  // of a node
  const auto numbers = t.Trim(keep, [](uint32_t frame) { return frame == 7; });
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 0, 1, 0, 2, 0}));
  ASSERT_EQ(t.all().size(), 2u);
  EXPECT_EQ(t.all()[0].address, 0x1001u);
  EXPECT_EQ(t.all()[1].address, 0x1003u);
  EXPECT_EQ(t.OfFrame(7), 2u);
  EXPECT_EQ(t.OfFrame(5), 0u) << "not current any more";
}

TEST(PlaceTable, IsBounded) {
  PlaceTable t;
  for (uint32_t i = 0; i < PlaceTable::kMost + 10; ++i) t.Bind(i, 0x1000 + i, 7, true, 0);
  EXPECT_EQ(t.all().size(), PlaceTable::kMost);
  EXPECT_EQ(t.OfFrame(PlaceTable::kMost + 5), 0u) << "told by its method alone";
}

}  // namespace
}  // namespace clrscope::agent
