// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/late_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace clrscope::analysis {
namespace {

using profile::SeriesKey;
using profile::Source;

class LateSink final : public profile::SliceSink {
 public:
  void OnSlice(profile::Slice&& s) override { slices.push_back(std::move(s)); }
  std::vector<profile::Slice> slices;
};

TEST(LateSlices, EverySliceIsInOrderAndNothingIsLost) {
  auto random = [engine = std::mt19937(11)]() mutable { return static_cast<uint32_t>(engine()); };
  profile::ProcessTables tables;
  LateSink sink;
  constexpr int64_t kSlice = 1'000;
  LateSlices late({&tables, &sink, 3, kSlice});
  using Row = std::tuple<int64_t, uint32_t, Source>;  // slice, node, source
  std::map<Row, uint64_t> want, got;
  std::map<std::tuple<int64_t, uint32_t, Source, uint64_t>, uint64_t> want_parts, got_parts;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 2'000; ++i) {
      const auto time = static_cast<int64_t>(random() % 30'000) - 500;
      const uint32_t node = 2 + random() % 30;
      const Source source = random() % 2 == 0 ? Source::kSampled : Source::kException;
      const uint64_t thread = random() % 50;
      const uint64_t n = 1 + random() % 3;
      late.Add(time, SeriesKey::Make(node, 0, profile::HeapKind::kUnknown, source, 0), 0, 8, thread,
               {n, 10 * n, n});
      const int64_t slice = std::max<int64_t>(0, time) / kSlice;
      want[{slice, node, source}] += n;
      if (source == Source::kSampled) want_parts[{slice, node, source, thread}] += n;
    }
    late.Flush();
  }
  late.Flush();  // nothing waits
  EXPECT_LE(sink.slices.size(), 20u * 30u);
  for (const profile::Slice& s : sink.slices) {
    EXPECT_EQ(s.process, 3u);
    EXPECT_EQ(s.start_ns % kSlice, 0);
    EXPECT_EQ(s.end_ns - s.start_ns, kSlice);
    for (size_t i = 0; i < s.rows.size(); ++i) {
      if (i > 0) {
        ASSERT_LT(s.rows[i - 1].series, s.rows[i].series);
      }
      const SeriesKey& key = tables.series.keys()[s.rows[i].series];
      EXPECT_EQ(s.rows[i].sums.amount, 10 * s.rows[i].sums.samples);
      got[{s.start_ns / kSlice, key.node, key.source()}] += s.rows[i].sums.samples;
    }
    ASSERT_TRUE(std::is_sorted(s.thread_ids.begin(), s.thread_ids.end()));
    for (size_t i = 0; i < s.parts.size(); ++i) {
      const profile::ThreadPart& p = s.parts[i];
      if (i > 0) {
        ASSERT_LT(std::tuple(s.parts[i - 1].series, s.parts[i - 1].thread),
                  std::tuple(p.series, p.thread));
      }
      const SeriesKey& key = tables.series.keys()[p.series];
      got_parts[{s.start_ns / kSlice, key.node, key.source(), s.thread_ids.at(p.thread)}] +=
          p.sums.samples;
    }
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(got_parts, want_parts);
}

TEST(LateSlices, SeriesPastTheBoundAreCounted) {
  profile::ProcessTables tables(profile::StackTree::kDefaultMaxNodes, 5);
  LateSink sink;
  LateSlices late({&tables, &sink, 0, 1'000});
  for (uint32_t node = 2; node < 40; ++node)
    late.Add(0, SeriesKey::Make(node, 0, profile::HeapKind::kUnknown, Source::kException, 0), 0, 0,
             0, {1, 0, 1});
  late.Flush();
  ASSERT_EQ(sink.slices.size(), 1u);
  uint64_t samples = 0;
  for (const profile::SliceRow& r : sink.slices[0].rows) samples += r.sums.samples;
  EXPECT_EQ(samples, 38u);
  EXPECT_GT(tables.losses[Loss::kSeriesCapped], 0u);
}

}  // namespace
}  // namespace clrscope::analysis
