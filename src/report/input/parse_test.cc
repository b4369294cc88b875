// SPDX-License-Identifier: Apache-2.0
#include "report/input/parse.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace clrscope::report {
namespace {

TEST(ParseDurationTest, TakesWhatPeopleType) {
  const std::pair<const char*, int64_t> kCases[] = {{"30", 30 * kSecond},
                                                    {"30s", 30 * kSecond},
                                                    {"0", 0},
                                                    {"1.5s", 3 * kSecond / 2},
                                                    {"250ms", kSecond / 4},
                                                    {"5m", 300 * kSecond},
                                                    {"1h30m", 5400 * kSecond},
                                                    {"2d", 172800 * kSecond},
                                                    {"1h0m5s", 3605 * kSecond},
                                                    {"05:30", 330 * kSecond},
                                                    {"00:00:30", 30 * kSecond},
                                                    {"00:00:00:30", 30 * kSecond},
                                                    {"01:02:03:04", 93784 * kSecond}};
  for (const auto& [text, ns] : kCases) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, ns) << text;
  }
}

TEST(ParseDurationTest, RefusesTheRest) {
  for (const char* text :
       {"", "s", "5x", "-5", "+5", "30m1h", "5m5m", "1:2:3:4:5", ":30", "30:", "1e5", "5 s",
        "1.2.3s", "99999999999999", "nan", "inf", "0x10", "1h30"}) {
    const auto parsed = ParseDuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
  }
}

TEST(ParseSizeTest, UnitsArePowersOf1024) {
  const std::pair<const char*, uint64_t> kCases[] = {
      {"0", 0},          {"4096", 4096},     {"512k", 512 * 1024}, {"512K", 524288},
      {"64M", 67108864}, {"2g", 2147483648}, {"1.5k", 1536},       {"10KiB", 10240},
      {"10kb", 10240},   {"100b", 100},      {"1T", 1ull << 40}};
  for (const auto& [text, bytes] : kCases) {
    const auto parsed = ParseSize(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(ParseSizeTest, RefusesTheRest) {
  for (const char* text : {"", "k", "-1", "5x", "5kk", "5 k", "1e3", "99999999T", "ib", "5ib"})
    EXPECT_FALSE(ParseSize(text).ok()) << text;
}

}  // namespace
}  // namespace clrscope::report
