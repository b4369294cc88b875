// SPDX-License-Identifier: Apache-2.0
// The reader against synthetic streams: one test per rule of the format.
#include "nettrace/reader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "nettrace/testing/collecting_sink.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::nettrace {
namespace {

using clr::StackState;
using testing::ByteWriter;
using testing::EventRowSpec;
using testing::MetadataRow;
using testing::ReadAll;
using testing::ReadResult;
using testing::SeenEvent;
using testing::SyntheticWriter;
using testing::WriterOptions;

const MetadataRow kTick{1, "Microsoft-Windows-DotNETRuntime", 10, 4, "", 1, 5, {}, 0};
const MetadataRow kOther{2, "My-Source", 7, 1, "Hello", 3, 2, {}, 2};

EventRowSpec At(int64_t time, uint64_t thread = 100, bool sorted = true) {
  EventRowSpec e;
  e.time = time;
  e.thread = thread;
  e.sorted = sorted;
  e.payload = "p" + std::to_string(time);
  return e;
}

std::vector<int64_t> Times(const ReadResult& r) {
  std::vector<int64_t> out;
  for (const SeenEvent& e : r.sink.events) out.push_back(e.time_ns);
  return out;
}

struct Shape {
  const char* name;
  uint32_t version;
  bool compressed;
  uint32_t pointer_size;
};
constexpr Shape kShapes[] = {
    {"V4Compressed", 4, true, 8},   {"V4Plain", 4, false, 8},       {"V5Compressed", 5, true, 8},
    {"V5Plain", 5, false, 8},       {"V6Compressed", 6, true, 8},   {"V6Plain", 6, false, 8},
    {"V4Compressed32", 4, true, 4}, {"V6Compressed32", 6, true, 4},
};

class EveryShape : public ::testing::TestWithParam<Shape> {
 protected:
  WriterOptions Options() const {
    WriterOptions o;
    o.version = GetParam().version;
    o.compressed = GetParam().compressed;
    o.pointer_size = GetParam().pointer_size;
    o.sync_ticks = 0;
    return o;
  }
  bool v6() const { return GetParam().version >= 6; }

  // A stream with everything in it: kinds, stacks, several threads, unsorted events, an unknown
  // block, a sequence point in the middle.
  SyntheticWriter Rich() const {
    SyntheticWriter w(Options());
    w.Metadata({kTick, kOther});
    if (v6()) w.Threads({{100, 4711, 9100, "main"}, {200, 4711, 9200, ""}, {300, 4712, 9300, ""}});
    if (v6()) w.Labels(1, {testing::ActivityLabels("aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb")});
    w.Stacks(1, {{0x1000, 0x2000, 0x3000}, {}, {0x1004, 0x3000}});
    for (int half = 0; half < 2; ++half) {
      const int64_t base = half * 1000;
      std::vector<EventRowSpec> a, b;
      for (int i = 0; i < 5; ++i) {
        EventRowSpec e = At(base + 10 + 10 * i, 100, i == 0);
        e.stack = static_cast<uint32_t>(i % 4);
        if (i == 2) {
          e.metadata = 2;
          if (v6()) e.labels = 1;
          if (!v6()) e.activity = "aaaaaaaaaaaaaaaa", e.related = "bbbbbbbbbbbbbbbb";
        }
        a.push_back(e);
        EventRowSpec f = At(base + 13 + 10 * i, i < 3 ? 200 : 300, i == 0 || i == 3);
        f.capture_thread = 200;
        b.push_back(f);
      }
      // Thread 200's rows must not be sorted: older ones of thread 100 follow them in the stream.
      for (EventRowSpec& e : b) e.sorted = false;
      for (EventRowSpec& e : a) e.sorted = false;
      w.Events(b).Events(a).Unknown("whatever");
      w.SequencePoint(base + 900, w.Sequences());
      w.Stacks(1, {{0x7000 + static_cast<uint64_t>(half)}, {0x8000, 0x9000}, {0xA000}});
      if (v6()) w.Labels(1, {testing::ActivityLabels("aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb")});
    }
    w.Event(At(3000, 100)).End();
    return w;
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, EveryShape, ::testing::ValuesIn(kShapes),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(EveryShape, EventsArriveInOrderOfTimeWithAllTheirFields) {
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

TEST_P(EveryShape, StacksAreFoundAndStartAgainAfterASequencePoint) {
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

TEST_P(EveryShape, AnyChunkSizeGivesTheSameEvents) {
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

TEST_P(EveryShape, TruncationAnywhereGivesAPrefixAndNamesTheLoss) {
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

TEST_P(EveryShape, DamagedBytesGiveAnErrorInsideTheInputOrEventsButNeverMore) {
  const SyntheticWriter w = Rich();
  std::mt19937 random(GetParam().version * 10 + GetParam().pointer_size);
  int errors = 0;
  for (int run = 0; run < 3000; ++run) {
    std::string bytes = w.str();
    for (int k = 0; k < 1 + run % 3; ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const ReadResult r = ReadAll(AsBytes(bytes.data(), bytes.size()));
    if (!r.error) continue;
    ++errors;
    ASSERT_EQ(r.error->code, ErrorCode::kCorrupt) << r.error->message;
    ASSERT_LE(r.error->offset, bytes.size()) << r.error->message;
  }
  EXPECT_GT(errors, 100);
}

TEST_P(EveryShape, MissingStackIsSaidNotGuessed) {
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

TEST_P(EveryShape, StackOfBeforeTheSequencePointIsMissingAfterIt) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Stacks(1, {{0x1000}}).SequencePoint(5, {});
  EventRowSpec e = At(10);
  e.stack = 1;
  w.Event(e).End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_EQ(r.sink.events.size(), 1u);
  EXPECT_EQ(r.sink.events[0].stack_state, StackState::kMissing);
}

TEST_P(EveryShape, EventsWithoutMetadataAreCountedNotDelivered) {
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

TEST_P(EveryShape, LargeMetadataIdsWork) {
  MetadataRow big = kTick;
  big.id = 0x7FFFFFFF;
  SyntheticWriter w(Options());
  w.Metadata({big});
  EventRowSpec e = At(1);
  e.metadata = big.id;
  w.Event(e).End();
  EXPECT_EQ(ReadAll(w.bytes()).sink.events.size(), 1u);
}

TEST_P(EveryShape, GapInSequenceNumbersCountsDroppedEvents) {
  SyntheticWriter w(Options());
  EventRowSpec first = At(1), gap = At(2), next = At(3);
  gap.sequence = 5;  // after 1
  w.Metadata({kTick}).Events({first, gap, next}).End();
  const ReadResult r = ReadAll(w.bytes());
  EXPECT_EQ(r.sink.events.size(), 3u);
  EXPECT_EQ(r.losses[Loss::kEventsDropped], 3u);
}

TEST_P(EveryShape, GapsAreCountedPerCaptureThread) {
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

TEST_P(EveryShape, SequencePointAheadOfTheThreadCountsDroppedEvents) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Event(At(1)).SequencePoint(10, {{100, 4}, {200, 9}});
  // Thread 200 was never seen before: where it stood at the start is unknown.
  EventRowSpec e = At(11), f = At(12, 200);
  e.sequence = 5;
  f.sequence = 10;
  w.Events({e, f}).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 3u);
}

TEST_P(EveryShape, SequenceNumbersWrapAround) {
  SyntheticWriter w(Options());
  EventRowSpec a = At(1), b = At(2), c = At(3);
  a.sequence = 0xFFFFFFFE;
  b.sequence = 0xFFFFFFFF;
  c.sequence = 2;  // 0 and 1 are missing
  w.Metadata({kTick}).Events({a, b, c}).End();
  EXPECT_EQ(ReadAll(w.bytes()).losses[Loss::kEventsDropped], 2u);
}

TEST_P(EveryShape, SecondTraceBlockIsAnErrorAtItsOffset) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Event(At(1));
  const size_t at = w.size();
  w.Trace().End();
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_EQ(r.error->code, ErrorCode::kCorrupt);
  EXPECT_GE(r.error->offset, at);
  EXPECT_LT(r.error->offset, w.size());
  EXPECT_EQ(r.sink.events.size(), 1u);  // what came before it was delivered
  EXPECT_EQ(r.sink.streams, 1);
}

TEST_P(EveryShape, BytesAfterTheEndAreIgnored) {
  SyntheticWriter w = Rich();
  w.Raw("garbage that is no block");
  const ReadResult r = ReadAll(w.bytes(), 5);
  EXPECT_FALSE(r.error);
  EXPECT_EQ(r.sink.events.size(), 21u);
}

TEST_P(EveryShape, ErrorIsFinal) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Event(At(1)).Trace();
  testing::CollectingSink sink;
  Reader reader(&sink);
  ASSERT_FALSE(reader.Feed(w.bytes()).ok());
  SyntheticWriter more(Options());
  more.Metadata({kTick}).Event(At(2)).End();
  EXPECT_FALSE(reader.Feed(more.bytes()).ok());
  reader.Finish();
  EXPECT_EQ(sink.events.size(), 1u);
}

TEST_P(EveryShape, ErrorInABlockStillDeliversWhatWaits) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(2, 200, false), At(1, 100, false)});
  w.Block("StackBlock", 5, ByteWriter().U32(1).U32(1000).Take());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_EQ(Times(r), (std::vector<int64_t>{1, 2}));
}

TEST_P(EveryShape, SequencePointWithAWildThreadCountIsAnError) {
  SyntheticWriter w(Options());
  ByteWriter content;
  content.I64(1);
  if (v6()) content.U32(0);
  content.U32(0xFFFFFFFF).U64(1);
  w.Block("SPBlock", 4, content.str());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_NE(r.error->message.find("4294967295 threads"), std::string::npos) << r.error->message;
}

TEST_P(EveryShape, StackThatLeavesItsBlockIsAnErrorAtIt) {
  SyntheticWriter w(Options());
  const size_t start = w.size();
  w.Block("StackBlock", 5, ByteWriter().U32(1).U32(1).U32(0x7FFFFFF0).U64(1).Take());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_GE(r.error->offset, start);
  EXPECT_LT(r.error->offset, w.size());
}

TEST_P(EveryShape, EventThatLeavesItsBlockIsAnErrorAndTheOnesBeforeItAreDelivered) {
  SyntheticWriter w(Options());
  w.Metadata({kTick});
  const size_t start = w.size();
  w.Events({At(1), At(2)});
  // Shorten the content, which ends with a payload of two bytes, by three and say so in its length.
  std::string bytes = w.str();
  const size_t length_at = v6() ? start : start + 15 + 10 + 1;
  const size_t cut = GetParam().compressed || v6() ? 3 : 5;  // of these, two may be padding
  uint32_t length;
  std::memcpy(&length, bytes.data() + length_at, 4);
  length -= static_cast<uint32_t>(cut);
  std::memcpy(bytes.data() + length_at, &length, 4);
  bytes.erase(bytes.size() - cut - (v6() ? 0 : 1), cut);
  const ReadResult r = ReadAll(AsBytes(bytes.data(), bytes.size()));
  ASSERT_TRUE(r.error);
  EXPECT_EQ(r.error->code, ErrorCode::kCorrupt);
  EXPECT_LT(r.error->offset, w.size());
  EXPECT_EQ(Times(r), (std::vector<int64_t>{1}));
}

TEST_P(EveryShape, ClockOfAnyRateBecomesNanoseconds) {
  WriterOptions o = Options();
  o.ticks_per_second = 10'000'000;
  o.sync_ticks = 5'000;
  SyntheticWriter w(o);
  w.Metadata({kTick}).Events({At(5'001), At(10'005'000)}).End();
  EXPECT_EQ(Times(ReadAll(w.bytes())), (std::vector<int64_t>{100, 1'000'000'000}));
}

TEST_P(EveryShape, WildTimesDoNotOverflow) {
  WriterOptions o = Options();
  o.ticks_per_second = 3;
  o.sync_ticks = INT64_MIN;
  o.utc = {32767, 12, 0, 31, 23, 59, 59, 999};
  SyntheticWriter w(o);
  w.Metadata({kTick}).Events({At(INT64_MAX), At(INT64_MIN, 200, false), At(0, 300, false)}).End();
  EXPECT_EQ(ReadAll(w.bytes()).sink.events.size(), 3u);
}

TEST_P(EveryShape, HeaderIsDecoded) {
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

TEST_P(EveryShape, MergeAcrossThreadsIsByTime) {
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

TEST_P(EveryShape, SortedEventReleasesWhatIsOlder) {
  if (v6() && !GetParam().compressed) GTEST_SKIP() << "its bit is ambiguous, so everything waits";
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

TEST_P(EveryShape, OneThreadsTiesKeepTheirOrder) {
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

TEST_P(EveryShape, SequencePointReleasesEverything) {
  testing::CollectingSink sink;
  Reader reader(&sink);
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(10, 100, false)}).Events({At(5, 200, false)});
  w.SequencePoint(20, w.Sequences());
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  EXPECT_EQ(sink.events.size(), 2u);
}

TEST_P(EveryShape, LongStreamWithoutSequencePointsStaysSmall) {
  // 400 MB of unsorted events, which no reader could order without keeping them all.
  struct Count final : EventSink {
    void OnEvent(const clr::RawEvent&) override { ++n; }
    uint64_t n = 0;
  } sink;
  const auto peak_kb = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
    return 0ll;
  };
  Reader reader(&sink);
  SyntheticWriter w(Options());
  w.Metadata({kTick});
  std::vector<EventRowSpec> rows;
  for (int i = 0; i < 1000; ++i) {
    rows.push_back(At(i, 100, false));
    rows.back().payload = std::string(400, 'x');
  }
  const long long before = peak_kb();
  long long most = before;
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = w.Stacks(1, {{1, 2, 3}}).Events(rows).Drain();
    ASSERT_TRUE(reader.Feed(AsBytes(bytes.data(), bytes.size())).ok());
    most = std::max(most, peak_kb());
  }
  reader.Finish();
  EXPECT_EQ(sink.n, 1'000'000u);
#ifndef __SANITIZE_ADDRESS__  // its quarantine keeps what was freed
  EXPECT_LT(most - before, 160 << 10);
#endif
}

TEST_P(EveryShape, ManySmallRowsStaySmallToo) {
  // Rows of two bytes need forty times as much in memory.
  struct Count final : EventSink {
    void OnEvent(const clr::RawEvent&) override { ++n; }
    uint64_t n = 0;
  } sink;
  Reader reader(&sink);
  SyntheticWriter w(Options());
  w.Metadata({kTick});
  std::vector<EventRowSpec> rows(20'000);
  for (EventRowSpec& e : rows) {
    e.sorted = false;
    e.time = 1;
  }
  for (int i = 0; i < 150; ++i) {
    const std::string bytes = w.Events(rows).Drain();
    ASSERT_TRUE(reader.Feed(AsBytes(bytes.data(), bytes.size())).ok());
  }
  EXPECT_GE(sink.n, 150u * 20'000 - 600'000);  // no more than that waits
  reader.Finish();
  EXPECT_EQ(sink.n, 150u * 20'000);
}

}  // namespace

// --- V4 and V5 only ---

namespace {

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

// --- V6 only ---

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
