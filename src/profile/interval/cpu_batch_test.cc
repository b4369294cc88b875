// SPDX-License-Identifier: Apache-2.0
#include "profile/interval/cpu_batch.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace clrscope::profile {
namespace {

struct Sample {
  CpuBatchSample head;
  std::vector<uint64_t> chain;
  std::vector<std::byte> stack;
};

CpuBatchHead Head() {
  CpuBatchHead h;
  h.period_ns = 10'101'010;
  h.tick_ns = 4'000'000;
  h.own_thread = 4711;
  h.lost = 1;
  h.missed = 2;
  h.blocked = 3;
  h.repeated = 4;
  h.last = true;
  return h;
}

std::string Encoded() {
  CpuBatchWriter writer;
  const std::array<uint64_t, 3> chain{0x7fff'0000'1234, 0x10, 0xffff'ffff'ffff'ffff};
  std::array<std::byte, 16> stack{};
  stack[3] = std::byte{0xab};
  writer.Add(
      {77, 3, -5, 0x7fff'0000'0000, 0x7ffe'0000'0000, 0x7ffe'0000'0040, true, false, chain, stack});
  writer.Add({78, 1, 123'456'789'000, 1, 2, 0, false, true, {}, {}});
  return writer.Take(Head());
}

Result<CpuBatchHead> Decode(std::string_view bytes, std::vector<Sample>* out = nullptr) {
  return DecodeCpuBatch(AsBytes(bytes.data(), bytes.size()), [&](const CpuBatchSample& s) {
    if (out == nullptr) return;
    out->push_back({s, {s.chain.begin(), s.chain.end()}, {s.stack.begin(), s.stack.end()}});
  });
}

TEST(CpuBatch, ComesBackAsItWas) {
  std::vector<Sample> samples;
  const std::string bytes = Encoded();
  EXPECT_TRUE(IsCpuBatch(AsBytes(bytes.data(), bytes.size())));
  const Result<CpuBatchHead> head = Decode(bytes, &samples);
  ASSERT_TRUE(head.ok()) << head.error().message;
  EXPECT_EQ(*head, Head());
  ASSERT_EQ(samples.size(), 2u);
  const Sample& first = samples[0];
  EXPECT_EQ(first.head.thread, 77u);
  EXPECT_EQ(first.head.periods, 3u);
  EXPECT_EQ(first.head.time_ns, -5);
  EXPECT_EQ(first.head.ip, 0x7fff'0000'0000u);
  EXPECT_EQ(first.head.sp, 0x7ffe'0000'0000u);
  EXPECT_EQ(first.head.bp, 0x7ffe'0000'0040u);
  EXPECT_TRUE(first.head.in_kernel);
  EXPECT_EQ(first.chain, (std::vector<uint64_t>{0x7fff'0000'1234, 0x10, 0xffff'ffff'ffff'ffff}));
  ASSERT_EQ(first.stack.size(), 16u);
  EXPECT_EQ(first.stack[3], std::byte{0xab});
  EXPECT_TRUE(samples[1].head.cut);
  EXPECT_EQ(samples[1].head.bp, 0u);
  EXPECT_TRUE(samples[1].chain.empty());
}

TEST(CpuBatch, AWriterIsEmptyAfterwards) {
  CpuBatchWriter writer;
  writer.Add({});
  EXPECT_EQ(writer.count(), 1u);
  (void)writer.Take(Head());
  EXPECT_EQ(writer.count(), 0u);
  std::vector<Sample> samples;
  ASSERT_TRUE(Decode(writer.Take(Head()), &samples).ok());
  EXPECT_TRUE(samples.empty());
}

TEST(CpuBatch, NoPieceOfItIsTaken) {
  const std::string bytes = Encoded();
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(Decode(bytes.substr(0, n)).ok()) << n;
}

TEST(CpuBatch, DamageIsNoHarm) {
  const std::string bytes = Encoded();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const char damage : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = damage;
      (void)Decode(damaged);  // under the sanitizers
    }
  std::string newer = bytes;
  newer[4] = 9;
  const Result<CpuBatchHead> head = Decode(newer);
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.error().code, ErrorCode::kFailed);
}

}  // namespace
}  // namespace clrscope::profile
