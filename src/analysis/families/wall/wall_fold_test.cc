// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/wall_fold.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::ThreadState;

constexpr int64_t kWallFoldMs = 1'000'000;

class WallFoldTest : public ::testing::Test, public profile::SliceSink {
 protected:
  void OnSlice(profile::Slice&& slice) override {
    for (const auto& row : slice.rows) {
      const profile::SeriesKey& key = tables_.series.keys()[row.series];
      const profile::LabelSet& set = tables_.labels.sets()[key.labels];
      ns_[std::string(profile::ThreadStateName(set[LabelKey::kState]))] += row.sums.amount;
    }
  }
  void Blocked(int64_t first_ms, int64_t last_ms, ThreadState state) {
    wall_.OnSpan({7,
                  (last_ms - first_ms) * kWallFoldMs,
                  first_ms * kWallFoldMs,
                  last_ms * kWallFoldMs,
                  2,
                  state,
                  {}});
  }

  profile::ProcessTables tables_;
  std::map<std::string, uint64_t> ns_;
  CollectingThreads collecting_;
  WallFold wall_{{&tables_, this, 0, 1'000'000'000}, &collecting_};
};

TEST_F(WallFoldTest, WhoWaitsWithinASuspensionWaitsForTheCollection) {
  Blocked(100, 400, ThreadState::kBlockedUnknown);  // since before it
  Blocked(210, 290, ThreadState::kBlockedUnknown);  // within it
  Blocked(295, 500, ThreadState::kIo);              // and beyond
  Blocked(220, 230, ThreadState::kRunnable);
  collecting_.Begin(3, 200 * kWallFoldMs);
  collecting_.End(3, 300 * kWallFoldMs);
  wall_.Flush();
  EXPECT_EQ(ns_["gc"], 80u * kWallFoldMs);
  EXPECT_EQ(ns_["blocked_unknown"], 300u * kWallFoldMs);
  EXPECT_EQ(ns_["io"], 205u * kWallFoldMs);
  EXPECT_EQ(ns_["runnable"], 10u * kWallFoldMs);
}

TEST_F(WallFoldTest, WaitsForTheEventsOfItsTime) {
  Blocked(100, 400, ThreadState::kBlockedUnknown);
  wall_.Advance(1'500 * kWallFoldMs);
  EXPECT_TRUE(ns_.empty());
  wall_.Advance(1'900 * kWallFoldMs);
  EXPECT_EQ(ns_["blocked_unknown"], 300u * kWallFoldMs);
}

}  // namespace
}  // namespace clrscope::analysis
