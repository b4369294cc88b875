// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/type_sizes.h"

#include <gtest/gtest.h>

#include "profile/profile.h"
#include "profile/tables/series.h"

namespace clrscope::profile {
namespace {

Cell CellOf(uint32_t node, uint32_t type, const Estimate& value) {
  Cell c;
  c.node = node;
  c.type = type;
  c.value = value;
  return c;
}

LiveCell LiveOf(uint32_t type, const Estimate& value) {
  LiveCell c;
  c.type = type;
  c.value = value;
  return c;
}

TEST(TypeSizes, ATypeHasManySizesWhenAnyTwoOfItsCellsDiffer) {
  Profile p;
  p.types.resize(3);
  p.shown().cells = {CellOf(1, 0, EstimateSampled(3, 65'560)), CellOf(2, 0, EstimateSampled(1, 40)),
                     CellOf(1, 1, EstimateSampled(5, 65'560)),
                     CellOf(2, 1, EstimateSampled(1, 65'560))};
  MarkTypeSizes(p);
  EXPECT_TRUE(p.types[0].many_sizes);
  EXPECT_FALSE(p.types[1].many_sizes);
  EXPECT_FALSE(p.types[2].many_sizes);
  EXPECT_TRUE(p.shown().cells[0].value.many_sizes);
  EXPECT_TRUE(p.shown().cells[1].value.many_sizes);
  EXPECT_FALSE(p.shown().cells[2].value.many_sizes);
  EXPECT_FALSE(p.shown().cells[3].value.many_sizes);
}

TEST(TypeSizes, OneCellMayHoldSeveralSizes) {
  Profile p;
  p.types.resize(1);
  Estimate both = EstimateSampled(3, 400);
  both += EstimateSampled(1, 480);
  p.shown().cells = {CellOf(1, 0, both)};
  MarkTypeSizes(p);
  EXPECT_TRUE(p.shown().cells[0].value.many_sizes);
}

TEST(TypeSizes, WhatLivesKnowsWhatWasAllocated) {
  Profile p;
  p.types.resize(2);
  p.shown().cells = {CellOf(1, 0, EstimateSampled(9, 70'104)),
                     CellOf(1, 0, EstimateSampled(1, 52))};
  // Thinned: the weight is another one, the size is the same.
  p.At(Measure::kLive).lives = {LiveOf(0, EstimateSampled(4, 70'104, 4 * kSamplingMeanBytes)),
                                LiveOf(1, EstimateSampled(1, 96)),
                                LiveOf(1, EstimateSampled(2, 96, 8 * kSamplingMeanBytes))};
  MarkTypeSizes(p);
  EXPECT_TRUE(p.lives()[0].value.many_sizes);
  EXPECT_FALSE(p.lives()[1].value.many_sizes);
  EXPECT_FALSE(p.lives()[2].value.many_sizes);
}

// A series counts bytes and events: their mean is the size of each, but for rounding.
TEST(TypeSizes, RoundingIsNoSize) {
  TypeSizes sizes;
  const SeriesKey key =
      SeriesKey::Make(1, 0, HeapKind::kSoh, Source::kSampled, SizeClass(1'000'003));
  for (const uint64_t n : {1u, 3u, 7u, 49u, 1'000u})
    sizes.Add(0, EstimateOf(key, Sums{n, n * 1'000'003, 0}));
  EXPECT_FALSE(sizes.many(0));
  sizes.Add(0, EstimateSampled(1, 1'000'003 * 1.01));
  EXPECT_TRUE(sizes.many(0));
  EXPECT_FALSE(sizes.many(1));
}

TEST(TypeSizes, UnknownSizesSayNothing) {
  TypeSizes sizes;
  sizes.Add(0, EstimateSampled(1, 96));
  sizes.Add(0, EstimateTick(3, 300'000, 0));
  sizes.Add(0, Estimate{});
  EXPECT_FALSE(sizes.many(0));
}

}  // namespace
}  // namespace clrscope::profile
