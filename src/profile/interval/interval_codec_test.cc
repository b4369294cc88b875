// SPDX-License-Identifier: Apache-2.0
#include "profile/interval/interval_codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/testing/source_dir.h"
#include "base/units.h"
#include "profile/testing/interval_frames.h"

namespace clrscope::profile {
namespace {

Bytes BytesOf(const std::string& s) { return AsBytes(s.data(), s.size()); }

void ExpectSame(const Estimate& a, const Estimate& b) {
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.biased, b.biased);
  EXPECT_EQ(a.amount, b.amount);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.seen_amount, b.seen_amount);
  EXPECT_EQ(a.seen_count, b.seen_count);
  EXPECT_FLOAT_EQ(static_cast<float>(a.var_amount), static_cast<float>(b.var_amount));
  EXPECT_FLOAT_EQ(static_cast<float>(a.max_count), static_cast<float>(b.max_count));
}

// A reader that does not know of limits has the same sums.
TEST(IntervalCodec, WhatItMayTakeAndWindowsComeBack) {
  IntervalFrame f = testing::FullFrame();
  const std::string without = EncodeInterval(f);
  f.overhead.limit = 0.01;
  f.overhead.cpu_ns = 900'000'000;
  f.overhead.of(OverheadPart::kAgent) = 2'000'000;
  f.overhead.windows_of(OverheadPart::kAllocations) = {2, 180'000'000, 5'000'000'000};
  f.windows.ns = 1'000'000'000;
  f.windows.count = 2;
  f.windows.of_ns[3] = 3'000'000'000;
  f.all_windows = f.windows;
  f.all_windows.of_ns[15] = 2'000'000'000;
  f.flows[1].window = 4;
  f.parts[2].window = 4;
  f.lives[0].window = 16;
  f.turnover[0].window = 1;
  const std::string bytes = EncodeInterval(f);
  EXPECT_GT(bytes.size(), without.size());
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(bytes));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->overhead.limit, 0.01);
  EXPECT_EQ(r->overhead.cpu_ns, 900'000'000);
  EXPECT_EQ(r->overhead.of(OverheadPart::kAgent), 2'000'000);
  EXPECT_EQ(r->overhead.windows[static_cast<size_t>(OverheadPart::kAllocations)].of_ns,
            5'000'000'000);
  EXPECT_EQ(r->windows.count, 2u);
  EXPECT_EQ(r->windows.of_ns, f.windows.of_ns);
  EXPECT_EQ(r->all_windows.of_ns, f.all_windows.of_ns);
  EXPECT_EQ(r->flows[0].window, 0);
  EXPECT_EQ(r->flows[1].window, 4);
  ASSERT_EQ(r->parts.size(), f.parts.size());
  EXPECT_EQ(r->parts[2].window, 4);
  EXPECT_EQ(r->lives[0].window, 16);
  EXPECT_EQ(r->turnover[0].window, 1);
  f.lives[0].window = 17;
  EXPECT_FALSE(DecodeInterval(BytesOf(EncodeInterval(f))).ok());
}

TEST(IntervalCodec, EveryPartComesBack) {
  const IntervalFrame f = testing::FullFrame();
  const std::string bytes = EncodeInterval(f);
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(bytes));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->sequence, 7u);
  EXPECT_EQ(r->start_unix_ns, f.start_unix_ns);
  EXPECT_EQ(r->end_ns, f.end_ns);
  EXPECT_EQ(r->pid, 4321u);
  EXPECT_EQ(r->runtime, ".NET 10.0.14");
  EXPECT_TRUE(r->live && r->last);
  ASSERT_EQ(r->methods.size(), 2u);
  EXPECT_EQ(r->methods[0].method, "Orders.Cache.Add");
  EXPECT_EQ(r->methods[0].token, 0x06000001u);
  EXPECT_EQ(r->methods[1].flags, 8);
  EXPECT_EQ(r->types[0].id, 0x7f0000001000u);
  ASSERT_EQ(r->nodes.size(), 3u);
  EXPECT_EQ(r->nodes[1].parent, 5u);
  EXPECT_EQ(r->first_place, 12u);
  EXPECT_EQ(r->places, f.places);
  EXPECT_EQ(r->nodes[0].place, 12u);
  EXPECT_EQ(r->nodes[1].place, 13u);
  EXPECT_EQ(r->nodes[2].place, 0u);
  ASSERT_EQ(r->flows.size(), 2u);
  EXPECT_EQ(r->flows[0].kind, HeapKind::kLoh);
  ExpectSame(r->flows[0].value, f.flows[0].value);
  ASSERT_EQ(r->lives.size(), 2u);
  ASSERT_EQ(r->parts.size(), f.parts.size());
  for (size_t i = 0; i < f.parts.size(); ++i) {
    EXPECT_EQ(KeyOf(r->parts[i]), KeyOf(f.parts[i]));
    EXPECT_EQ(r->parts[i].value.samples, f.parts[i].value.samples);
    EXPECT_NEAR(r->parts[i].value.amount, f.parts[i].value.amount, 1e-4 * f.parts[i].value.amount);
    EXPECT_NEAR(r->parts[i].value.count, f.parts[i].value.count, 1e-4 * f.parts[i].value.count);
  }
  EXPECT_EQ(r->lives[0].generation, 3);
  EXPECT_EQ(r->lives[0].age_bucket, 9);
  EXPECT_EQ(r->lives[0].birth_bucket, 7);
  EXPECT_EQ(r->lives[0].gcs_survived_max, 4u);
  EXPECT_TRUE(r->lives[1].young);
  ExpectSame(r->lives[0].value, f.lives[0].value);
  ExpectSame(r->turnover[0].deaths, f.turnover[0].deaths);
  EXPECT_EQ(r->turnover[0].deaths_age_s, 61.5);
  EXPECT_EQ(r->gcs[0].size_after, f.gcs[0].size_after);
  EXPECT_EQ(r->cpu.workstation_gc_ns, -1);
  EXPECT_EQ(r->cpu.server_gc_ns, 1'000'000'000);
  EXPECT_EQ(r->meter.live_mean_bytes, 204800);
  EXPECT_EQ(r->losses, f.losses);
  EXPECT_EQ(r->dictionary, 2u);
  EXPECT_EQ(r->trouble, f.trouble);
  EXPECT_EQ(r->trouble_since_ns, f.trouble_since_ns);
  EXPECT_EQ(r->measures, f.measures);
  ASSERT_EQ(r->events.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(KeyOf(r->events[i]), KeyOf(f.events[i]));
    EXPECT_EQ(r->events[i].sums.samples, f.events[i].sums.samples);
    EXPECT_EQ(r->events[i].sums.amount, f.events[i].sums.amount);
    EXPECT_EQ(r->events[i].sums.stands_for, f.events[i].sums.stands_for);
  }
}

TEST(IntervalCodec, AFrameWithoutEventsIsOneThatOlderReadersTake) {
  IntervalFrame f = testing::FullFrame();
  EXPECT_EQ(EncodeInterval(f)[4], 2);
  f.events.clear();
  f.measures = 0;
  EXPECT_EQ(EncodeInterval(f)[4], 1);
  EXPECT_TRUE(DecodeInterval(BytesOf(EncodeInterval(f))).ok());
  f.measures = 1u << static_cast<uint32_t>(Measure::kAllocations) |
               1u << static_cast<uint32_t>(Measure::kLive);
  EXPECT_EQ(EncodeInterval(f)[4], 1);
  f.measures |= 1u << static_cast<uint32_t>(Measure::kExceptions);  // there were none
  EXPECT_EQ(EncodeInterval(f)[4], 2);
}

TEST(IntervalCodec, PlacesOfEarlierFramesStay) {
  IntervalFrame f;
  f.first_place = 12;
  EXPECT_EQ(DecodeInterval(BytesOf(EncodeInterval(f)))->first_place, 12u);
  f.first_node = 3;
  f.nodes = {{0, 0, 11}};
  f.methods.resize(1);
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(EncodeInterval(f)));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->nodes[0].place, 11u);
}

TEST(IntervalCodec, PlacesAreThoseThatWereTold) {
  IntervalFrame f = testing::FullFrame();
  f.nodes[1].place = 14;
  EXPECT_FALSE(DecodeInterval(BytesOf(EncodeInterval(f))).ok());
  // In a recording they are addresses of the process's tree.
  f.first_place = 0;
  f.places.clear();
  f.nodes[1].place = 4'000'000;
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(EncodeInterval(f)));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->nodes[1].place, 4'000'000u);
  // Where none is told, the frame is what it was before there were any.
  for (IntervalNode& n : f.nodes) n.place = 0;
  const std::string without = EncodeInterval(f);
  f.first_place = 1;
  EXPECT_EQ(EncodeInterval(f), without);
}

TEST(IntervalCodec, RequestsOfRowsComeBackAndOtherReadersPassThemBy) {
  IntervalFrame f = testing::FullFrame();
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(EncodeInterval(f)));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_TRUE(r->requests);
  ASSERT_EQ(r->activities.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(r->activities[i].number, f.activities[i].number);
    EXPECT_EQ(r->activities[i].first_ns, f.activities[i].first_ns);
    EXPECT_EQ(r->activities[i].id, f.activities[i].id);
  }
  EXPECT_EQ(r->ended_activities, f.ended_activities);
  EXPECT_EQ(r->lives[0].request, 9u);
  EXPECT_EQ(r->lives[1].request, 0u);
  EXPECT_EQ(r->turnover[0].request, 4u);
  const std::string with = EncodeInterval(f);
  f.requests = false;
  const std::string without = EncodeInterval(f);
  EXPECT_EQ(with.substr(0, without.size()), without) << "they come last, in the same version";
  EXPECT_FALSE(DecodeInterval(BytesOf(without))->requests);
}

TEST(IntervalCodec, RequestsOfOtherRowsThanThereAreAreAnError) {
  IntervalFrame f = testing::FullFrame();
  f.requests = false;
  const std::string without = EncodeInterval(f);
  f.requests = true;
  f.lives.pop_back();
  IntervalFrame fewer;
  const std::string with = EncodeInterval(f);
  f.requests = false;
  const std::string section = with.substr(EncodeInterval(f).size());
  EXPECT_FALSE(DecodeInterval(BytesOf(without + section)).ok());
}

TEST(IntervalCodec, EventsOfAnotherKindAreAnError) {
  for (const Source source : {Source::kSampled, Source::kForeign}) {
    IntervalFrame f = testing::FullFrame();
    f.events[0].source = source;
    EXPECT_FALSE(DecodeInterval(BytesOf(EncodeInterval(f))).ok());
  }
}

TEST(IntervalCodec, TickValuesKeepThatTheyAreBiased) {
  IntervalFrame f;
  f.source = Source::kTick;
  f.flows = {{0, 0, HeapKind::kSoh, EstimateTick(3, 310'000, 64)}};
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(EncodeInterval(f)));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->source, Source::kTick);
  ExpectSame(r->flows[0].value, f.flows[0].value);
}

TEST(IntervalCodec, UnknownSectionsAndWhatFollowsInKnownOnesAreSkipped) {
  std::string bytes = EncodeInterval(testing::FullFrame());
  bytes += std::string("\x63\x03xyz", 5);
  EXPECT_TRUE(DecodeInterval(BytesOf(bytes)).ok());
  // The head is the first section: tag at 8, a length of one byte at 9. Two bytes more at its end.
  std::string longer = bytes;
  const auto head = static_cast<size_t>(static_cast<uint8_t>(longer[9]));
  ASSERT_LT(head, 0x7eu);
  longer[9] = static_cast<char>(head + 2);
  longer.insert(10 + head, "ab");
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(longer));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->first_node, 5u);
}

TEST(IntervalCodec, ANewerVersionIsRefusedWithASentence) {
  std::string bytes = EncodeInterval({});
  bytes[4] = 9;
  const Result<IntervalFrame> r = DecodeInterval(BytesOf(bytes));
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::kFailed);
  EXPECT_NE(r.error().message.find("version 9"), std::string::npos);
}

TEST(IntervalCodec, EveryCutIsAnErrorThatSaysWhereOrIsBetweenSections) {
  const std::string bytes = EncodeInterval(testing::FullFrame());
  size_t between = 0;
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Result<IntervalFrame> r = DecodeInterval(BytesOf(bytes.substr(0, n)));
    if (r.ok()) {
      ++between;
    } else {
      EXPECT_LE(r.error().offset, n);
    }
  }
  EXPECT_EQ(between, 15u);  // after each section but the last
}

TEST(IntervalCodec, IdsBeyondTheDictionariesAreAnError) {
  const auto refused = [](auto change) {
    IntervalFrame f = testing::FullFrame();
    change(f);
    return !DecodeInterval(BytesOf(EncodeInterval(f))).ok();
  };
  EXPECT_FALSE(refused([](IntervalFrame&) {}));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.nodes[0].parent = 5; }));  // itself
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.nodes[0].method = 5; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.flows[0].node = 8; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.flows[0].type = 3; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.lives[0].generation = 5; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.lives[0].age_bucket = kAgeStarts.size(); }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.turnover[0].birth_bucket = kBirthStarts.size(); }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.lives[0].value.amount = -1.5; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.events[0].node = 8; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.events[1].type = 3; }));
  EXPECT_TRUE(refused([](IntervalFrame& f) { f.events[1].sums.amount = uint64_t{1} << 62; }));
}

TEST(IntervalFrame, BucketsBeginAtTheirBounds) {
  EXPECT_EQ(AgeBucket(-5), 0);
  EXPECT_EQ(AgeBucket(0), 0);
  EXPECT_EQ(AgeBucket(kSecond - 1), 0);
  EXPECT_EQ(AgeBucket(kSecond), 1);
  EXPECT_EQ(kAgeStarts[AgeBucket(600 * kSecond)], 600u);
  EXPECT_EQ(kAgeStarts[AgeBucket(600 * kSecond - 1)], 300u);
  EXPECT_EQ(AgeBucket(1'000'000'000 * kSecond), kAgeStarts.size() - 1);
  EXPECT_EQ(kBirthStarts[BirthBucket(899 * kSecond)], 600u);
}

// Writes the fuzzer's seed when asked to: CLRSCOPE_CORPUS=fuzz/corpus/interval_frame.
TEST(IntervalCodec, SeedOfTheFuzzerIsAFrame) {
  const std::string path = SourceDir() + "/fuzz/corpus/interval_frame/full_frame";
  if (std::getenv("CLRSCOPE_CORPUS") != nullptr) {
    std::ofstream(path, std::ios::binary) << EncodeInterval(testing::FullFrame());
  }
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(DecodeInterval(BytesOf(bytes)).ok());
}

}  // namespace
}  // namespace clrscope::profile
