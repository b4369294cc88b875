// SPDX-License-Identifier: Apache-2.0
// A receiver that has no use for some kinds of events.
#include <gtest/gtest.h>

#include <algorithm>

#include "nettrace/reader.h"
#include "nettrace/testing/shapes.h"

namespace clrscope::nettrace {
namespace {

using testing::At;
using testing::EventRowSpec;
using testing::kOther;
using testing::kTick;
using testing::ReadAll;
using testing::ReadResult;
using testing::SeenEvent;
using testing::SyntheticWriter;

// Wants the runtime's events alone.
class PickySink final : public EventSink {
 public:
  bool Wants(const clr::EventKind& kind) override {
    asked.push_back(kind.id);
    return kind.provider == clr::Provider::kRuntime;
  }
  void OnEvent(const clr::RawEvent& e) override { all.OnEvent(e); }
  void OnSkippedUntil(int64_t time_ns) override { skipped_until = time_ns; }

  testing::CollectingSink all;
  std::vector<uint32_t> asked;
  int64_t skipped_until = -1;
};

class ReaderWants : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, ReaderWants, ::testing::ValuesIn(testing::kShapes),
                         testing::ShapeName);

TEST_P(ReaderWants, TheOthersAreLeftOutAndEverythingElseIsTheSame) {
  const SyntheticWriter w = Rich();
  const ReadResult whole = ReadAll(w.bytes());
  std::vector<SeenEvent> want = whole.sink.events;
  if (!v6()) {
    const auto other = [](const SeenEvent& e) { return e.provider == kOther.provider; };
    ASSERT_GT(std::erase_if(want, other), 0u);
  }
  PickySink sink;
  Reader reader(&sink);
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  reader.Finish();
  EXPECT_EQ(sink.all.events, want);
  EXPECT_EQ(reader.events(), whole.sink.events.size());
  for (const CountedKind& kind : reader.kinds())
    EXPECT_EQ(kind.count,
              static_cast<uint64_t>(std::count_if(
                  whole.sink.events.begin(), whole.sink.events.end(), [&](const SeenEvent& e) {
                    return e.provider == kind.provider_name && e.id == kind.id;
                  })));
}

// Of V6 all events are delivered.
class SkippingReaderWants : public testing::EveryShape {};
INSTANTIATE_TEST_SUITE_P(Formats, SkippingReaderWants,
                         ::testing::ValuesIn(testing::ShapesWhere([](const testing::Shape& s) {
                           return s.version < 6;
                         })),
                         testing::ShapeName);

TEST_P(SkippingReaderWants, DropsAndTheEndAreToldByAllOfThem) {
  SyntheticWriter w(Options());
  EventRowSpec other = At(30, 100, false);
  other.metadata = 2;
  other.sequence = 5;  // the first has 1: three are missing
  EventRowSpec last = At(90, 200, true);
  last.metadata = 2;
  w.Metadata({kTick, kOther}).Events({At(10, 100, true), other}).Events({last}).End();
  PickySink sink;
  Reader reader(&sink);
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  EXPECT_EQ(sink.all.events.size(), 1u) << "a sorted event releases what is older, wanted or not";
  reader.Finish();
  EXPECT_EQ(reader.dropped(), 3u);
  EXPECT_EQ(sink.skipped_until, 90);
  EXPECT_EQ(sink.asked, (std::vector<uint32_t>{10, 7}));
}

TEST_P(ReaderWants, NothingIsSkippedWhereAllIsWanted) {
  PickySink sink;
  Reader reader(&sink);
  SyntheticWriter w(Options());
  w.Metadata({kTick}).Events({At(10, 100, true)}).End();
  ASSERT_TRUE(reader.Feed(w.bytes()).ok());
  reader.Finish();
  EXPECT_EQ(sink.skipped_until, -1);
  EXPECT_EQ(sink.all.events.size(), 1u);
}

// Past the limit threads are forgotten, and with them the gap: whoever is wanted.
TEST(ReaderWantsLimit, ThreadsOfTheOthersStayBounded) {
  constexpr uint64_t kThreads = (1 << 18) + 10;
  for (const uint32_t kind : {1u, 2u}) {
    SyntheticWriter w;
    std::vector<EventRowSpec> rows = {At(10, 1, true)};
    for (uint64_t thread = 2; thread < kThreads; ++thread) rows.push_back(At(20, thread, true));
    for (EventRowSpec& row : rows) row.metadata = kind;
    EventRowSpec late = At(30, 1, true);
    late.sequence = 5;
    w.Metadata({kTick, kOther}).Events(rows).Event(late).End();
    PickySink sink;
    Reader reader(&sink);
    ASSERT_TRUE(reader.Feed(w.bytes()).ok());
    reader.Finish();
    EXPECT_EQ(reader.events(), kThreads);
    EXPECT_EQ(reader.dropped(), 0u) << "of kind " << kind;
  }
}

}  // namespace
}  // namespace clrscope::nettrace
