// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <protozero/pbf_writer.hpp>

#include "base/testing/source_dir.h"
#include "base/units.h"
#include "import/pprof_frames.h"
#include "import/pprof_reader.h"
#include "import/testing/gzip.h"
#include "profile/profile.h"

namespace clrscope::import {
namespace {

using protozero::pbf_writer;

// A heap profile as Go's runtime/pprof writes it: two stacks, an inlined frame, sizes as labels.
class GoHeap {
 public:
  explicit GoHeap(int64_t time_ns = 1'000 * kSecond) {
    for (const char* s :
         {"", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space",
          "main.grow", "main.main", "runtime.makeslice", "bytes", "/bin/app"})
      strings_.emplace_back(s);
    Type(1, 2);
    Type(3, 4);
    Type(5, 2);
    Type(6, 4);
    for (int64_t id = 1; id <= 3; ++id) {
      pbf_writer f(out_, 5);
      f.add_uint64(1, static_cast<uint64_t>(id));
      f.add_int64(2, 6 + id);
      f.add_int64(3, 6 + id);
    }
    {
      pbf_writer m(out_, 3);
      m.add_uint64(1, 1);
      m.add_int64(5, 11);
    }
    Location(1, {3, 1});  // makeslice inlined into grow
    Location(2, {2});
    Location(3, {});
    out_.add_int64(9, time_ns);
  }
  void Sample(std::vector<uint64_t> locations, std::vector<int64_t> values) {
    pbf_writer s(out_, 2);
    s.add_packed_uint64(1, locations.begin(), locations.end());
    s.add_packed_int64(2, values.begin(), values.end());
    pbf_writer l(s, 3);
    l.add_int64(1, 10);
    l.add_int64(3, 64);
  }
  std::string Bytes() {
    std::string all = bytes_;
    pbf_writer w(all);
    for (const std::string& s : strings_) w.add_string(6, s);
    return all;
  }

 private:
  void Type(int64_t type, int64_t unit) {
    pbf_writer t(out_, 1);
    t.add_int64(1, type);
    t.add_int64(2, unit);
  }
  void Location(uint64_t id, std::vector<uint64_t> functions) {
    pbf_writer l(out_, 4);
    l.add_uint64(1, id);
    l.add_uint64(2, 1);
    l.add_uint64(3, 0x1000 + id);
    for (const uint64_t f : functions) {
      pbf_writer line(l, 4);
      line.add_uint64(1, f);
    }
  }
  std::vector<std::string> strings_;
  std::string bytes_;
  pbf_writer out_{bytes_};
};

TEST(Pprof, AGoHeapProfileIsAllocationsAndLiveObjects) {
  GoHeap heap;
  heap.Sample({1, 2}, {10, 640, 4, 256});
  heap.Sample({3, 2}, {5, 500, 0, 0});
  const std::string bytes = heap.Bytes();
  const auto profile = ParsePprof(bytes);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->time_ns, 1'000 * kSecond);
  ASSERT_EQ(profile->samples.size(), 2u);
  EXPECT_EQ(profile->samples[0].labels[0].number, 64);
  EXPECT_EQ(profile->main_module, "/bin/app");
  PprofFrames frames;
  const auto frame = frames.Next(*profile);
  ASSERT_TRUE(frame.ok()) << frame.error().message;
  EXPECT_EQ(frame->source, profile::Source::kForeign);
  EXPECT_TRUE(frame->live);
  ASSERT_EQ(frame->flows.size(), 2u);
  ASSERT_EQ(frame->lives.size(), 1u);
  EXPECT_EQ(frame->lives[0].value.amount, 256);
  EXPECT_EQ(frame->lives[0].value.count, 4);
  // Root first: main.main, main.grow, runtime.makeslice.
  uint32_t node = frame->lives[0].node;
  std::vector<std::string> stack;
  for (; node != 0; node = frame->nodes[node - 1].parent)
    stack.push_back(frame->methods[frame->nodes[node - 1].method].method);
  EXPECT_EQ(stack, (std::vector<std::string>{"runtime.makeslice", "main.grow", "main.main"}));
  // A location without a function is told by its address.
  const uint32_t other =
      frame->flows[0].node == frame->lives[0].node ? frame->flows[1].node : frame->flows[0].node;
  EXPECT_EQ(frame->methods[frame->nodes[other - 1].method].method, "0x1003");
}

TEST(Pprof, TheNextFileBringsOnlyWhatIsNew) {
  GoHeap first, second(1'060 * kSecond);
  first.Sample({2}, {1, 10, 1, 10});
  second.Sample({2}, {3, 30, 2, 20});
  second.Sample({1, 2}, {3, 30, 2, 20});
  const std::string a = first.Bytes(), b = second.Bytes();
  PprofFrames frames;
  const auto one = frames.Next(*ParsePprof(a)), two = frames.Next(*ParsePprof(b));
  EXPECT_EQ(one->nodes.size(), 1u);
  EXPECT_EQ(two->first_node, 2u);
  EXPECT_EQ(two->nodes.size(), 2u);
  EXPECT_EQ(two->sequence, 1u);
  EXPECT_EQ(two->start_ns, 0);
  EXPECT_EQ(two->end_ns, 60 * kSecond);
}

TEST(Pprof, GenerationsAndAgesAreReadAsWrittenTodayAndBefore) {
  PprofProfile p;
  p.sample_types = {{"inuse_objects", "count"}, {"inuse_space", "bytes"}};
  const auto add = [&](int64_t bytes, std::string_view generation, std::string_view age,
                       int64_t seconds) {
    PprofSample& s = p.samples.emplace_back();
    s.values = {1, bytes};
    s.labels = {{"generation", generation, "", 0},
                {"age", age, age.empty() ? "seconds" : "", seconds}};
  };
  add(1, "LOH", "", 600);
  add(2, "3", "10m-20m", 0);  // the agent's files of before
  add(8, "4", "14d+", 0);
  add(4, "2", "0s-1s", 0);
  add(5, "gen1", "old", 0);  // another tool's
  PprofFrames frames;
  const auto frame = frames.Next(p);
  ASSERT_TRUE(frame.ok());
  std::map<int64_t, std::pair<int, int>> told;  // by bytes
  for (const profile::IntervalLive& l : frame->lives)
    told[static_cast<int64_t>(l.value.amount)] = {l.generation, l.age_bucket};
  const int ten_minutes = profile::AgeBucket(600 * kSecond);
  const int last = static_cast<int>(profile::kAgeStarts.size()) - 1;
  EXPECT_EQ(told, (std::map<int64_t, std::pair<int, int>>{
                      {3, {3, ten_minutes}}, {8, {4, last}}, {4, {2, 0}}, {5, {1, 0}}}))
      << "the first two are the same";
}

TEST(Pprof, ValuesAreFoundByTheirNames) {
  PprofProfile p;
  p.sample_types = {{"heap-live-samples", "count"},
                    {"heap-live-size", "bytes"},
                    {"alloc-samples", "count"},
                    {"alloc-size", "bytes"}};
  MemoryColumns c = FindMemory(p);
  EXPECT_EQ(c.live_objects, 0);
  EXPECT_EQ(c.live_bytes, 1);
  EXPECT_EQ(c.alloc_objects, 2);
  EXPECT_EQ(c.alloc_bytes, 3);
  // clrscope's own values of events are none of memory.
  p.sample_types = {{"alloc_space", "bytes"}, {"exceptions", "count"},  {"rethrows", "count"},
                    {"contentions", "count"}, {"delay", "nanoseconds"}, {"waits", "count"},
                    {"wait", "nanoseconds"}};
  c = FindMemory(p);
  EXPECT_EQ(c.alloc_bytes, 0);
  EXPECT_EQ(c.alloc_objects, -1);
  EXPECT_EQ(c.live_objects, -1);
  EXPECT_EQ(c.live_bytes, -1);
  p.sample_types = {{"samples", "count"}, {"cycles", "count"}};
  EXPECT_FALSE(FindMemory(p).any());
  PprofFrames frames;
  const auto frame = frames.Next(p);
  ASSERT_FALSE(frame.ok());
  EXPECT_NE(frame.error().message.find("cycles (count)"), std::string::npos);
}

TEST(Pprof, WhatRefersToNothingIsAnErrorWithItsOffset) {
  GoHeap heap;
  heap.Sample({9}, {1, 1, 1, 1});
  const std::string bytes = heap.Bytes();
  const auto profile = ParsePprof(bytes);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, ErrorCode::kCorrupt);
  EXPECT_LT(profile.error().offset, bytes.size());
  GoHeap short_values;
  short_values.Sample({2}, {1, 1});
  const std::string other = short_values.Bytes();
  EXPECT_FALSE(ParsePprof(other).ok());
  for (size_t n = 1; n < other.size(); ++n)
    (void)ParsePprof(std::string_view(other).substr(0, n));  // none may crash
}

// Writes the fuzzer's seeds when asked to: CLRSCOPE_CORPUS=1.
TEST(Pprof, SeedsOfTheFuzzerAreProfiles) {
  const std::string folder = SourceDir() + "/fuzz/corpus/pprof/";
  if (std::getenv("CLRSCOPE_CORPUS") != nullptr) {
    GoHeap heap;
    heap.Sample({1, 2}, {10, 640, 4, 256});
    heap.Sample({3, 2}, {5, 500, 0, 0});
    std::ofstream(folder + "go_heap", std::ios::binary) << heap.Bytes();
    std::ofstream(folder + "go_heap_gz", std::ios::binary) << testing::Gzip(heap.Bytes());
  }
  for (const char* name : {"go_heap", "go_heap_gz"}) {
    MaybeGzipped bytes(OpenSource(folder + name).Take());
    const auto message = ReadAll(bytes);
    ASSERT_TRUE(message.ok()) << message.error().message;
    EXPECT_TRUE(ParsePprof(*message).ok());
  }
}

}  // namespace
}  // namespace clrscope::import
