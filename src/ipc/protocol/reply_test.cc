// SPDX-License-Identifier: Apache-2.0
#include "ipc/protocol/reply.h"

#include <gtest/gtest.h>

#include "ipc/testing/fake_peer.h"

namespace clrscope::ipc {
namespace {

using testing::FromHex;

constexpr std::string_view kInfo1 =
    "3713000000000000 000102030405060708090a0b0c0d0e0f"
    "03000000 6100 6200 0000 | 02000000 4c00 0000 | 04000000 7800 3600 3400 0000";
constexpr std::string_view kInfo2 = "03000000 4100 fc00 0000 | 03000000 3900 2e00 0000";

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

TEST(ReplyTest, ProcessInfoOfEachVersion) {
  const auto one = ParseProcessInfo(1, FromHex(kInfo1));
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->pid, 0x1337u);
  EXPECT_EQ(one->cookie[15], 15);
  EXPECT_EQ(one->command_line, "ab");
  EXPECT_EQ(one->os, "L");
  EXPECT_EQ(one->arch, "x64");
  EXPECT_EQ(one->clr_version, "");

  const auto two = ParseProcessInfo(2, FromHex(Join({kInfo1, kInfo2})));
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->entry_assembly, "Aü");
  EXPECT_EQ(two->clr_version, "9.");

  const auto three = ParseProcessInfo(
      3, FromHex(Join({"02000000", kInfo1, kInfo2, "02000000 7200 0000", "ffffff"})));
  ASSERT_TRUE(three.ok());  // a later layout has more fields at its end
  EXPECT_EQ(three->rid, "r");
  EXPECT_EQ(three->command_version, 3);
}

TEST(ReplyTest, ProcessInfoCutAnywhereIsTruncated) {
  const auto whole = FromHex(Join({"01000000", kInfo1, kInfo2, "02000000 7200 0000"}));
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto info = ParseProcessInfo(3, Bytes(whole).first(n));
    ASSERT_FALSE(info.ok()) << n;
    EXPECT_EQ(info.error().code, ErrorCode::kTruncated);
    EXPECT_EQ(info.error().offset, n);
  }
}

TEST(ReplyTest, WildStringLengthIsTruncatedNotAllocated) {
  EXPECT_FALSE(ParseProcessInfo(
                   1, FromHex(Join({"3713000000000000", std::string(32, '0'), "ffffff7f 6100"})))
                   .ok());
}

TEST(ReplyTest, EnvironmentIsSplitAtTheFirstEqualsSign) {
  const auto env = ParseEnvironment(
      FromHex("02000000 | 06000000 4100 3d00 6200 3d00 6300 0000 | 02000000 5a00 0000"));
  ASSERT_TRUE(env.ok());
  EXPECT_EQ(*env, (Environment{{"A", "b=c"}, {"Z", ""}}));
  EXPECT_TRUE(ParseEnvironment(FromHex("00000000"))->empty());
}

TEST(ReplyTest, EnvironmentWithAWildCountIsCorrupt) {
  EXPECT_EQ(ParseEnvironment(FromHex("ffffffff 02000000 4100 0000")).error().code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(ParseEnvironment(FromHex("02000000 02000000 4100 0000 00")).error().code,
            ErrorCode::kTruncated);
  EXPECT_EQ(ParseEnvironment({}).error().code, ErrorCode::kTruncated);
}

TEST(ReplyTest, RefusalMayCarryAText) {
  EXPECT_EQ(ParseRefusal(FromHex("85131380"))->hresult, 0x80131385u);
  EXPECT_EQ(ParseRefusal(FromHex("05400080 03000000 6e00 6f00 0000"))->text, "no");
  EXPECT_EQ(ParseRefusal(FromHex("05400080 ffffffff 6e00"))->text, "");
  EXPECT_FALSE(ParseRefusal(FromHex("0540")).ok());
}

TEST(ReplyTest, AdvertiseIsReadAndChecked) {
  const auto good =
      FromHex("414456525f563100 000102030405060708090a0b0c0d0e0f 2a00000000000000 0000");
  ASSERT_EQ(good.size(), kAdvertiseSize);
  const auto advertise = ParseAdvertise(good);
  ASSERT_TRUE(advertise.ok());
  EXPECT_EQ(advertise->pid, 42u);
  EXPECT_EQ(advertise->cookie[1], 1);
  EXPECT_EQ(ParseAdvertise(Bytes(good).first(33)).error().code, ErrorCode::kTruncated);
  auto bad = good;
  bad[5] = std::byte{0x57};
  EXPECT_EQ(ParseAdvertise(bad).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace clrscope::ipc
