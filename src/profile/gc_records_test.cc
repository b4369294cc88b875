// SPDX-License-Identifier: Apache-2.0
#include "profile/gc_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace clrscope::profile {
namespace {

template <class T>
void FillAtRandom(std::mt19937_64& random, T& value) {
  std::array<uint32_t, sizeof(T) / sizeof(uint32_t)> words;
  std::memcpy(words.data(), static_cast<const void*>(&value), sizeof(T));
  for (uint32_t& word : words)
    if (random() % 3 == 0) word = static_cast<uint32_t>(random());
  std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
}

bool Same(const GcNumbers& a, const GcNumbers& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

GcRecord RandomGc(std::mt19937_64& random) {
  GcRecord r;
  r.number = static_cast<uint32_t>(random());
  r.flags = static_cast<uint16_t>(random());
  r.start_ns = static_cast<int64_t>(random());
  FillAtRandom(random, static_cast<GcNumbers&>(r));
  r.heaps.resize(random() % 5 == 0 ? random() % 300 : 1);
  for (GcHeap& heap : r.heaps) FillAtRandom(random, heap);
  r.top_types.resize(random() % 9);
  r.top_stacks.resize(random() % 33);
  for (auto* top : {&r.top_types, &r.top_stacks})
    for (GcAllocated& a : *top) FillAtRandom(random, a);
  return r;
}

void ExpectSame(const GcRecord& a, const GcRecord& b) {
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.start_ns, b.start_ns);
  EXPECT_TRUE(Same(a, b));
  ASSERT_EQ(a.heaps.size(), b.heaps.size());
  for (size_t i = 0; i < a.heaps.size(); ++i)
    EXPECT_EQ(std::memcmp(&a.heaps[i], &b.heaps[i], sizeof(GcHeap)), 0) << i;
  for (const auto top : {&GcRecord::top_types, &GcRecord::top_stacks}) {
    ASSERT_EQ((a.*top).size(), (b.*top).size());
    for (size_t i = 0; i < (a.*top).size(); ++i)
      EXPECT_EQ(std::memcmp(&(a.*top)[i], &(b.*top)[i], sizeof(GcAllocated)), 0) << i;
  }
}

TEST(PackedGc, GivesBackWhatWasPacked) {
  std::mt19937_64 random(11);
  ExpectSame(PackedGc(GcRecord()).Unpack(), GcRecord());
  for (int i = 0; i < 500; ++i) {
    const GcRecord r = RandomGc(random);
    const PackedGc packed = r, copy = packed;
    ExpectSame(packed.Unpack(), r);
    ExpectSame(copy.Unpack(), r);
  }
}

TEST(PackedGc, KeepsWhatIsChangedInItsBrief) {
  std::mt19937_64 random(12);
  GcRecord r = RandomGc(random);
  PackedGc packed = r;
  packed.number = r.number = 4711;
  packed.flags = r.flags = kGcMaybeTouched;
  ExpectSame(packed.Unpack(), r);
}

TEST(PackedGc, ChangesEachAllocatedEntryInItsPlace) {
  GcRecord r;
  r.top_types = {{1, 0, 10}, {2, 0, 20}};
  r.top_stacks = {{3, 7, 30}};
  PackedGc packed = r;
  packed.ChangeAllocated([](GcAllocated& a) {
    a.type += 100;
    if (a.node != 0) a.node += 100;
  });
  for (GcAllocated& a : r.top_types) a.type += 100;
  r.top_stacks[0] = {103, 107, 30};
  ExpectSame(packed.Unpack(), r);
}

}  // namespace
}  // namespace clrscope::profile
