// SPDX-License-Identifier: Apache-2.0
#include "profile/unseen_live.h"

#include <gtest/gtest.h>

namespace clrscope::profile {
namespace {

IntervalLive Row(uint32_t type, uint64_t n, double size, int8_t generation = 2) {
  IntervalLive l;
  l.type = type;
  l.generation = generation;
  l.value = EstimateSampled(n, size);
  return l;
}

TEST(UnseenLive, NothingIsAddedForWhatIsSeen) {
  UnseenLive unseen;
  const IntervalLive rows[] = {Row(1, 3, 40), Row(2, 7, 1'000)};
  for (int i = 0; i < 4; ++i) unseen.Add(rows, kSamplingMeanBytes);
  EXPECT_EQ(unseen.Value().var_objects, 0);
  EXPECT_EQ(UnseenLive().Value().var_bytes, 0);
}

TEST(UnseenLive, ATypeThatIsMissingJustNowCountsAsOftenAsItWasThere) {
  UnseenLive unseen;
  const IntervalLive both[] = {Row(1, 2, 40), Row(2, 7, 1'000)};
  for (int i = 0; i < 3; ++i) unseen.Add(both, kSamplingMeanBytes);
  unseen.Add({both + 1, 1}, kSamplingMeanBytes);
  // Twice in three of four states: 1.5 samples of their weight each.
  const Estimate one = EstimateSampled(1, 40), value = unseen.Value();
  EXPECT_NEAR(value.var_objects, 1.5 * one.objects * one.max_objects, 1e-6 * value.var_objects);
  EXPECT_NEAR(value.var_bytes, 1.5 * one.bytes * one.max_bytes, 1e-6 * value.var_bytes);
  EXPECT_EQ(value.bytes, 0);
  EXPECT_EQ(value.samples, 0u);
}

TEST(UnseenLive, GarbageThatNoOldGcLookedAtIsNot) {
  UnseenLive unseen;
  IntervalLive rows[] = {Row(1, 2, 40, 1), Row(2, 2, 40)};
  rows[1].young = true;
  unseen.Add(rows, kSamplingMeanBytes);
  unseen.Add({}, kSamplingMeanBytes);
  EXPECT_EQ(unseen.Value().var_objects, 0);
}

TEST(UnseenLive, ASampleThatIsThinnedStandsForMore) {
  UnseenLive unseen;
  const IntervalLive row = Row(1, 2, 40);
  unseen.Add({&row, 1}, kSamplingMeanBytes);
  unseen.Add({}, kSamplingMeanBytes);
  const double before = unseen.Value().var_objects;
  unseen.Add({}, 2 * kSamplingMeanBytes);
  EXPECT_NEAR(unseen.Value().var_objects, before * 2 * 2 / 3, 1e-6 * before);
}

}  // namespace
}  // namespace clrscope::profile
