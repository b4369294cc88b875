// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_ring.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "nettrace/reader.h"
#include "nettrace/testing/collecting_sink.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture {
namespace {

using nettrace::testing::EventRowSpec;
using nettrace::testing::IgnoringSink;
using nettrace::testing::SyntheticWriter;

// Many event blocks of some 600 bytes each, `per_block` events in every one.
std::string Trace(int blocks, int per_block) {
  SyntheticWriter w;
  w.Metadata({{1, "P", 7, 0, "", 0, 4, "", 0}});
  int64_t time = 2000;
  for (int b = 0; b < blocks; ++b) {
    std::vector<EventRowSpec> rows;
    for (int i = 0; i < per_block; ++i) {
      EventRowSpec row;
      row.time = time++;
      row.payload = std::string(101, 'x');  // odd, so that blocks end at every alignment
      rows.push_back(row);
    }
    w.Events(rows);
  }
  w.SequencePoint(time, w.Sequences()).End();
  return w.str();
}

struct Outcome {
  uint64_t events = 0, dropped = 0, discarded_blocks = 0;
  bool ok = true, ended = false;
};

Outcome Decode(StreamRing& ring) {
  IgnoringSink sink;
  nettrace::Reader reader(&sink);
  Outcome out;
  StreamRing::Item item;
  while (ring.Pop(item)) {
    if (item.skipped_bytes != 0) reader.SkipDiscarded(item.skipped_bytes, item.skipped_blocks);
    if (!reader.Feed(item.bytes).ok()) out.ok = false;
  }
  reader.Finish();
  out.events = reader.events();
  out.dropped = reader.dropped();
  out.discarded_blocks = reader.losses()[Loss::kBlocksDiscarded];
  out.ended = reader.ended();
  return out;
}

TEST(StreamRing, PassesEverythingOnWhenThereIsRoom) {
  const std::string trace = Trace(50, 5);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}, trace.size()}) {
    StreamRing ring;
    for (size_t at = 0; at < trace.size(); at += piece)
      ring.Push(AsBytes(trace.data() + at, std::min(piece, trace.size() - at)));
    ring.Close();
    const Outcome c = Decode(ring);
    EXPECT_TRUE(c.ok) << piece;
    EXPECT_TRUE(c.ended) << piece;
    EXPECT_EQ(c.events, 250u) << piece;
    EXPECT_EQ(c.dropped, 0u) << piece;
    EXPECT_TRUE(ring.exhausted());
  }
}

TEST(StreamRing, DiscardsWholeBlocksWhenFullAndEveryLostEventIsCounted) {
  const std::string trace = Trace(200, 5);
  for (const size_t piece : {size_t{1}, size_t{333}, trace.size()}) {
    StreamRing ring(20'000);  // nobody pops: most of it must go
    for (size_t at = 0; at < trace.size(); at += piece)
      ring.Push(AsBytes(trace.data() + at, std::min(piece, trace.size() - at)));
    ring.Close();
    const Outcome c = Decode(ring);
    EXPECT_TRUE(c.ok) << piece;
    EXPECT_TRUE(c.ended) << piece;
    EXPECT_GT(c.events, 0u);
    EXPECT_LT(c.events, 1000u);
    EXPECT_EQ(c.events + c.dropped, 1000u) << piece;
    EXPECT_EQ(c.discarded_blocks * 5, c.dropped) << piece;
  }
}

TEST(StreamRing, GoesOnAfterItWasEmptied) {
  const std::string trace = Trace(100, 5);
  StreamRing ring(20'000);
  IgnoringSink sink;
  nettrace::Reader reader(&sink);
  const size_t half = trace.size() / 2;
  const auto drain = [&] {
    StreamRing::Item item;
    while (ring.Pop(item)) {
      if (item.skipped_bytes != 0) reader.SkipDiscarded(item.skipped_bytes, item.skipped_blocks);
      ASSERT_TRUE(reader.Feed(item.bytes).ok());
    }
  };
  ring.Push(AsBytes(trace.data(), half));  // overflows
  drain();
  for (size_t at = half; at < trace.size(); at += 1000) {  // keeps up
    ring.Push(AsBytes(trace.data() + at, std::min<size_t>(1000, trace.size() - at)));
    drain();
  }
  ring.Close();
  reader.Finish();
  EXPECT_TRUE(reader.ended());
  EXPECT_EQ(reader.events() + reader.dropped(), 500u);
  EXPECT_GE(reader.events(), 250u);
}

TEST(StreamRing, DamagedStreamsReachTheReaderThatExplainsThem) {
  StreamRing ring;
  const std::string junk = "this is no nettrace stream at all, whatever the socket says";
  ring.Push(AsBytes(junk.data(), junk.size()));
  ring.Close();
  EXPECT_FALSE(Decode(ring).ok);
}

TEST(StreamRing, WhoFloodsThePoolIsDiscardedAndTheOthersAreNot) {
  const std::string trace = Trace(2000, 5);  // 1.3 MB
  const std::string little = Trace(50, 5);   // 33 KB
  const auto pool = std::make_shared<RingPool>(400'000);
  StreamRing flood(StreamRing::kDefaultBytes, pool), quiet(StreamRing::kDefaultBytes, pool);
  for (size_t at = 0; at < trace.size(); at += 4096)
    flood.Push(AsBytes(trace.data() + at, std::min<size_t>(4096, trace.size() - at)));
  flood.Close();
  EXPECT_LE(pool->bytes(), 400'000u);
  quiet.Push(AsBytes(little.data(), little.size()));
  quiet.Close();
  const Outcome lost = Decode(flood), whole = Decode(quiet);
  EXPECT_TRUE(lost.ok && lost.ended);
  EXPECT_GT(lost.discarded_blocks, 500u);
  EXPECT_EQ(lost.events + lost.dropped, 10'000u);
  EXPECT_EQ(whole.discarded_blocks, 0u);
  EXPECT_EQ(whole.events, 250u);
  EXPECT_EQ(pool->bytes(), 0u);
}

TEST(RingPool, WaitsUntilEnoughIsTakenOutButNotForEver) {
  const std::string trace = Trace(100, 5);  // 66 KB
  const auto pool = std::make_shared<RingPool>(1 << 20);
  StreamRing ring(StreamRing::kDefaultBytes, pool);
  ring.Push(AsBytes(trace.data(), trace.size()));
  pool->WaitFor(1000, std::chrono::milliseconds(5));
  EXPECT_GT(pool->bytes(), 1000u);
  std::thread reader([&ring] {
    StreamRing::Item item;
    while (ring.Pop(item)) {
    }
  });
  pool->WaitFor(1000, std::chrono::minutes(10));
  EXPECT_LE(pool->bytes(), 1000u);
  reader.join();
}

}  // namespace
}  // namespace clrscope::capture
