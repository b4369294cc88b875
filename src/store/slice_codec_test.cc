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
      ASSERT_EQ(got.rows[i].sums.size_sum, want.rows[i].sums.size_sum);
      ASSERT_EQ(got.rows[i].sums.amount_sum, want.rows[i].sums.amount_sum);
    }
    ASSERT_EQ(got.threads.size(), want.threads.size());
    for (size_t i = 0; i < want.threads.size(); ++i) {
      ASSERT_EQ(got.threads[i].thread, want.threads[i].thread);
      ASSERT_EQ(got.threads[i].kind, want.threads[i].kind);
      ASSERT_EQ(got.threads[i].source, want.threads[i].source);
      ASSERT_EQ(got.threads[i].value.samples, want.threads[i].value.samples);
      ASSERT_EQ(got.threads[i].value.bytes, want.threads[i].value.bytes);
      ASSERT_EQ(got.threads[i].value.seen_objects, want.threads[i].value.seen_objects);
      // Errors are kept with the precision of a float.
      if (want.threads[i].source != Source::kSampled) continue;
      const double variance = want.threads[i].value.var_bytes;
      ASSERT_NEAR(got.threads[i].value.var_bytes, variance, 1e-6 * variance);
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
