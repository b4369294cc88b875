// SPDX-License-Identifier: Apache-2.0
#include "ipc/protocol/session_config.h"

#include <gtest/gtest.h>

#include "ipc/testing/fake_peer.h"

namespace clrscope::ipc {
namespace {

using testing::FromHex;
using testing::ToHex;

SessionConfig Example() {
  SessionConfig config;
  config.buffer_mb = 64;
  config.rundown_keyword = 0x80020139;
  config.stackwalk = true;
  config.providers.push_back({"P", 0x8000000000000001, 5, "a=b", EventFilter{true, {1, 303}}});
  config.providers.push_back({"Q", 2, 4, "", std::nullopt});
  return config;
}

// Written by hand after dotnet/diagnostics ipc-protocol.md § CollectTracing5, not by this encoder.
constexpr std::string_view kMagic = "444f544e45545f4950435f563100";
constexpr std::string_view kFirst =
    "0100000000000080 05000000 02000000 5000 0000 04000000 6100 3d00 6200 0000";
constexpr std::string_view kSecond = "0200000000000000 04000000 02000000 5100 0000 00000000";

std::string Expect(std::initializer_list<std::string_view> parts) {
  std::string hex;
  for (const std::string_view part : parts) hex += part;
  return ToHex(FromHex(hex));
}

TEST(SessionConfigTest, Version2HasRundownAsABool) {
  EXPECT_EQ(ToHex(*EncodeCollectTracing(2, Example())),
            Expect({kMagic, "5900 02 03 0000", "40000000 01000000 01 02000000", kFirst, kSecond}));
}

TEST(SessionConfigTest, Version3AddsStackwalk) {
  EXPECT_EQ(
      ToHex(*EncodeCollectTracing(3, Example())),
      Expect({kMagic, "5a00 02 04 0000", "40000000 01000000 01 01 02000000", kFirst, kSecond}));
}

TEST(SessionConfigTest, Version4HasTheRundownKeyword) {
  EXPECT_EQ(ToHex(*EncodeCollectTracing(4, Example())),
            Expect({kMagic, "6100 02 05 0000", "40000000 01000000 3901028000000000 01 02000000",
                    kFirst, kSecond}));
}

TEST(SessionConfigTest, Version5HasTheSessionTypeAndFilters) {
  EXPECT_EQ(
      ToHex(*EncodeCollectTracing(5, Example())),
      Expect({kMagic, "7700 02 06 0000", "00000000 40000000 01000000 3901028000000000 01 02000000",
              kFirst, "01 02000000 01000000 2f010000", kSecond, "00 00000000"}));
}

TEST(SessionConfigTest, Version6EndsWithTheBufferingMode) {
  SessionConfig config = Example();
  config.buffering = Buffering::kBlock;
  const std::string v5 = ToHex(*EncodeCollectTracing(5, config));
  const std::string v6 = ToHex(*EncodeCollectTracing(6, config));
  EXPECT_EQ(v6.substr(0, 28), v5.substr(0, 28));
  EXPECT_EQ(v6.substr(28, 12), "7b0002070000");
  EXPECT_EQ(v6.substr(40), v5.substr(40) + "01000000");
}

TEST(SessionConfigTest, WhatTheRuntimeWouldRefuseIsRefusedHere) {
  const auto code = [](const SessionConfig& config) {
    const auto request = EncodeCollectTracing(5, config);
    return request.ok() ? ErrorCode::kFailed : request.error().code;
  };
  SessionConfig config = Example();
  config.providers.clear();
  EXPECT_EQ(code(config), ErrorCode::kUsage);
  config = Example();
  config.providers[0].name.clear();
  EXPECT_EQ(code(config), ErrorCode::kUsage);
  config = Example();
  config.providers[0].level = 6;
  EXPECT_EQ(code(config), ErrorCode::kUsage);
  config = Example();
  config.buffer_mb = 0;
  EXPECT_EQ(code(config), ErrorCode::kUsage);
  config = Example();
  config.providers.resize(1001, config.providers[0]);
  EXPECT_EQ(code(config), ErrorCode::kUsage);
  config = Example();
  config.providers[0].args.assign(40000, 'x');  // 80,000 bytes of UTF-16
  EXPECT_EQ(code(config), ErrorCode::kUsage);
  EXPECT_EQ(EncodeCollectTracing(7, Example()).error().code, ErrorCode::kUsage);
  EXPECT_EQ(EncodeCollectTracing(1, Example()).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace clrscope::ipc
