// SPDX-License-Identifier: Apache-2.0
// The reader against damaged and endless streams: errors at their place, in bounded memory.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "nettrace/reader.h"
#include "nettrace/testing/shapes.h"

namespace clrscope::nettrace {
namespace {

// AddressSanitizer keeps what was freed, so that memory says nothing there.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kLong = false;
#else
constexpr bool kLong = true;
#endif

using testing::At;
using testing::ByteWriter;
using testing::EventRowSpec;
using testing::kTick;
using testing::ReadAll;
using testing::ReadResult;
using testing::SyntheticWriter;
using testing::Times;
using testing::WriterOptions;

class ReaderDamage : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, ReaderDamage, ::testing::ValuesIn(testing::kShapes),
                         testing::ShapeName);

TEST_P(ReaderDamage, DamagedBytesGiveAnErrorInsideTheInputOrEventsButNeverMore) {
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

TEST_P(ReaderDamage, SecondTraceBlockIsAnErrorAtItsOffset) {
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

TEST_P(ReaderDamage, ErrorIsFinal) {
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

TEST_P(ReaderDamage, ErrorInABlockStillDeliversWhatWaits) {
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(2, 200, false), At(1, 100, false)});
  w.Block("StackBlock", 5, ByteWriter().U32(1).U32(1000).Take());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_EQ(Times(r), (std::vector<int64_t>{1, 2}));
}

TEST_P(ReaderDamage, SequencePointWithAWildThreadCountIsAnError) {
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

TEST_P(ReaderDamage, StackThatLeavesItsBlockIsAnErrorAtIt) {
  SyntheticWriter w(Options());
  const size_t start = w.size();
  w.Block("StackBlock", 5, ByteWriter().U32(1).U32(1).U32(0x7FFFFFF0).U64(1).Take());
  const ReadResult r = ReadAll(w.bytes());
  ASSERT_TRUE(r.error);
  EXPECT_GE(r.error->offset, start);
  EXPECT_LT(r.error->offset, w.size());
}

TEST_P(ReaderDamage, EventThatLeavesItsBlockIsAnErrorAndTheOnesBeforeItAreDelivered) {
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

TEST_P(ReaderDamage, WildTimesDoNotOverflow) {
  WriterOptions o = Options();
  o.ticks_per_second = 3;
  o.sync_ticks = INT64_MIN;
  o.utc = {32767, 12, 0, 31, 23, 59, 59, 999};
  SyntheticWriter w(o);
  w.Metadata({kTick}).Events({At(INT64_MAX), At(INT64_MIN, 200, false), At(0, 300, false)}).End();
  EXPECT_EQ(ReadAll(w.bytes()).sink.events.size(), 3u);
}

TEST_P(ReaderDamage, LongStreamWithoutSequencePointsStaysSmall) {
  // 400 MB of unsorted events, which no reader could order without keeping them all.
  constexpr int kBlocks = kLong ? 1000 : 200;
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
  for (int i = 0; i < kBlocks; ++i) {
    const std::string bytes = w.Stacks(1, {{1, 2, 3}}).Events(rows).Drain();
    ASSERT_TRUE(reader.Feed(AsBytes(bytes.data(), bytes.size())).ok());
    most = std::max(most, peak_kb());
  }
  reader.Finish();
  EXPECT_EQ(sink.n, kBlocks * 1000u);
  if (kLong) {
    EXPECT_LT(most - before, 160 << 10);
  }
}

TEST_P(ReaderDamage, ManySmallRowsStaySmallToo) {
  // Rows of two bytes need forty times as much in memory.
  constexpr int kBlocks = kLong ? 150 : 60;
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
  for (int i = 0; i < kBlocks; ++i) {
    const std::string bytes = w.Events(rows).Drain();
    ASSERT_TRUE(reader.Feed(AsBytes(bytes.data(), bytes.size())).ok());
  }
  EXPECT_GE(sink.n, kBlocks * 20'000u - 600'000);  // no more than that waits
  reader.Finish();
  EXPECT_EQ(sink.n, kBlocks * 20'000u);
}

}  // namespace
}  // namespace clrscope::nettrace
