// SPDX-License-Identifier: Apache-2.0
#include "pprof/memory_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <protozero/pbf_reader.hpp>

namespace clrscope::pprof {
namespace {

using profile::HeapKind;
using profile::Source;

class CountingSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    ++writes;
    largest = std::max(largest, bytes.size());
    all += bytes;
    return OkStatus();
  }
  size_t writes = 0, largest = 0;
  std::string all;
};

// Each sample as "value value key=text key=number unit …"; strings come last, so in two rounds.
std::vector<std::string> Samples(const std::string& bytes) {
  std::vector<std::string> strings, out;
  protozero::pbf_reader all(bytes);
  while (all.next(6)) strings.push_back(all.get_string());
  const auto text = [&](int64_t id) { return strings.at(static_cast<size_t>(id)); };
  protozero::pbf_reader profile(bytes);
  while (profile.next(2)) {
    std::string line;
    protozero::pbf_reader sample = profile.get_message();
    while (sample.next()) {
      if (sample.tag() == 2) {
        for (const int64_t v : sample.get_packed_int64()) line += std::to_string(v) + " ";
      } else if (sample.tag() == 3) {
        protozero::pbf_reader label = sample.get_message();
        while (label.next()) {
          const int64_t v = label.get_int64();
          line += label.tag() == 1   ? text(v) + "="
                  : label.tag() == 3 ? std::to_string(v) + " "
                                     : text(v) + " ";
        }
      } else {
        sample.skip();
      }
    }
    out.push_back(line);
  }
  return out;
}

TEST(MemoryWriter, ValuesAndLabelsHaveOneForm) {
  CountingSink sink;
  MemoryWriter out({.allocated = true, .objects = true, .live = true}, sink);
  out.LabelAll("service", "shop");
  const uint64_t type = out.TypeLocation("byte[]", "System.Byte[]");
  ASSERT_TRUE(out.Allocated({{&type, 1}, 2, 48, HeapKind::kSoh, {}}).ok());
  ASSERT_TRUE(out.Allocated({{&type, 1}, 1, 9, HeapKind::kUnknown, "shop (7)"}).ok());
  ASSERT_TRUE(out.Live({{&type, 1}, 3, 90000, HeapKind::kLoh, {}}, 3, 8).ok());
  ASSERT_TRUE(out.Live({{&type, 1}, 1, 24, HeapKind::kSoh, {}}, -1, 0).ok());
  ASSERT_TRUE(out.Finish().ok());
  EXPECT_EQ(Samples(sink.all),
            (std::vector<std::string>{
                "2 48 0 0 service=shop heap=SOH ", "1 9 0 0 service=shop process=shop (7) ",
                "0 0 3 90000 service=shop heap=LOH generation=LOH age=120 seconds ",
                "0 0 1 24 service=shop heap=SOH age=0 seconds "}));
}

TEST(MemoryWriter, ColumnsThatAreUnknownAreLeftOut) {
  CountingSink sink;
  MemoryWriter out({.allocated = true, .objects = false, .live = false}, sink);
  const uint64_t type = out.TypeLocation("", "");
  ASSERT_TRUE(out.Allocated({{&type, 1}, 2, 48, HeapKind::kSoh, {}}).ok());
  ASSERT_TRUE(out.Finish().ok());
  EXPECT_EQ(Samples(sink.all), std::vector<std::string>{"48 heap=SOH "});
  EXPECT_NE(sink.all.find("[type]![unknown type]"), std::string::npos);
}

TEST(MemoryWriter, EventsHaveColumnsBehindThoseOfMemory) {
  CountingSink sink;
  MemoryWriter out(
      {.objects = false, .events = {profile::Measure::kExceptions, profile::Measure::kWaits}},
      sink);
  const uint64_t method = 1;
  EXPECT_TRUE(out.Allocated({{&method, 1}, 0, 9, HeapKind::kSoh, ""}).ok());
  EXPECT_TRUE(out.Event({{&method, 1}, 5, 2, 41, "orders (1)"}, 0).ok());
  EXPECT_TRUE(out.Event({{&method, 1}, 3, 700, 0, "", "", 8, false, "Shop.Fill"}, 1).ok());
  EXPECT_TRUE(out.Finish().ok());
  EXPECT_EQ(Samples(sink.all), (std::vector<std::string>{
                                   "9 0 0 0 0 heap=SOH ", "0 5 2 0 0 process=orders (1) thread=41 ",
                                   "0 0 0 3 700 owner=8 holding=Shop.Fill "}));
}

TEST(MemoryWriter, SamplesLeaveAsTheyCome) {
  CountingSink sink;
  MemoryWriter out({}, sink);
  const uint64_t type = out.TypeLocation("T", "T");
  const std::vector<uint64_t> stack(100, type);
  for (int i = 0; i < 10'000; ++i)
    ASSERT_TRUE(out.Allocated({stack, 1, 1, HeapKind::kSoh, {}}).ok());
  EXPECT_GT(sink.writes, 10u);
  ASSERT_TRUE(out.Finish().ok());
  EXPECT_LT(sink.largest, kFlushBytes + 1000);
  EXPECT_EQ(Samples(sink.all).size(), 10'000u);
}

TEST(PeriodOf, IsWhatAnEventStandsFor) {
  profile::Estimate total;
  total.samples = 82;
  total.amount = 1'000'000.6;
  EXPECT_EQ(PeriodOf(Source::kSampled, total), 102400);
  EXPECT_EQ(PeriodOf(Source::kTick, total), 12195);
  EXPECT_EQ(PeriodOf(Source::kCounted, {}), 1);
}

}  // namespace
}  // namespace clrscope::pprof
