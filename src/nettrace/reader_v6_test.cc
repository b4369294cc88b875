// SPDX-License-Identifier: Apache-2.0
// Rules that only V6 has.
#include <gtest/gtest.h>

#include "nettrace/reader.h"
#include "nettrace/testing/shapes.h"

namespace clrscope::nettrace {
namespace {

using testing::At;
using testing::ByteWriter;
using testing::EventRowSpec;
using testing::kOther;
using testing::kTick;
using testing::MetadataRow;
using testing::ReadAll;
using testing::ReadResult;
using testing::SyntheticWriter;
using testing::WriterOptions;

WriterOptions V6() {
  WriterOptions o;
  o.version = 6;
  o.sync_ticks = 0;
  return o;
}

TEST(ReaderV6, ThreadsAndProcessesComeFromTheThreadTable) {
  SyntheticWriter w(V6());
  w.Metadata({kTick}).Threads({{1, 10, 11, "a"}, {2, 20, 21, "b"}});
  w.Events({At(1, 1), At(2, 2), At(3, 9)}).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 3u);
  EXPECT_EQ(r.sink.events[0].process, 10u);
  EXPECT_EQ(r.sink.events[0].thread, 11u);
  EXPECT_EQ(r.sink.events[1].process, 20u);
  EXPECT_EQ(r.sink.events[2].process, 4711u);  // unknown index: the trace's own process
}

TEST(ReaderV6, RemovedThreadStillOwnsItsWaitingEvents) {
  SyntheticWriter w(V6());
  w.Metadata({kTick}).Threads({{1, 10, 11, ""}, {2, 20, 21, ""}});
  w.Events({At(10, 1, false), At(20, 1, false)}).RemoveThreads({{1, 4}});
  w.Event(At(15, 2, true)).SequencePoint(100, {}).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 3u);
  EXPECT_EQ(r.sink.events[2].thread, 11u);
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 2u);  // numbers 3 and 4
}

TEST(ReaderV6, SequenceResetIsNotForgiven) {
  // V6 never gives an index to another thread: a step back is no loss, the step after it counts.
  SyntheticWriter w(V6());
  EventRowSpec a = At(1), b = At(2);
  a.sequence = 1;
  b.sequence = 11;
  w.Metadata({kTick}).Events({a, b}).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 9u);
}

TEST(ReaderV6, SequencePointIsOnlyALowerBound) {
  // NetTraceFormat.md: the numbers are lower bounds, so one below what was seen means nothing.
  SyntheticWriter w(V6());
  w.Metadata({kTick})
      .Events({At(1), At(2), At(3)})
      .SequencePoint(10, {{100, 1}})
      .Event(At(11))
      .End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 0u);
}

TEST(ReaderV6, FlushFlagsForgetThreadsAndMetadata) {
  SyntheticWriter w(V6());
  w.Metadata({kTick}).Threads({{100, 10, 11, ""}}).Event(At(1)).SequencePoint(5, {{100, 1}}, 1);
  w.Event(At(6)).SequencePoint(8, {}, 2).Event(At(9));
  MetadataRow other = kOther;
  other.id = 1;  // the id is free again
  w.Metadata({other}).Event(At(10)).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 3u);
  EXPECT_EQ(r.sink.events[0].thread, 11u);
  EXPECT_EQ(r.sink.events[1].thread, 100u);  // the index itself
  EXPECT_EQ(r.sink.events[2].provider, "My-Source");
  EXPECT_EQ(r.losses[Loss::kUnknownMetadata], 1u);
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 0u);
}

TEST(ReaderV6, LabelsOfAnUnknownKindLoseOnlyTheirBlock) {
  SyntheticWriter w(V6());
  w.Metadata({kTick});
  w.Labels(1, {testing::ActivityLabels("aaaaaaaaaaaaaaaa"), "\xFFwhatever"});
  EventRowSpec e = At(1), f = At(2);
  e.labels = 1;
  f.labels = 2;
  w.Events({e, f}).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 2u);
  EXPECT_EQ(r.sink.events[0].activity, "aaaaaaaaaaaaaaaa");
  EXPECT_EQ(r.sink.events[1].activity, "");
}

TEST(ReaderV6, OptionsGiveVersionLevelAndKeywords) {
  testing::CollectingSink sink;
  Reader reader(&sink);
  SyntheticWriter w(V6());
  MetadataRow odd = kOther;
  odd.tail = "\x63";  // an option of a later version ends what can be read
  w.Metadata({kTick, odd}).End();
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  ASSERT_EQ(reader.kinds().size(), 2u);
  EXPECT_EQ(reader.kinds()[0].version, 4u);
  EXPECT_EQ(reader.kinds()[0].level, 5u);
  EXPECT_EQ(reader.kinds()[0].keywords, 1u);
  EXPECT_EQ(reader.kinds()[1].event_name, "Hello");
}

TEST(ReaderV6, RowsThatLeaveTheirBlockAreErrors) {
  for (const int number : {3, 6, 7, 8}) {
    const auto kind = static_cast<uint8_t>(number);
    SyntheticWriter w(V6());
    w.Block("", kind,
            kind == 8 ? ByteWriter().U32(1).U32(1).U8(1).U8(0).Take()
                      : std::string("\xFF\x7F\x01", kind == 7 ? 1 : 3));
    EXPECT_TRUE(ReadAll(w.bytes()).error) << int{kind};
  }
}

}  // namespace
}  // namespace clrscope::nettrace
