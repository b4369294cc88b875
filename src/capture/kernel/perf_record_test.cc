// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/perf_record.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "capture/kernel/record_ring.h"

namespace clrscope::capture {
namespace {

// Writes records as the kernel does.
class RecordBytes {
 public:
  explicit RecordBytes(uint32_t type, uint16_t misc = 0) {
    Put(type);
    Put(misc);
    Put(uint16_t{0});
  }
  template <class T>
  RecordBytes& Put(T value) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
    return *this;
  }
  RecordBytes& Trailer(int32_t pid, int32_t tid, int64_t time, uint64_t id) {
    return Put(pid).Put(tid).Put(time).Put(id);
  }
  std::vector<std::byte> Done() {
    const auto size = static_cast<uint16_t>(bytes_.size());
    std::memcpy(bytes_.data() + 6, &size, sizeof size);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> SampleBytes(int64_t time, const std::vector<uint64_t>& chain,
                                   const std::vector<uint64_t>& stack, uint64_t real_bytes) {
  RecordBytes r(9, 2);
  r.Put(uint64_t{0x1234}).Put(int32_t{7}).Put(int32_t{8}).Put(time).Put(uint64_t{55});
  r.Put(uint64_t{1'000'000}).Put(uint64_t{chain.size()});
  for (const uint64_t a : chain) r.Put(a);
  r.Put(uint64_t{2});
  for (int i = 0; i < kPerfUserRegCount; ++i) r.Put(static_cast<uint64_t>(100 + i));
  r.Put(uint64_t{stack.size() * 8});
  for (const uint64_t word : stack) r.Put(word);
  if (!stack.empty()) r.Put(real_bytes);
  return r.Done();
}

constexpr uint64_t kInKernel = static_cast<uint64_t>(-128), kInUser = static_cast<uint64_t>(-512),
                   kInGuest = static_cast<uint64_t>(-2048);

TEST(PerfRecord, ASampleHasItsFields) {
  const auto bytes = SampleBytes(99, {kInKernel, 1, 2, kInUser, 3, 4, 5}, {11, 12, 13, 14}, 24);
  const PerfRecord r = DecodePerfRecord(bytes);
  ASSERT_EQ(r.kind, PerfKind::kSample);
  EXPECT_EQ(r.sample.ip, 0x1234u);
  EXPECT_EQ(r.sample.pid, 7);
  EXPECT_EQ(r.sample.tid, 8);
  EXPECT_EQ(r.sample.time_ns, 99);
  EXPECT_EQ(r.sample.id, 55u);
  EXPECT_EQ(r.sample.period, 1'000'000u);
  EXPECT_FALSE(r.sample.in_kernel);
  EXPECT_TRUE(r.sample.regs.known);
  EXPECT_EQ(r.sample.regs.fp, 100u);
  // Of 32 bytes the stack had 24.
  ASSERT_EQ(r.sample.stack.size(), 24u);
  EXPECT_EQ(LoadAt<uint64_t>(r.sample.stack.data() + 16), 13u);
  EXPECT_EQ(PerfRecordTime(bytes), 99);
}

TEST(PerfRecord, AChainIsSplitByItsMarkers) {
  const std::vector<uint64_t> words = {9, kInKernel, 1, 2, kInGuest, 8, kInUser, 3, 4, 5};
  std::vector<uint64_t> kernel, user;
  const auto split = [&](size_t most) {
    kernel.clear(), user.clear();
    return SplitPerfChain(
        AsBytes(words.data(), words.size() * 8), most, [&](uint64_t a) { kernel.push_back(a); },
        [&](uint64_t a) { user.push_back(a); });
  };
  EXPECT_EQ(split(100), 5u);
  EXPECT_EQ(kernel, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(user, (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_EQ(split(3), 3u);
  EXPECT_EQ(user, (std::vector<uint64_t>{3}));
}

TEST(PerfRecord, OtherKinds) {
  auto bytes = RecordBytes(2).Put(uint64_t{1}).Put(uint64_t{17}).Trailer(7, 8, 5, 55).Done();
  PerfRecord r = DecodePerfRecord(bytes);
  EXPECT_EQ(r.kind, PerfKind::kLost);
  EXPECT_EQ(r.lost, 17u);
  EXPECT_EQ(PerfRecordTime(bytes), 5);

  bytes = RecordBytes(13).Put(uint64_t{3}).Trailer(7, 8, 5, 55).Done();
  EXPECT_EQ(DecodePerfRecord(bytes).lost, 3u);

  bytes =
      RecordBytes(5).Put(uint64_t{5}).Put(uint64_t{1}).Put(uint64_t{1}).Trailer(7, 8, 5, 55).Done();
  EXPECT_EQ(DecodePerfRecord(bytes).kind, PerfKind::kThrottle);

  const std::array<char, 16> name = {"gc worker"};
  bytes = RecordBytes(3, 1u << 13)
              .Put(int32_t{7})
              .Put(int32_t{9})
              .Put(name)
              .Trailer(7, 8, 5, 55)
              .Done();
  r = DecodePerfRecord(bytes);
  EXPECT_EQ(r.kind, PerfKind::kName);
  EXPECT_EQ(r.sample.tid, 9);  // the one that is named, not the one that names it
  EXPECT_EQ(r.name, "gc worker");
  EXPECT_TRUE(r.exec);

  for (const uint32_t type : {4u, 7u}) {
    bytes = RecordBytes(type)
                .Put(int32_t{7})
                .Put(int32_t{6})
                .Put(int32_t{9})
                .Put(int32_t{8})
                .Put(int64_t{77})
                .Trailer(7, 8, 5, 55)
                .Done();
    r = DecodePerfRecord(bytes);
    EXPECT_EQ(r.kind, type == 4 ? PerfKind::kExit : PerfKind::kFork);
    EXPECT_EQ(r.sample.tid, 9);
    EXPECT_EQ(r.parent_tid, 8);
    EXPECT_EQ(r.sample.time_ns, 77);
  }
  bytes = RecordBytes(17).Put(uint64_t{3}).Trailer(7, 8, 5, 55).Done();
  EXPECT_EQ(DecodePerfRecord(bytes).kind, PerfKind::kOther);
}

TEST(PerfRecord, WhatIsCutIsMalformed) {
  const auto whole = SampleBytes(99, {kInUser, 3, 4, 5}, {11, 12}, 16);
  for (size_t n = 0; n < whole.size(); ++n) {
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(DecodePerfRecord(cut).kind, PerfKind::kMalformed) << n;
    if (n < 8) continue;
    const auto size = static_cast<uint16_t>(n);
    std::memcpy(cut.data() + 6, &size, sizeof size);
    EXPECT_EQ(DecodePerfRecord(cut).kind, PerfKind::kMalformed) << n;
  }
  // More addresses than can be.
  auto lies = whole;
  const uint64_t many = ~uint64_t{0} / 8 + 2;
  std::memcpy(lies.data() + 48, &many, sizeof many);
  EXPECT_EQ(DecodePerfRecord(lies).kind, PerfKind::kMalformed);
}

TEST(PerfRecord, AnyBytesAreSurvived) {
  std::mt19937_64 random(1);
  const auto whole = SampleBytes(99, {kInKernel, 1, kInUser, 3, 4, 5}, {11, 12}, 16);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const uint32_t type = random() % 16;
    if (round % 2 == 0) std::memcpy(bytes.data(), &type, sizeof type);
    const PerfRecord r = DecodePerfRecord(bytes);
    (void)PerfRecordTime(bytes);
    EXPECT_LE(r.sample.chain.size() + r.sample.stack.size(), bytes.size());
  }
}

// A ring of 128 bytes that is filled and read again and again.
TEST(RecordRing, RecordsThatWrapAroundAreWhole) {
  std::vector<std::byte> data(128);
  RecordRing ring{Bytes(data)};
  uint64_t head = 0;
  uint64_t next = 0, read = 0;
  for (int round = 0; round < 200; ++round) {
    for (;;) {
      RecordBytes record(17);
      for (uint64_t i = 0; i <= next % 4; ++i) record.Put(next);
      const auto bytes = record.Done();
      if (head + bytes.size() - ring.tail() > data.size()) break;
      for (const std::byte b : bytes) data[head++ % data.size()] = b;
      ++next;
    }
    ring.Set(ring.tail(), head);
    while (!ring.empty()) {
      const Bytes record = ring.Peek();
      ASSERT_EQ(record.size(), 8 + 8 * (read % 4 + 1));
      for (size_t at = 8; at < record.size(); at += 8)
        ASSERT_EQ(LoadAt<uint64_t>(record.data() + at), read);
      ring.Drop();
      ++read;
    }
  }
  EXPECT_EQ(read, next);
  EXPECT_GT(read, 400u);
  EXPECT_EQ(ring.TakeMalformed(), 0u);
}

TEST(RecordRing, WhatContradictsItselfEndsIt) {
  for (const uint16_t size : {uint16_t{0}, uint16_t{7}, uint16_t{40}}) {
    std::vector<std::byte> data(64);
    std::memcpy(data.data() + 6, &size, sizeof size);
    RecordRing ring{Bytes(data)};
    ring.Set(0, 32);
    EXPECT_TRUE(ring.Peek().empty()) << size;
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(ring.tail(), 32u);
    EXPECT_EQ(ring.TakeMalformed(), 1u);
  }
  std::vector<std::byte> data(64);
  RecordRing ring{Bytes(data)};
  ring.Set(0, 65);  // more than there is
  EXPECT_TRUE(ring.Peek().empty());
  ring.Set(65, 70);  // no header
  EXPECT_TRUE(ring.Peek().empty());
  EXPECT_EQ(ring.TakeMalformed(), 2u);
}

}  // namespace
}  // namespace clrscope::capture
