// SPDX-License-Identifier: Apache-2.0
#include "profile/gc/gc_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

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

TEST(GcRecords, GiveBackWhatWasPacked) {
  std::mt19937_64 random(11);
  std::vector<GcRecord> wanted = {GcRecord()};
  for (int i = 0; i < 500; ++i) wanted.push_back(RandomGc(random));
  const GcRecords records(wanted.begin(), wanted.end()), copy = records;
  ASSERT_EQ(records.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ExpectSame(records[i].Unpack(), wanted[i]);
    ExpectSame(copy[i].Unpack(), wanted[i]);
    const GcSizes sizes = records[i].Sizes();
    EXPECT_EQ(std::memcmp(&sizes, static_cast<const GcSizes*>(&wanted[i]), sizeof(sizes)), 0);
  }
}

// Every half of a number alone, and every pattern of halves in every place.
TEST(GcRecords, KeepEachHalfOfANumber) {
  constexpr size_t kNumbers = sizeof(GcNumbers) / sizeof(uint64_t);
  std::vector<GcRecord> wanted;
  for (size_t first = 0; first + 2 <= kNumbers; ++first)
    for (unsigned set = 0; set < 16; ++set) {
      GcRecord r;
      auto* bytes = reinterpret_cast<std::byte*>(static_cast<GcNumbers*>(&r));
      for (unsigned half = 0; half < 4; ++half) {
        const uint32_t word = 0x1234 + half;
        if ((set >> half & 1) != 0)
          std::memcpy(bytes + first * sizeof(uint64_t) + half * sizeof(word), &word, sizeof(word));
      }
      wanted.push_back(r);
    }
  const GcRecords records(wanted.begin(), wanted.end());
  for (size_t i = 0; i < wanted.size(); ++i) ExpectSame(records[i].Unpack(), wanted[i]);
}

TEST(GcRecords, KeepWhatIsChangedInABrief) {
  std::mt19937_64 random(12);
  GcRecord r = RandomGc(random);
  GcRecords records = {r};
  records[0].number = r.number = 4711;
  records[0].flags = r.flags = kGcMaybeTouched;
  ExpectSame(records[0].Unpack(), r);
}

TEST(GcRecords, ChangeEachAllocatedEntryInItsPlace) {
  GcRecord r;
  r.top_types = {{1, 0, 10}, {2, 0, 20}};
  r.top_stacks = {{3, 7, 30}};
  GcRecords records = {r, GcRecord()};
  for (PackedGc& gc : records)
    gc.ChangeAllocated([](GcAllocated& a) {
      a.type += 100;
      if (a.node != 0) a.node += 100;
    });
  for (GcAllocated& a : r.top_types) a.type += 100;
  r.top_stacks[0] = {103, 107, 30};
  ExpectSame(records[0].Unpack(), r);
  ExpectSame(records[1].Unpack(), GcRecord());
  std::vector<uint32_t> types;
  for (const PackedGc& gc : records)
    gc.ForEachTopType([&](const GcAllocated& a) { types.push_back(a.type); });
  EXPECT_EQ(types, (std::vector<uint32_t>{101, 102}));
}

// Numbered from `first` on, of all sizes.
std::vector<GcRecord> Numbered(uint32_t first, uint32_t count) {
  std::mt19937_64 random(first);
  std::vector<GcRecord> out;
  for (uint32_t i = 0; i < count; ++i) {
    out.push_back(RandomGc(random));
    out.back().number = first + i;
  }
  return out;
}

void ExpectAll(const GcRecords& records, const std::vector<GcRecord>& wanted) {
  ASSERT_EQ(records.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) ExpectSame(records[i].Unpack(), wanted[i]);
}

TEST(GcRecords, OfManyStayWhereTheyAreWhileTheListGrows) {
  const std::vector<GcRecord> wanted = Numbered(0, 20'000);  // past every step of its growth
  ExpectAll(GcRecords(wanted.begin(), wanted.end()), wanted);
}

// They are kept as differences from others of their generation.
TEST(GcRecords, KeepNumbersThatAreFarApart) {
  constexpr int64_t kNumbers[] = {INT64_MIN, INT64_MAX, -1, 0, 1, INT64_MIN + 1};
  std::vector<GcRecord> wanted;
  for (uint32_t i = 0; i < 3000; ++i) {
    GcRecord& r = wanted.emplace_back();
    r.generation = static_cast<int32_t>(i % 5) - 1;
    for (size_t k = 0; k < r.mark_bytes.size(); ++k)
      r.mark_bytes[k] = kNumbers[(i + i / 7 * k) % std::size(kNumbers)];
  }
  ExpectAll(GcRecords(wanted.begin(), wanted.end()), wanted);
}

TEST(GcRecords, GoOnAfterTheyWereMoved) {
  const std::vector<GcRecord> wanted = Numbered(0, 300), more = Numbered(1000, 300);
  GcRecords records(wanted.begin(), wanted.end());
  {
    const GcRecords moved = std::move(records);
    ExpectAll(moved, wanted);
  }
  for (const GcRecord& r : more) records.push_back(r);  // NOLINT(bugprone-use-after-move)
  ExpectAll(records, more);
}

TEST(GcRecords, JoinOthers) {
  std::vector<GcRecord> wanted = Numbered(0, 10);
  const std::vector<GcRecord> more = Numbered(100, 300), last = Numbered(1000, 20);
  GcRecords records, others(more.begin(), more.end());
  records.Append(GcRecords(wanted.begin(), wanted.end()));
  records.Append(std::move(others));
  EXPECT_TRUE(others.empty()) << "what was moved goes on empty";
  others.push_back(last[0]);
  EXPECT_EQ(others.size(), 1u);
  records.Append(GcRecords());
  const GcRecords kept(last.begin(), last.end());
  records.Append(kept);
  for (const auto* part : {&more, &last}) wanted.insert(wanted.end(), part->begin(), part->end());
  ExpectAll(records, wanted);
  ExpectAll(kept, last);
}

TEST(GcRecords, ForgetTheFirstOrThoseThatAreNotWanted) {
  std::vector<GcRecord> wanted = Numbered(0, 50);
  GcRecords records(wanted.begin(), wanted.end());
  records.KeepLast(60);
  ExpectAll(records, wanted);
  records.KeepLast(40);
  wanted.erase(wanted.begin(), wanted.begin() + 10);
  ExpectAll(records, wanted);
  const auto odd = [](const GcBrief& gc) { return gc.number % 2 == 1; };
  EXPECT_EQ(erase_if(records, odd), 20u);
  std::erase_if(wanted, odd);
  ExpectAll(records, wanted);
}

}  // namespace
}  // namespace clrscope::profile
