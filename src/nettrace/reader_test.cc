// SPDX-License-Identifier: Apache-2.0
// The reader against synthetic streams: what is whole arrives, in order.
#include "nettrace/reader.h"

#include <gtest/gtest.h>

#include <random>

#include "nettrace/testing/shapes.h"

namespace clrscope::nettrace {
namespace {

using clr::StackState;
using testing::At;
using testing::EventRowSpec;
using testing::kTick;
using testing::MetadataRow;
using testing::ReadAll;
using testing::ReadResult;
using testing::SeenEvent;
using testing::SyntheticWriter;
using testing::Times;
using testing::WriterOptions;

class ReaderOrder : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, ReaderOrder, ::testing::ValuesIn(testing::kShapes),
                         testing::ShapeName);

TEST_P(ReaderOrder, EventsArriveInOrderOfTimeWithAllTheirFields) {
  const SyntheticWriter w = Rich();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_FALSE(r.error) << r.error->message;
  EXPECT_TRUE(r.ended);
  ASSERT_EQ(r.sink.events.size(), 21u);
  const std::vector<int64_t> times = Times(r);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 0u);
  EXPECT_EQ(r.losses[Loss::kUnknownBlock], 2u);
  EXPECT_EQ(r.losses[Loss::kTruncatedInput], 0u);

  const SeenEvent& first = r.sink.events[0];
  EXPECT_EQ(first.time_ns, 10);
  EXPECT_EQ(first.provider, "Microsoft-Windows-DotNETRuntime");
  EXPECT_EQ(first.id, 10u);
  EXPECT_EQ(first.version, 4u);
  EXPECT_EQ(first.payload, "p10");
  EXPECT_EQ(first.process, 4711u);
  EXPECT_EQ(first.thread, v6() ? 9100u : 100u);
  EXPECT_EQ(first.stack_state, StackState::kNone);
  EXPECT_EQ(first.activity, "");
  // 10 13 20 23 30 33 40 43 50 53: the third of thread 100 has another kind and an activity.
  const SeenEvent& other = r.sink.events[4];
  EXPECT_EQ(other.time_ns, 30);
  EXPECT_EQ(other.provider, "My-Source");
  EXPECT_EQ(other.id, 7u);
  EXPECT_EQ(other.activity, "aaaaaaaaaaaaaaaa");
  EXPECT_EQ(other.related, "bbbbbbbbbbbbbbbb");
  EXPECT_EQ(r.sink.events[6].activity, "");
  // The last two of thread 200's capture buffer are about thread 300.
  EXPECT_EQ(r.sink.events[9].thread, v6() ? 9300u : 300u);
  EXPECT_EQ(r.sink.events[9].process, v6() ? 4712u : 4711u);
}

TEST_P(ReaderOrder, StacksAreFoundAndStartAgainAfterASequencePoint) {
  const ReadResult r = ReadAll(Rich().bytes());
  ASSERT_EQ(r.sink.events.size(), 21u);
  const SeenEvent& one = r.sink.events[2];  // time 20, stack 1
  EXPECT_EQ(one.stack_state, StackState::kPresent);
  EXPECT_EQ(one.stack, (std::vector<uint64_t>{0x1000, 0x2000, 0x3000}));
  EXPECT_EQ(r.sink.events[4].stack_state, StackState::kNone);  // stack 2 is empty
  EXPECT_EQ(r.sink.events[6].stack, (std::vector<uint64_t>{0x1004, 0x3000}));
  const SeenEvent& again = r.sink.events[12];  // time 1020, stack 1 of the second half
  EXPECT_EQ(again.time_ns, 1020);
  EXPECT_EQ(again.stack, (std::vector<uint64_t>{0x7000}));
}

TEST_P(ReaderOrder, AnyChunkSizeGivesTheSameEvents) {
  const SyntheticWriter w = Rich();
  const ReadResult whole = ReadAll(w.bytes());
  for (const size_t chunk : {1u, 2u, 3u, 7u, 64u, 1000u}) {
    const ReadResult pieces = ReadAll(w.bytes(), chunk);
    EXPECT_EQ(pieces.sink.events, whole.sink.events) << "chunks of " << chunk;
    EXPECT_TRUE(pieces.ended);
  }
  std::mt19937 random(7);
  for (int run = 0; run < 50; ++run) {
    testing::CollectingSink sink;
    Reader reader(&sink);
    for (Bytes rest = w.bytes(); !rest.empty();) {
      const size_t n = std::min<size_t>(rest.size(), random() % 97);
      ASSERT_TRUE(reader.Feed(rest.first(n)).ok());
      rest = rest.subspan(n);
    }
    reader.Finish();
    ASSERT_EQ(sink.events, whole.sink.events) << "run " << run;
  }
}

TEST_P(ReaderOrder, RestingInMidRoundChangesNothing) {
  const SyntheticWriter w = Rich();
  const ReadResult whole = ReadAll(w.bytes());
  for (const size_t chunk : {1u, 7u, 64u, 1000u}) {
    testing::CollectingSink sink;
    Reader reader(&sink);
    for (Bytes rest = w.bytes(); !rest.empty(); rest = rest.subspan(std::min(chunk, rest.size()))) {
      // A buffer of its own, which is gone before the next one comes.
      const Bytes piece = rest.first(std::min(chunk, rest.size()));
      ASSERT_TRUE(reader.Feed(std::vector<std::byte>(piece.begin(), piece.end())).ok());
      reader.Rest(/*quiet=*/false);
    }
    reader.Finish();
    EXPECT_EQ(sink.events, whole.sink.events) << "chunks of " << chunk;
  }
}

// No runtime streams V6.
class StreamedReaderOrder : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, StreamedReaderOrder,
                         ::testing::ValuesIn(testing::ShapesWhere([](const testing::Shape& s) {
                           return s.version < 6;
                         })),
                         testing::ShapeName);

TEST_P(StreamedReaderOrder, AQuietStreamDeliversWhatWaits) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(5, 100, false), At(7, 100, false)});
  testing::CollectingSink sink;
  Reader reader(&sink);
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  reader.Rest(/*quiet=*/false);
  EXPECT_EQ(sink.events.size(), 0u);
  reader.Rest(/*quiet=*/true);
  EXPECT_EQ(sink.events.size(), 2u);
}

TEST_P(ReaderOrder, AStreamPastItsLimitDeliversWhatWaits) {
  SyntheticWriter w(Options());
  w.Metadata({kTick});
  for (int64_t i = 0; i < 3000; ++i) w.Events({At(i, 100, false)});
  const ReadResult whole = ReadAll(w.bytes());
  testing::CollectingSink sink;
  Reader::Limits limits;
  limits.chunk_bytes = 16 << 10;
  limits.retained_bytes = 16 << 10;
  Reader reader(&sink, limits);
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  EXPECT_GT(sink.events.size(), 0u) << "no sequence point came";
  reader.Finish();
  EXPECT_EQ(sink.events, whole.sink.events);
}

TEST_P(ReaderOrder, LargeMetadataIdsWork) {
  MetadataRow big = kTick;
  big.id = 0x7FFFFFFF;
  SyntheticWriter w(Options());
  w.Metadata({big});
  EventRowSpec e = At(1);
  e.metadata = big.id;
  w.Event(e).End();
  EXPECT_EQ(ReadAll(w.bytes()).sink.events.size(), 1u);
}

TEST_P(ReaderOrder, BytesAfterTheEndAreIgnored) {
  SyntheticWriter w = Rich();
  w.Raw("garbage that is no block");
  const ReadResult r = ReadAll(w.bytes(), 5);
  EXPECT_FALSE(r.error);
  EXPECT_EQ(r.sink.events.size(), 21u);
}

TEST_P(ReaderOrder, ClockOfAnyRateBecomesNanoseconds) {
  WriterOptions o = Options();
  o.ticks_per_second = 10'000'000;
  o.sync_ticks = 5'000;
  SyntheticWriter w(o);
  w.Metadata({kTick}).Events({At(5'001), At(10'005'000)}).End();
  EXPECT_EQ(Times(ReadAll(w.bytes())), (std::vector<int64_t>{100, 1'000'000'000}));
}

TEST_P(ReaderOrder, HeaderIsDecoded) {
  SyntheticWriter w(Options());
  w.End();
  const ReadResult r = ReadAll(w.bytes());
  EXPECT_EQ(r.sink.info.version, GetParam().version);
  EXPECT_EQ(r.sink.info.pointer_size, GetParam().pointer_size);
  EXPECT_EQ(r.sink.info.pid, 4711u);
  EXPECT_EQ(r.sink.info.processors, 2u);
  EXPECT_EQ(r.sink.info.sync_unix_ns, 1772284455'167'000'000);  // 2026-02-28 13:14:15.167
}

// --- Merging ---

TEST_P(ReaderOrder, MergeAcrossThreadsIsByTime) {
  // Random interleavings of per-thread sorted runs between sequence points.
  std::mt19937 random(3);
  for (int run = 0; run < 30; ++run) {
    SyntheticWriter w(Options());
    w.Metadata({kTick});
    std::vector<int64_t> want;
    int64_t base = 0;
    for (int point = 0; point < 3; ++point) {
      std::vector<std::vector<EventRowSpec>> threads(1 + random() % 6);
      for (size_t t = 0; t < threads.size(); ++t) {
        int64_t time = base;
        for (size_t i = random() % 30; i-- > 0;) {
          time += static_cast<int64_t>(random() % 3);  // ties happen
          threads[t].push_back(At(time, uint64_t{100} + t, false));
          want.push_back(time);
        }
      }
      for (const auto& rows : threads)
        if (!rows.empty()) w.Events(rows);
      base += 1000;
      w.SequencePoint(base, w.Sequences());
    }
    w.End();
    std::sort(want.begin(), want.end());
    const ReadResult r = ReadAll(w.bytes());
    ASSERT_EQ(Times(r), want) << "run " << run;
    ASSERT_EQ(r.losses[Loss::kEventsDropped], 0u);
  }
}

// The bit is ambiguous in plain V6, where everything waits.
class SortedReaderOrder : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, SortedReaderOrder,
                         ::testing::ValuesIn(testing::ShapesWhere([](const testing::Shape& s) {
                           return s.version < 6 || s.compressed;
                         })),
                         testing::ShapeName);

TEST_P(SortedReaderOrder, SortedEventReleasesWhatIsOlder) {
  testing::CollectingSink sink;
  Reader reader(&sink);
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(10, 100, false), At(30, 100, false)}).Event(At(20, 200, true));
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  ASSERT_EQ(sink.events.size(), 2u);  // 10, then 20; 30 waits
  EXPECT_EQ(sink.events[0].time_ns, 10);
  EXPECT_EQ(sink.events[1].time_ns, 20);
  reader.Finish();
  ASSERT_EQ(sink.events.size(), 3u);
  EXPECT_EQ(sink.events[2].time_ns, 30);
}

TEST_P(ReaderOrder, OneThreadsTiesKeepTheirOrder) {
  SyntheticWriter w(Options());
  std::vector<EventRowSpec> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back(At(5, 100, false));
    rows.back().payload = std::to_string(i);
  }
  w.Metadata({kTick}).Events(rows).Events({At(4, 200, false)}).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 11u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(r.sink.events[i + 1].payload, std::to_string(i));
}

TEST_P(ReaderOrder, SequencePointReleasesEverything) {
  testing::CollectingSink sink;
  Reader reader(&sink);
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(10, 100, false)}).Events({At(5, 200, false)});
  w.SequencePoint(20, w.Sequences());
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  EXPECT_EQ(sink.events.size(), 2u);
}

}  // namespace
}  // namespace clrscope::nettrace
