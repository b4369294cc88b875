// SPDX-License-Identifier: Apache-2.0
#include "ipc/protocol/message.h"

#include <gtest/gtest.h>

#include "ipc/protocol/hresult.h"
#include "ipc/testing/fake_peer.h"

namespace clrscope::ipc {
namespace {

using testing::FromHex;
using testing::ToHex;

TEST(MessageTest, RequestWithoutPayloadIsTheHeaderAlone) {
  EXPECT_EQ(ToHex(*MessageWriter(Command::kProcessInfo2).Finish()),
            ToHex(FromHex("444f544e45545f4950435f563100 1400 04 04 0000")));
}

TEST(MessageTest, StringsAreUtf16WithACountThatIncludesTheNul) {
  MessageWriter writer(Command::kSetEnvironmentVariable);
  EXPECT_EQ(ToHex(*writer.String("Aü").StringOrNull("").String("").Finish()),
            ToHex(FromHex("444f544e45545f4950435f563100 2800 04 03 0000"
                          "03000000 4100 fc00 0000 | 00000000 | 01000000 0000")));
}

TEST(MessageTest, RequestLongerThanTheSizeFieldIsRefused) {
  MessageWriter writer(Command::kAttachProfiler);
  EXPECT_TRUE(MessageWriter(Command::kAttachProfiler)
                  .Raw(std::vector<std::byte>(kMaxMessageSize - kHeaderSize))
                  .Finish()
                  .ok());
  const auto result =
      writer.Raw(std::vector<std::byte>(kMaxMessageSize - kHeaderSize + 1)).Finish();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUsage);
}

TEST(MessageTest, HeaderIsRead) {
  const auto header = ParseHeader(FromHex("444f544e45545f4950435f563100 1c00 ff 00 0000"));
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->command, Command::kOk);
  EXPECT_EQ(header->payload_size(), 8u);
}

TEST(MessageTest, BadHeadersAreErrors) {
  EXPECT_EQ(ParseHeader(FromHex("444f544e")).error().code, ErrorCode::kTruncated);
  EXPECT_EQ(ParseHeader(FromHex("485454502f312e31204f4b0d0a000000 ff000000")).error().code,
            ErrorCode::kCorrupt);
  const auto small = ParseHeader(FromHex("444f544e45545f4950435f563100 1300 ff 00 0000"));
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(small.error().offset, 14u);
}

TEST(HresultTest, KnownOnesHaveNames) {
  EXPECT_EQ(NameHresult(0x80131385), "0x80131385 (unknown command)");
  EXPECT_EQ(NameHresult(0x80990000), "0x80990000");
  EXPECT_TRUE(IsFailure(0x80004005));
  EXPECT_FALSE(IsFailure(0));
}

}  // namespace
}  // namespace clrscope::ipc
