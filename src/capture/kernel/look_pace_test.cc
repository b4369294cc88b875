// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/look_pace.h"

#include <gtest/gtest.h>

namespace clrscope::capture {
namespace {

constexpr int64_t kPeriodNs = 10'000'000, kSecondNs = 1'000'000'000, kFiftieth = 50;

// How many looks of that cost there are in 100 s.
int64_t LooksOf(int64_t cpu_ns, LookPace::Waits waits, int64_t cpu_part = kFiftieth) {
  LookPace pace(kPeriodNs, 1, cpu_part, waits);
  int64_t n = 0;
  for (int64_t now = 0; now < 100 * kSecondNs; ++n) now = pace.Next(now, cpu_ns);
  return n;
}

TEST(LookPace, CheapLooksAreAsOftenAsAsked) {
  // 10,000 of them, whose number has a standard error of 29 or of 100.
  EXPECT_NEAR(static_cast<double>(LooksOf(10'000, LookPace::Waits::kAround)), 10'000, 5 * 29);
  EXPECT_NEAR(static_cast<double>(LooksOf(10'000, LookPace::Waits::kMemoryless)), 10'000, 5 * 100);
}

TEST(LookPace, DearOnesTakeTheirPartOfAProcessor) {
  // 1 ms each: 20 or 10 a second, and what is saved at first.
  EXPECT_NEAR(static_cast<double>(LooksOf(1'000'000, LookPace::Waits::kAround)), 2'000, 100);
  EXPECT_NEAR(static_cast<double>(LooksOf(1'000'000, LookPace::Waits::kAround, 100)), 1'000, 50);
}

TEST(LookPace, TheDearestAreOneASecond) {
  // The last wait may be half as long again.
  EXPECT_NEAR(static_cast<double>(LooksOf(kSecondNs, LookPace::Waits::kAround)), 100, 15);
  EXPECT_NEAR(static_cast<double>(LooksOf(kSecondNs, LookPace::Waits::kAround, 100)), 100, 15);
}

TEST(LookPace, LooksStandForAsMuchTimeAsThereWas) {
  // Looks that take much are rarer: first they take what was saved, and from 10 s on ten times as
  // much.
  LookPace pace(1'000'000, 1, kFiftieth, LookPace::Waits::kMemoryless);
  int64_t told[2] = {};
  for (int64_t now = 0; now < 20 * kSecondNs;) {
    const int64_t cpu_ns = now < 10 * kSecondNs ? 40'000 : 400'000;
    now = pace.Next(now, cpu_ns);
    told[now < 10 * kSecondNs ? 0 : 1] += pace.period_ns();
  }
  // 5,000 and 500 looks: standard errors of 1.4 and 4.5 % where all stand for the same, and more.
  EXPECT_NEAR(static_cast<double>(told[0]), 10e9, 10e9 * 0.08);
  EXPECT_NEAR(static_cast<double>(told[1]), 10e9, 10e9 * 0.25);
}

TEST(LookPace, WaitsAreAtRandom) {
  LookPace pace(kPeriodNs, 1, kFiftieth);
  int64_t now = 0, least = INT64_MAX, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t next = pace.Next(now, 0);
    least = std::min(least, next - now);
    most = std::max(most, next - now);
    now = next;
  }
  EXPECT_GE(least, kPeriodNs / 2);
  EXPECT_LT(least, kPeriodNs * 6 / 10);
  EXPECT_LE(most, kPeriodNs * 3 / 2);
  EXPECT_GT(most, kPeriodNs * 14 / 10);
}

}  // namespace
}  // namespace clrscope::capture
