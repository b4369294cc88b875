// SPDX-License-Identifier: Apache-2.0
#include "store/gc_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "store/column_codec.h"

namespace clrscope::store {
namespace {

using profile::GcRecord;

GcRecord RandomGc(std::mt19937_64& random, uint32_t number) {
  const auto value = [&] { return static_cast<int64_t>(random() >> (10 + random() % 54)) - 1; };
  GcRecord r;
  r.number = number;
  r.generation = static_cast<int32_t>(number % 3);
  r.start_ns = int64_t{number} * 1'000'000;
  r.end_ns = r.start_ns + 500;
  r.flags = static_cast<uint16_t>(random());
  r.triggered_ns = number % 4 == 0 ? r.start_ns - 100 : -1;
  r.pause_start_ns = r.start_ns - value() % 1000;
  r.restart_ns = r.start_ns + value() % 100000;
  r.previous_restart_ns = number % 5 == 0 ? -1 : r.start_ns - 77;
  r.pause_ns = value();
  r.initial_pause_ns = value();
  r.final_pause_ns = value();
  r.suspend_ns = value();
  r.longest_suspend_ns = value();
  for (int64_t& v : r.promoted) v = value();
  r.finalization_promoted_bytes = value();
  r.pinned_objects = value();
  r.handles = value();
  r.generations = 5;
  for (auto& g : r.generation_data) {
    g.size_before = value();
    g.free_list_after = value();
    g.pinned_survived = value();
    g.budget = value();
  }
  r.free_list_allocated = value();
  r.heap_count = static_cast<int32_t>(random() % 64);
  r.mechanisms = value();
  r.condemn_reasons0 = value();
  for (int64_t& v : r.phase_us) v = value();
  for (int64_t& v : r.mark_ns) v = value();
  for (int64_t& v : r.mark_bytes) v = value();
  if (number % 2 == 0) r.committed_after.in_use = value();
  r.wanted_heap_count = static_cast<int32_t>(random() % 8);
  r.trigger_node = static_cast<uint32_t>(random() % 100);
  for (int64_t& v : r.ticked_bytes) v = value();
  r.sampled_bytes = value();
  r.heaps.resize(random() % 4);
  for (profile::GcHeap& h : r.heaps) {
    h.heap = static_cast<uint32_t>(&h - r.heaps.data());
    h.condemn_reasons0 = static_cast<uint32_t>(random());
    h.survived = value();
    h.mark_ns = value();
    h.survival_percent[1] = static_cast<int32_t>(random() % 101);
  }
  for (size_t i = 0; i < random() % 9; ++i)
    r.top_types.push_back({static_cast<uint32_t>(i + 1), 0, std::max<int64_t>(value(), 0)});
  for (size_t i = 0; i < random() % 33; ++i)
    r.top_stacks.push_back({static_cast<uint32_t>(i), 7, std::max<int64_t>(value(), 0)});
  return r;
}

// What the row of table `gc` holds.
GcRecord RowOf(const GcRecord& r) {
  GcRecord row;
  row.process = r.process;
  row.number = r.number;
  row.generation = r.generation;
  row.type = r.type;
  row.reason = r.reason;
  row.start_ns = r.start_ns;
  row.end_ns = r.end_ns;
  row.size_after = r.size_after;
  return row;
}

void ExpectEqual(const GcRecord& a, const GcRecord& b) {
  // The codec knows every field: equal records have equal blobs, and those that are checked by
  // name below keep it honest.
  EXPECT_EQ(EncodeGcDetails(std::span(&a, 1)), EncodeGcDetails(std::span(&b, 1)));
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.triggered_ns, b.triggered_ns);
  EXPECT_EQ(a.pause_start_ns, b.pause_start_ns);
  EXPECT_EQ(a.previous_restart_ns, b.previous_restart_ns);
  EXPECT_EQ(a.pause_ns, b.pause_ns);
  EXPECT_EQ(a.promoted, b.promoted);
  EXPECT_EQ(a.phase_us, b.phase_us);
  EXPECT_EQ(a.mark_bytes, b.mark_bytes);
  EXPECT_EQ(a.committed_after.in_use, b.committed_after.in_use);
  EXPECT_EQ(a.ticked_bytes, b.ticked_bytes);
  EXPECT_EQ(a.sampled_bytes, b.sampled_bytes);
  for (size_t g = 0; g < profile::kGcGenerations; ++g) {
    EXPECT_EQ(a.generation_data[g].budget, b.generation_data[g].budget);
    EXPECT_EQ(a.generation_data[g].survived(), b.generation_data[g].survived());
  }
  ASSERT_EQ(a.heaps.size(), b.heaps.size());
  for (size_t h = 0; h < a.heaps.size(); ++h) {
    EXPECT_EQ(a.heaps[h].condemn_reasons0, b.heaps[h].condemn_reasons0);
    EXPECT_EQ(a.heaps[h].survival_percent, b.heaps[h].survival_percent);
  }
  ASSERT_EQ(a.top_types.size(), b.top_types.size());
  ASSERT_EQ(a.top_stacks.size(), b.top_stacks.size());
  for (size_t i = 0; i < a.top_stacks.size(); ++i) {
    EXPECT_EQ(a.top_stacks[i].type, b.top_stacks[i].type);
    EXPECT_EQ(a.top_stacks[i].node, b.top_stacks[i].node);
    EXPECT_EQ(a.top_stacks[i].bytes, b.top_stacks[i].bytes);
  }
}

TEST(GcCodec, EveryFieldComesBack) {
  std::mt19937_64 random(11);
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 300; ++i) gcs.push_back(RandomGc(random, i));
  const std::string blob = EncodeGcDetails(gcs);
  std::vector<GcRecord> read;
  for (const GcRecord& r : gcs) read.push_back(RowOf(r));
  ASSERT_TRUE(DecodeGcDetails(AsBytes(blob.data(), blob.size()), read).ok());
  for (size_t i = 0; i < gcs.size(); ++i) ExpectEqual(gcs[i], read[i]);
}

TEST(GcCodec, WhatIsUnknownStaysUnknown) {
  const std::vector<GcRecord> gcs(3);
  const std::string blob = EncodeGcDetails(gcs);
  std::vector<GcRecord> read(3);
  ASSERT_TRUE(DecodeGcDetails(AsBytes(blob.data(), blob.size()), read).ok());
  ExpectEqual(read[2], GcRecord());
  EXPECT_EQ(read[2].pause_ns, -1);
  EXPECT_FALSE(read[2].committed_before.known());
}

TEST(GcCodec, SteadyCollectionsAreSmall) {
  std::mt19937_64 random(3);
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 512; ++i) {
    GcRecord r;
    r.number = i;
    r.start_ns = int64_t{i} * 10'000'000;
    r.pause_start_ns = r.start_ns - 30'000;
    r.restart_ns = r.start_ns + 200'000 + static_cast<int64_t>(random() % 50'000);
    r.pause_ns = r.restart_ns - r.pause_start_ns;
    r.generations = 5;
    r.generation_data[0].size_before = 6 << 20;
    r.heaps.resize(1);
    gcs.push_back(r);
  }
  EXPECT_LT(EncodeGcDetails(gcs).size(), 512u * 24);
}

TEST(GcCodec, DamageIsAnErrorOrHarmless) {
  std::mt19937_64 random(5);
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 20; ++i) gcs.push_back(RandomGc(random, i));
  ColumnWriter w;
  const std::string good = EncodeGcDetails(gcs);
  auto plain = ColumnReader::Open(AsBytes(good.data(), good.size()));
  ASSERT_TRUE(plain.ok());
  std::vector<uint64_t> values;
  while (plain->ok() && plain->remaining() > 0) values.push_back(plain->Unsigned());
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint64_t> bad = values;
    bad[random() % bad.size()] = random() >> (random() % 64);
    if (round % 3 == 0) bad.resize(random() % bad.size());
    for (const uint64_t v : bad) w.Unsigned(v);
    const std::string blob = w.Finish();
    std::vector<GcRecord> read(gcs.size());
    const Status status = DecodeGcDetails(AsBytes(blob.data(), blob.size()), read);
    if (!status.ok()) {
      EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
      continue;
    }
    for (const GcRecord& r : read) EXPECT_LE(r.generations, profile::kGcGenerations);
  }
}

}  // namespace
}  // namespace clrscope::store
