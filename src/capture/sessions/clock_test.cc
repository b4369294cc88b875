// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/clock.h"

#include <gtest/gtest.h>

namespace clrscope::capture {
namespace {

class StillClock final : public Clock {
 public:
  int64_t monotonic_ns() const override { return 36'000'000'000'000; }  // the machine's uptime
  int64_t unix_ns() const override { return 1'800'000'000'000'000'000; }
};

TEST(RecordingClock, WhatWasSampledBeforeTheFirstStreamIsOfItsStart) {
  static const StillClock now;
  static RecordingClock clock(&now);  // static: GCC 12 warns of the optional in one on the stack
  EXPECT_EQ(clock.SinceStart(now.monotonic_ns()), 0);
  clock.Start();
  EXPECT_EQ(clock.SinceStart(now.monotonic_ns() + 5), 5);
  EXPECT_EQ(clock.SinceStart(now.monotonic_ns() - 5), -5);
}

}  // namespace
}  // namespace clrscope::capture
