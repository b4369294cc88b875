// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/sample_window.h"

#include <gtest/gtest.h>

namespace clrscope::agent {
namespace {

constexpr int64_t kWordMs = 1'000'000;

TEST(SampleWindow, HoldsItsOwnTimeAndNothingElse) {
  const uint64_t word = SampleWindow::Of(5'000, 2'700, 7);
  EXPECT_FALSE(SampleWindow::Holds(word, 5'000 * kWordMs - 1));
  EXPECT_TRUE(SampleWindow::Holds(word, 5'000 * kWordMs));
  EXPECT_TRUE(SampleWindow::Holds(word, (5'000 + SampleWindow::kLengthMs) * kWordMs - 1));
  EXPECT_FALSE(SampleWindow::Holds(word, (5'000 + SampleWindow::kLengthMs) * kWordMs));
  const uint32_t tag = SampleWindow::TagOf(word);
  EXPECT_EQ(SampleWindow::GroupOf(tag), 7);
  EXPECT_DOUBLE_EQ(SampleWindow::WeightOf(tag), 2'700.0 / SampleWindow::kLengthMs);
}

TEST(SampleWindow, AlwaysAndNeverAreWordsToo) {
  EXPECT_TRUE(SampleWindow::Holds(SampleWindow::kAlways, 0));
  EXPECT_TRUE(SampleWindow::Holds(SampleWindow::kAlways, INT64_MAX / 2));
  EXPECT_EQ(SampleWindow::TagOf(SampleWindow::kAlways), 0u);
  EXPECT_DOUBLE_EQ(SampleWindow::WeightOf(0), 1);
  for (const int64_t now : {int64_t{0}, kWordMs, 2 * kWordMs, int64_t{1} << 60})
    EXPECT_FALSE(SampleWindow::Holds(SampleWindow::kNever, now)) << now;
}

TEST(SampleWindow, AYearAfterTheStartItIsTheSame) {
  constexpr int64_t kYearMs = int64_t{365} * 86'400 * 1'000;
  const uint64_t word = SampleWindow::Of(kYearMs, 60'000, 16);
  EXPECT_TRUE(SampleWindow::Holds(word, (kYearMs + 1) * kWordMs));
  EXPECT_FALSE(SampleWindow::Holds(word, (kYearMs - 1) * kWordMs));
  EXPECT_EQ(SampleWindow::GroupOf(SampleWindow::TagOf(word)), 16);
}

}  // namespace
}  // namespace clrscope::agent
