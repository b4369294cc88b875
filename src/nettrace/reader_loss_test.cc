// SPDX-License-Identifier: Apache-2.0
// The reader against streams that lack something: every loss is counted by its name.
#include <gtest/gtest.h>

#include "nettrace/reader.h"
#include "nettrace/testing/shapes.h"

namespace clrscope::nettrace {
namespace {

using clr::StackState;
using testing::At;
using testing::EventRowSpec;
using testing::kTick;
using testing::ReadAll;
using testing::ReadResult;
using testing::SeenEvent;
using testing::SyntheticWriter;
using testing::Times;

class ReaderLoss : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, ReaderLoss, ::testing::ValuesIn(testing::kShapes),
                         testing::ShapeName);

TEST_P(ReaderLoss, TruncationAnywhereGivesAPrefixAndNamesTheLoss) {
  const SyntheticWriter w = Rich();
  const ReadResult whole = ReadAll(w.bytes());
  const std::vector<int64_t> all = Times(whole);
  for (size_t n = 0; n < w.size(); ++n) {
    const ReadResult cut = ReadAll(w.bytes().first(n));
    ASSERT_FALSE(cut.error) << n << ": " << cut.error->message;
    ASSERT_FALSE(cut.ended);
    ASSERT_EQ(cut.losses[Loss::kTruncatedInput], 1u) << n;
    ASSERT_EQ(cut.losses[Loss::kTruncatedBytes], n - cut.offset) << n;
    // Whole blocks are read: per thread, what was read is a prefix. (Across threads it need not be:
    // the block that was cut may hold the oldest event.)
    for (const uint64_t thread : {100u, 200u, 300u, 9100u, 9200u, 9300u}) {
      std::vector<SeenEvent> want, got;
      for (const SeenEvent& e : whole.sink.events)
        if (e.thread == thread) want.push_back(e);
      for (const SeenEvent& e : cut.sink.events)
        if (e.thread == thread) got.push_back(e);
      ASSERT_LE(got.size(), want.size());
      want.resize(got.size());
      ASSERT_EQ(got, want) << "cut at " << n << ", thread " << thread;
    }
  }
}

TEST_P(ReaderLoss, MissingStackIsSaidNotGuessed) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Stacks(5, {{0x1000}});
  if (v6()) w.Threads({{100, 1, 2, ""}});
  EventRowSpec before = At(1), after = At(2), right = At(3);
  before.stack = 4;
  after.stack = 6;
  right.stack = 5;
  w.Events({before, after, right}).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 3u);
  EXPECT_EQ(r.sink.events[0].stack_state, StackState::kMissing);
  EXPECT_EQ(r.sink.events[1].stack_state, StackState::kMissing);
  EXPECT_EQ(r.sink.events[2].stack_state, StackState::kPresent);
}

TEST_P(ReaderLoss, StackOfBeforeTheSequencePointIsMissingAfterIt) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Stacks(1, {{0x1000}}).SequencePoint(5, {});
  EventRowSpec e = At(10);
  e.stack = 1;
  w.Event(e).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 1u);
  EXPECT_EQ(r.sink.events[0].stack_state, StackState::kMissing);
}

TEST_P(ReaderLoss, EventsWithoutMetadataAreCountedNotDelivered) {
  SyntheticWriter w(Options());
  w.Metadata({kTick});
  EventRowSpec unknown = At(1);
  unknown.metadata = 77;
  EventRowSpec wild = At(2);
  wild.metadata = 0x7FFFFFFF;
  w.Events({unknown, wild, At(3)}).End();
  const ReadResult r = ReadAll(w.bytes());
  EXPECT_EQ(r.sink.events.size(), 1u);
  EXPECT_EQ(r.losses[Loss::kUnknownMetadata], 2u);
}

TEST_P(ReaderLoss, GapInSequenceNumbersCountsDroppedEvents) {
  SyntheticWriter w(Options());
  EventRowSpec first = At(1), gap = At(2), next = At(3);
  gap.sequence = 5;  // after 1
  w.Metadata({kTick}).Events({first, gap, next}).End();
  const ReadResult r = ReadAll(w.bytes());
  EXPECT_EQ(r.sink.events.size(), 3u);
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 3u);
}

TEST_P(ReaderLoss, GapsAreReportedWithTheTimesAroundThem) {
  SyntheticWriter w(Options());
  EventRowSpec first = At(10), other = At(15, 200), gap = At(20), next = At(30);
  gap.sequence = 5;  // after 1
  w.Metadata({kTick}).Events({first, other, gap, next}).SequencePoint(40, {{100, 9}, {200, 1}});
  EventRowSpec after = At(50);
  after.sequence = 10;
  w.Event(after).End();
  const ReadResult r = ReadAll(w.bytes());
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 6u);
  using Gaps = std::vector<std::pair<int64_t, int64_t>>;
  const int64_t start = r.sink.events.at(0).time_ns - 10;  // of the stream's clock
  Gaps got = r.sink.gaps;
  for (auto& g : got) g = {g.first - start, g.second - start};
  EXPECT_EQ(got, (Gaps{{10, 20}, {30, 40}}));
}

TEST_P(ReaderLoss, GapsAreCountedPerCaptureThread) {
  SyntheticWriter w(Options());
  std::vector<EventRowSpec> rows;
  for (int i = 0; i < 20; ++i) {
    EventRowSpec e = At(i, i % 2 == 0 ? 100 : 200);
    e.capture_thread = i % 2 == 0 ? 1 : 2;
    if (i == 11) e.sequence = 10;  // thread 2 is at 5
    rows.push_back(e);
  }
  w.Metadata({kTick}).Events(rows).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 4u);
}

TEST_P(ReaderLoss, SequencePointAheadOfTheThreadCountsDroppedEvents) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Event(At(1)).SequencePoint(10, {{100, 4}, {200, 9}});
  // Thread 200 was never seen before: where it stood at the start is unknown.
  EventRowSpec e = At(11), f = At(12, 200);
  e.sequence = 5;
  f.sequence = 10;
  w.Events({e, f}).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 3u);
}

TEST_P(ReaderLoss, SequenceNumbersWrapAround) {
  SyntheticWriter w(Options());
  EventRowSpec a = At(1), b = At(2), c = At(3);
  a.sequence = 0xFFFFFFFE;
  b.sequence = 0xFFFFFFFF;
  c.sequence = 2;  // 0 and 1 are missing
  w.Metadata({kTick}).Events({a, b, c}).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 2u);
}

}  // namespace
}  // namespace clrscope::nettrace
