// SPDX-License-Identifier: Apache-2.0
// Rules that only V4 and V5 have.
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

TEST(ReaderV4, RecycledThreadIdIsNoLoss) {
  SyntheticWriter w;
  EventRowSpec e = At(1000);
  e.sequence = 500;
  w.Metadata({kTick}).Event(e);
  EventRowSpec again = At(1001);
  again.sequence = 1;  // another thread with the same id
  EventRowSpec gap = At(1002);
  gap.sequence = 4;
  w.Events({again, gap}).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 2u);
}

TEST(ReaderV5, TagsAfterTheFieldsAreSteppedOver) {
  for (const uint32_t version : {4u, 5u}) {
    WriterOptions o;
    o.version = version;
    MetadataRow m = kOther;
    m.tail = testing::OpcodeTag(3) + testing::V2ParametersTag();
    MetadataRow n = kTick;
    n.tail = testing::V2ParametersTag();
    SyntheticWriter w(o);
    EventRowSpec e = At(1000);
    e.metadata = 2;
    w.Metadata({m, n}).Events({e, At(1001)}).End();
    const ReadResult r = ReadAll(w.bytes());
    ASSERT_EQ(r.sink.events.size(), 2u);
    EXPECT_EQ(r.sink.events[0].id, 7u);
    EXPECT_EQ(r.sink.events[1].id, 10u);
  }
}

TEST(ReaderV4, MetadataKeepsItsFields) {
  testing::CollectingSink sink;
  Reader reader(&sink);
  SyntheticWriter w;
  w.Metadata({kTick, kOther}).Event(At(1000)).End();
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  ASSERT_EQ(reader.kinds().size(), 2u);
  const CountedKind& k = reader.kinds()[1];
  EXPECT_EQ(k.provider_name, "My-Source");
  EXPECT_EQ(k.event_name, "Hello");
  EXPECT_EQ(k.keywords, 3u);
  EXPECT_EQ(k.level, 2u);
  EXPECT_EQ(k.version, 1u);
  EXPECT_EQ(k.count, 0u);
  EXPECT_EQ(reader.kinds()[0].count, 1u);
  EXPECT_EQ(reader.kinds()[0].tag, clr::EventTag::kAllocationTick);
}

TEST(ReaderV4, BlockLengthBeyondAnyRuntimeIsAnErrorAtIt) {
  SyntheticWriter w;
  const size_t start = w.size();
  ByteWriter block;
  block.U8(5).U8(5).U8(1).U32(2).U32(2).U32(10).Raw("EventBlock").U8(6).U32(0x7FFFFFFF);
  w.Raw(block.str());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_EQ(r.error->offset, start + 26);
}

TEST(ReaderV4, WrongTagIsAnErrorAtIt) {
  SyntheticWriter w;
  w.Metadata({kTick});
  const size_t start = w.size();
  w.Raw("\x09");
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_EQ(r.error->offset, start);
}

TEST(ReaderV4, WrongEndTagOfABlockIsAnError) {
  SyntheticWriter w;
  w.Metadata({kTick});
  std::string bytes = w.str();
  bytes.back() = 0;
  const ReadResult r = ReadAll(AsBytes(bytes.data(), bytes.size()));
  ASSERT_TRUE(r.error);
  EXPECT_EQ(r.error->offset, bytes.size() - 1);
}

TEST(ReaderV4, TooLongVarintIsAnErrorAtItsRow) {
  SyntheticWriter w;
  w.Metadata({kTick});
  ByteWriter content;
  content.U16(20).U16(1).I64(0).I64(0).U8(1).Raw(std::string(11, '\xFF'));
  const size_t start = w.size();
  w.Block("EventBlock", 2, content.str());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_GT(r.error->offset, start);
  EXPECT_LT(r.error->offset, w.size());
}

TEST(ReaderV4, EventBlockWithATooShortHeaderIsAnError) {
  SyntheticWriter w;
  w.Metadata({kTick}).Block("EventBlock", 2, ByteWriter().U16(4).U16(1).Take());
  EXPECT_TRUE(ReadAll(w.bytes()).error);
}

TEST(ReaderV4, OtherFilesAreRefusedAtTheirFirstByte) {
  const std::string other_length("Nettrace\x13\x00\x00\x00", 12);
  for (const std::string& text :
       {std::string("PK\x03\x04 a zip file, surely"), std::string("Nettrase"), other_length}) {
    const ReadResult r = ReadAll(AsBytes(text.data(), text.size()));
    ASSERT_TRUE(r.error) << text;
    EXPECT_NE(r.error->message.find("not a nettrace file"), std::string::npos);
    EXPECT_EQ(r.sink.streams, 0);
  }
}

TEST(ReaderV4, NewerVersionsAreRefusedWithTheirNumber) {
  const std::string v7 = ByteWriter().Raw("Nettrace").U32(0).U32(7).U32(0).Take();
  const ReadResult r = ReadAll(AsBytes(v7.data(), v7.size()));
  ASSERT_TRUE(r.error);
  EXPECT_NE(r.error->message.find("version 7"), std::string::npos) << r.error->message;
}

TEST(ReaderV4, WildPointerSizeIsAnError) {
  WriterOptions o;
  o.pointer_size = 3;
  EXPECT_TRUE(ReadAll(SyntheticWriter(o).bytes()).error);
  o.pointer_size = 8;
  o.ticks_per_second = 0;
  EXPECT_TRUE(ReadAll(SyntheticWriter(o).bytes()).error);
}

TEST(ReaderV4, EventsBeforeTheTraceObjectAreAnError) {
  ByteWriter w;
  w.Raw(SyntheticWriter().str().substr(0, 32)).U8(5).U8(5).U8(1).U32(2).U32(2).U32(10);
  w.Raw("EventBlock").U8(6).U32(20).Raw(std::string((4 - (w.size() + 4) % 4) % 4, '\0'));
  std::string bytes = w.str();
  bytes.resize((bytes.size() + 3) / 4 * 4);
  bytes += ByteWriter().U16(20).U16(1).I64(0).I64(0).U8(6).Take();
  const ReadResult r = ReadAll(AsBytes(bytes.data(), bytes.size()));
  EXPECT_TRUE(r.error);
}

TEST(ReaderV4, PayloadSizeIsRememberedPerBlock) {
  SyntheticWriter w;
  EventRowSpec a = At(1000), b = At(1001), c = At(1002);
  a.payload = b.payload = "1234";
  c.payload = "";
  w.Metadata({kTick}).Events({a, b, c}).Events({a, b}).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 5u);
  EXPECT_EQ(r.sink.events[1].payload, "1234");
  EXPECT_EQ(r.sink.events[2].payload, "");
}

TEST(ReaderV4, ManyThreadsComeAndGoWithoutLoss) {
  // Idle threads are forgotten after some sequence points; one that returns is no loss.
  SyntheticWriter w;
  w.Metadata({kTick});
  int64_t time = 1000;
  for (uint64_t round = 0; round < 300; ++round) {
    std::vector<EventRowSpec> rows;
    for (uint64_t t = 0; t < 20; ++t) rows.push_back(At(++time, 1000 + round * 20 + t));
    w.Events(rows).Event(At(time + 1, 7));
    w.SequencePoint(time + 2, {{7, static_cast<uint32_t>(round + 1)}});
    time += 2;
  }
  w.Event(At(++time, 1003)).End();
  const ReadResult r = ReadAll(w.bytes());
  EXPECT_EQ(r.sink.events.size(), 300u * 21 + 1);
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 0u);
}

}  // namespace
}  // namespace clrscope::nettrace
