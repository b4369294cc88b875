// SPDX-License-Identifier: Apache-2.0
#include "store/slice_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "base/units.h"
#include "store/column_codec.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

using profile::Slice;
using profile::Source;
using testing::MakeProcess;
using testing::RandomSlice;

TEST(ColumnCodec, NumbersOfAllShapesReadBack) {
  std::mt19937_64 random(1);
  ColumnWriter w;
  std::vector<uint64_t> unsigneds = {0, 1, 127, 128, ~uint64_t{0}};
  std::vector<int64_t> signeds = {0, -1, 1, INT64_MIN, INT64_MAX};
  std::vector<double> numbers = {0, 1, 0.5, -3, 1e15, 1e15 - 1, 1e300, -0.25, 123456789};
  for (int i = 0; i < 1000; ++i) {
    unsigneds.push_back(random() >> (random() % 64));
    signeds.push_back(static_cast<int64_t>(random() >> (random() % 64)));
    numbers.push_back(static_cast<double>(random() % 1000000) /
                      (1 + static_cast<double>(random() % 4)));
  }
  for (const uint64_t v : unsigneds) w.Unsigned(v);
  for (const int64_t v : signeds) w.Signed(v);
  for (const double v : numbers) w.Number(v);
  w.Float(1.5f);
  const std::string blob = w.Finish();
  auto r = ColumnReader::Open(AsBytes(blob.data(), blob.size()));
  ASSERT_TRUE(r.ok());
  for (const uint64_t v : unsigneds) ASSERT_EQ(r->Unsigned(), v);
  for (const int64_t v : signeds) ASSERT_EQ(r->Signed(), v);
  for (const double v : numbers) ASSERT_EQ(r->Number(), v);
  EXPECT_EQ(r->Float(), 1.5f);
  EXPECT_TRUE(r->ok());
  (void)r->Unsigned();
  EXPECT_FALSE(r->ok());
}

TEST(SliceCodec, AttributesOfBothSchemas) {
  using profile::HeapKind;
  using profile::SeriesKey;
  for (const Source source : {Source::kForeign, Source::kTick, Source::kSampled, Source::kCounted})
    for (const HeapKind kind : {HeapKind::kSoh, HeapKind::kUnknown})
      for (const uint64_t size : {0u, 24u, 2000u, 4'000'000'000u}) {
        const SeriesKey key = SeriesKey::Make(0, 0, kind, source, profile::SizeClass(size));
        const uint64_t old = static_cast<uint64_t>(kind) | static_cast<uint64_t>(source) << 2 |
                             uint64_t{profile::SizeClass(size)} << 4;
        EXPECT_EQ(SeriesAttributes(old, 1), key.attributes);
        EXPECT_EQ(SeriesAttributes(key.attributes, 2), key.attributes);
      }
  const auto of = [](uint64_t source) { return source << 2; };
  EXPECT_TRUE(SeriesAttributes(of(profile::kSources - 1), 2));
  EXPECT_FALSE(SeriesAttributes(of(profile::kSources), 2));
  EXPECT_FALSE(SeriesAttributes(of(15), 2));
  EXPECT_FALSE(SeriesAttributes(0x10000, 2));
  EXPECT_FALSE(SeriesAttributes(0xFFFF, 1)) << "no size class is so large";
}

TEST(SliceCodec, AnySliceReadsBackExactly) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    StringPool strings;
    const auto t = MakeProcess(strings, seed, random() % 60);
    const Slice want = RandomSlice(random, *t, 0, kSecond, seed % 2 == 1);
    const std::string blob = EncodeSlice(want, t->series);
    Slice got;
    ASSERT_TRUE(DecodeSlice(AsBytes(blob.data(), blob.size()), t->series, got).ok());
    ASSERT_EQ(got.rows.size(), want.rows.size());
    for (size_t i = 0; i < want.rows.size(); ++i) {
      ASSERT_EQ(got.rows[i].series, want.rows[i].series);
      ASSERT_EQ(got.rows[i].sums.samples, want.rows[i].sums.samples);
      ASSERT_EQ(got.rows[i].sums.amount, want.rows[i].sums.amount);
      ASSERT_EQ(got.rows[i].sums.stands_for, want.rows[i].sums.stands_for);
    }
    ASSERT_EQ(got.threads.size(), want.threads.size());
    for (size_t i = 0; i < want.threads.size(); ++i) {
      ASSERT_EQ(got.threads[i].thread, want.threads[i].thread);
      ASSERT_EQ(got.threads[i].kind, want.threads[i].kind);
      ASSERT_EQ(got.threads[i].source, want.threads[i].source);
      ASSERT_EQ(got.threads[i].value.samples, want.threads[i].value.samples);
      ASSERT_EQ(got.threads[i].value.amount, want.threads[i].value.amount);
      ASSERT_EQ(got.threads[i].value.seen_count, want.threads[i].value.seen_count);
      // Errors are kept with the precision of a float.
      if (want.threads[i].source != Source::kSampled) continue;
      const double variance = want.threads[i].value.var_amount;
      ASSERT_NEAR(got.threads[i].value.var_amount, variance, 1e-6 * variance);
    }
    ASSERT_EQ(got.thread_ids, want.thread_ids);
    ASSERT_EQ(got.parts.size(), want.parts.size());
    for (size_t i = 0; i < want.parts.size(); ++i) {
      ASSERT_EQ(got.parts[i].series, want.parts[i].series);
      ASSERT_EQ(got.parts[i].thread, want.parts[i].thread);
      ASSERT_EQ(got.parts[i].sums.samples, want.parts[i].sums.samples);
      ASSERT_EQ(got.parts[i].sums.amount, want.parts[i].sums.amount);
      ASSERT_EQ(got.parts[i].sums.stands_for, want.parts[i].sums.stands_for);
    }
    // Any damage gives an error or a slice, never more.
    for (int k = 0; k < 20 && !blob.empty(); ++k) {
      std::string bad = blob;
      bad[random() % bad.size()] = static_cast<char>(random());
      Slice ignored;
      (void)DecodeSlice(AsBytes(bad.data(), bad.size()), t->series, ignored);
    }
  }
}

}  // namespace
}  // namespace clrscope::store
