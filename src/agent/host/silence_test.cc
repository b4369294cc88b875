// SPDX-License-Identifier: Apache-2.0
#include "agent/host/silence.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace clrscope::agent {
namespace {

TEST(Silence, WhatWasNeverHeardIsAskedForLessAndLessOften) {
  Silence s;
  int asked = 0;
  for (int64_t now = 1; now < 100 * kSecond; now += kSecond / 10) asked += s.TimeToAsk(0, 0, now);
  EXPECT_GE(asked, 6);
  EXPECT_LE(asked, 9);
}

TEST(Silence, WhatWasHeardIsAskedForOnlyWhenItCollectsInSilence) {
  Silence s;
  EXPECT_FALSE(s.TimeToAsk(0, 0, 1));
  EXPECT_FALSE(s.TimeToAsk(5, 1, kSecond));
  EXPECT_FALSE(s.TimeToAsk(5, 4, 50 * kSecond));
  EXPECT_TRUE(s.TimeToAsk(5, 5, 51 * kSecond));
  EXPECT_FALSE(s.TimeToAsk(5, 6, 90 * kSecond));
  EXPECT_FALSE(s.TimeToAsk(6, 9, 91 * kSecond));
}

}  // namespace
}  // namespace clrscope::agent
