// SPDX-License-Identifier: Apache-2.0
// pprof files as the format's own program, `go tool pprof`, shows them.
#include "export/pprof.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "export/gzip_sink.h"
#include "export/testing/events.h"
#include "export/testing/full_sink.h"
#include "export/testing/profile_builder.h"
#include "export/testing/scratch_dir.h"
#include "profile/interval/interval_frame.h"
#include "profile/views/show_live.h"

namespace clrscope::exporter {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;
using testing::ProfileBuilder;
using testing::ScratchDir;
using testing::ShopProfile;

std::string Encode(const profile::Profile& p, const PprofOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(WritePprof(p, options, sink).ok());
  return sink.text();
}

std::string Gzipped(const profile::Profile& p) {
  StringSink sink;
  GzipSink gzip(sink);
  EXPECT_TRUE(WritePprof(p, {}, gzip).ok());
  EXPECT_TRUE(gzip.Finish().ok());
  return sink.text();
}

AssertionResult Contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return AssertionSuccess();
  return AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

// What tests look at of a decoded message.
struct Decoded {
  std::vector<std::string> strings;
  std::vector<std::pair<int64_t, int64_t>> functions;  // name, system name
  std::vector<std::vector<int64_t>> values;            // per sample
  std::vector<int64_t> mapping_files, mapping_build_ids, sample_types, comments;
  int mapping_flags = 0;
  int64_t default_type = 0, period = 0, time = 0, duration = 0;
  bool has_frame_filters = false;
};

Decoded Decode(const std::string& bytes) {
  Decoded d;
  protozero::pbf_reader profile(bytes);
  while (profile.next()) {
    switch (profile.tag()) {
      case 1: {
        protozero::pbf_reader m = profile.get_message();
        while (m.next()) m.tag() == 1 ? d.sample_types.push_back(m.get_int64()) : m.skip();
        break;
      }
      case 2: {
        protozero::pbf_reader m = profile.get_message();
        while (m.next(2)) {
          const auto range = m.get_packed_int64();
          d.values.emplace_back(range.begin(), range.end());
        }
        break;
      }
      case 3: {
        protozero::pbf_reader m = profile.get_message();
        while (m.next()) {
          if (m.tag() == 5) {
            d.mapping_files.push_back(m.get_int64());
          } else if (m.tag() == 6) {
            d.mapping_build_ids.push_back(m.get_int64());
          } else if (m.tag() >= 7) {
            d.mapping_flags += m.get_bool() ? 1 : 0;
          } else {
            m.skip();
          }
        }
        break;
      }
      case 5: {
        protozero::pbf_reader m = profile.get_message();
        auto& f = d.functions.emplace_back();
        while (m.next()) {
          if (m.tag() == 2) {
            f.first = m.get_int64();
          } else if (m.tag() == 3) {
            f.second = m.get_int64();
          } else {
            m.skip();
          }
        }
        break;
      }
      case 6:
        d.strings.push_back(profile.get_string());
        break;
      case 7:
      case 8:
        d.has_frame_filters = true;
        profile.skip();
        break;
      case 9:
        d.time = profile.get_int64();
        break;
      case 10:
        d.duration = profile.get_int64();
        break;
      case 12:
        d.period = profile.get_int64();
        break;
      case 13:
        d.comments.push_back(profile.get_int64());
        break;
      case 14:
        d.default_type = profile.get_int64();
        break;
      default:
        profile.skip();
    }
  }
  return d;
}

std::string At(const Decoded& d, int64_t id) { return d.strings.at(static_cast<size_t>(id)); }

TEST(PprofTest, HeaderSaysTypesPeriodAndTimes) {
  const Decoded d = Decode(Encode(ShopProfile()));
  ASSERT_EQ(d.sample_types.size(), 2u);
  EXPECT_EQ(At(d, d.sample_types[0]), "alloc_objects");
  EXPECT_EQ(At(d, d.sample_types[1]), "alloc_space");
  EXPECT_EQ(At(d, d.default_type), "alloc_space");
  EXPECT_EQ(d.period, 102400);
  EXPECT_EQ(d.time, 1'700'000'000'000'000'000);
  EXPECT_EQ(d.duration, 30'000'000'000);
  EXPECT_EQ(d.strings.at(0), "");
  EXPECT_FALSE(d.has_frame_filters);
}

TEST(PprofTest, WholeNumbersSumToTheRoundedTotals) {
  int64_t objects = 0, bytes = 0;
  for (const auto& values : Decode(Encode(ShopProfile())).values) {
    ASSERT_EQ(values.size(), 2u);
    objects += values[0];
    bytes += values[1];
  }
  EXPECT_EQ(objects, 5003);
  EXPECT_EQ(bytes, 1000001);
}

TEST(PprofTest, SystemNamesAlwaysDifferFromNames) {
  const Decoded d = Decode(Encode(ShopProfile(), {.keep_machinery = true}));
  std::map<std::string, std::string> names;
  for (const auto& [name, system_name] : d.functions) {
    EXPECT_NE(name, system_name);
    names[At(d, name)] = At(d, system_name);
  }
  EXPECT_EQ(names["Acme.Shop.Repo<System.String>.Load"],
            "Acme.Shop!0x6000002:Acme.Shop.Repo`1[System.__Canon].Load(int32)");
  EXPECT_EQ(names["byte[]"], "[type]!System.Byte[]");
  EXPECT_EQ(names["[unresolved]"], "![unresolved]");
}

TEST(PprofTest, TheMainModuleIsTheFirstMappingAndAllFlagsAreSet) {
  const Decoded d = Decode(Encode(ShopProfile()));
  ASSERT_EQ(d.mapping_files.size(), 3u);
  EXPECT_EQ(At(d, d.mapping_files[0]), "/srv/shop/Acme.Shop.dll");
  EXPECT_EQ(At(d, d.mapping_build_ids[0]), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(d.mapping_flags, 3 * 4);
}

TEST(PprofTest, TheMainModuleMayBeToldAsAFileName) {
  profile::Profile p = ShopProfile();
  p.processes[0].main_module = p.strings.Intern("/elsewhere/Acme.Shop.dll");
  const Decoded d = Decode(Encode(p));
  EXPECT_EQ(d.mapping_files.size(), 3u);
  EXPECT_EQ(At(d, d.mapping_files.at(0)), "/srv/shop/Acme.Shop.dll");
}

TEST(PprofTest, CommentsCarryTheNotes) {
  const Decoded d = Decode(Encode(ShopProfile()));
  std::string comments;
  for (const int64_t id : d.comments) comments += At(d, id) + "\n";
  EXPECT_TRUE(Contains(comments, "command line: dotnet Acme.Shop.dll --port 5000\n"));
  EXPECT_TRUE(Contains(comments, "loss: 17 "));
  EXPECT_TRUE(Contains(comments, "±"));
}

// The shop, and what of it lives: 300 bytes that are ten minutes old and 100 that are young enough
// to be of no age, beside objects that no GC looked at yet.
profile::Profile LiveShop() {
  profile::Profile p = ShopProfile();
  const profile::Cell c = p.shown().cells.front();
  const auto live = [&](uint8_t age, int8_t generation, bool young, double bytes) {
    profile::LiveCell l{c.node, c.type, c.process, c.kind, generation, young, age, 0, 0, 0, 0, {}};
    l.value.samples = 1;
    l.value.amount = bytes;
    l.value.count = bytes / 100;
    p.At(profile::Measure::kLive).lives.push_back(l);
  };
  live(profile::AgeBucket(600'000'000'000), 2, false, 300);
  live(0, 1, false, 100);
  live(0, 0, true, 5'000);
  return p;
}

TEST(PprofTest, LiveObjectsAreAPairOfTypesOfTheirOwnAndTheDefault) {
  const Decoded d = Decode(Encode(LiveShop()));
  std::vector<std::string> types;
  for (const int64_t id : d.sample_types) types.push_back(At(d, id));
  EXPECT_EQ(types, (std::vector<std::string>{"alloc_objects", "alloc_space", "inuse_objects",
                                             "inuse_space"}));
  EXPECT_EQ(At(d, d.default_type), "inuse_space");
  std::array<int64_t, 4> sums{};
  for (const auto& values : d.values) {
    ASSERT_EQ(values.size(), 4u);
    EXPECT_TRUE((values[0] == 0 && values[1] == 0) || (values[2] == 0 && values[3] == 0));
    for (size_t i = 0; i < 4; ++i) sums[i] += values[i];
  }
  EXPECT_EQ(sums[1], std::llround(ShopProfile().Total().amount));
  EXPECT_EQ(sums[2], 4);
  EXPECT_EQ(sums[3], 400);
}

TEST(PprofTest, AProfileOfLiveObjectsHoldsNothingElse) {
  profile::Profile p = LiveShop();
  profile::ShowLive(p, 300);
  const Decoded d = Decode(Encode(p));
  ASSERT_EQ(d.sample_types.size(), 2u);
  EXPECT_EQ(At(d, d.default_type), "inuse_space");
  ASSERT_EQ(d.values.size(), 1u);
  EXPECT_EQ(d.values[0], (std::vector<int64_t>{3, 300}));
}

TEST(PprofTest, UnknownObjectsAreLeftOutRatherThanZero) {
  profile::Profile p = ShopProfile();
  p.shown().counts_known = false;
  p.shown().source = profile::Source::kTick;
  const Decoded d = Decode(Encode(p));
  ASSERT_EQ(d.sample_types.size(), 1u);
  EXPECT_EQ(At(d, d.sample_types[0]), "alloc_space");
  for (const auto& values : d.values) EXPECT_EQ(values.size(), 1u);
  EXPECT_EQ(d.period, 12195) << "mean bytes of a tick: 1000000.6 / 82";
}

TEST(PprofTest, TheSameProfileGivesTheSameBytes) {
  EXPECT_EQ(Encode(ShopProfile()), Encode(ShopProfile()));
  EXPECT_EQ(Gzipped(ShopProfile()), Gzipped(ShopProfile()));
}

TEST(PprofTest, AFailingSinkIsReported) {
  testing::FullSink sink;
  EXPECT_EQ(WritePprof(ShopProfile(), {}, sink).error().message, "full");
}

// The shop with 12 exceptions, 3 of them thrown again, on two threads, and a wait of 2 ms for a
// lock.
profile::Profile EventShop() {
  profile::Profile p = ShopProfile();
  const profile::Cell c = p.figures[0].cells.front();
  p.types.push_back(
      {p.strings.Intern("Acme.Shop.OutOfStock"), p.strings.Intern("Acme.Shop.OutOfStock"), 77, 0});
  const auto type = static_cast<uint32_t>(p.types.size() - 1);
  testing::AddEvents(p, profile::Measure::kExceptions, c.node, type, 10, 3, 41);
  testing::AddEvents(p, profile::Measure::kExceptions, c.node, type, 2, 0, 42);
  testing::AddEvents(p, profile::Measure::kLocks, c.node, type, 1, 2'000'000, 41);
  return p;
}

std::vector<std::string> TypesOf(const Decoded& d) {
  std::vector<std::string> types;
  for (const int64_t id : d.sample_types) types.push_back(At(d, id));
  return types;
}

TEST(PprofTest, EveryMeasureHasColumnsOfItsOwn) {
  const Decoded d = Decode(Encode(EventShop()));
  EXPECT_EQ(TypesOf(d), (std::vector<std::string>{"alloc_objects", "alloc_space", "exceptions",
                                                  "rethrows", "contentions", "delay"}));
  EXPECT_EQ(At(d, d.default_type), "alloc_space");
  const Decoded plain = Decode(Encode(ShopProfile()));
  ASSERT_EQ(d.values.size(), plain.values.size() + 3) << "threads stay apart";
  for (size_t i = 0; i < plain.values.size(); ++i) {
    std::vector<int64_t> wanted = plain.values[i];
    wanted.resize(6);
    EXPECT_EQ(d.values[i], wanted);
  }
  const auto tail = [&](size_t i) { return d.values[plain.values.size() + i]; };
  EXPECT_EQ(tail(0), (std::vector<int64_t>{0, 0, 10, 3, 0, 0}));
  EXPECT_EQ(tail(1), (std::vector<int64_t>{0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(tail(2), (std::vector<int64_t>{0, 0, 0, 0, 1, 2'000'000}));
  std::string comments;
  for (const int64_t id : d.comments) comments += At(d, id) + "\n";
  EXPECT_TRUE(Contains(comments, "event: Exception, one for every throw\n"));
  EXPECT_TRUE(Contains(comments, "total exceptions (count): 12\n"));
  EXPECT_TRUE(Contains(comments, "total delay (ns): 2000000\n"));
}

TEST(PprofTest, AllocationsHaveTheirThreadWhereItIsKept) {
  profile::Profile p = ShopProfile();
  p.thread_names[{0, 4711}] = p.strings.Intern("worker-1");
  p.labels.push_back(profile::LabelSet{}.With(profile::LabelKey::kThread, 4711));
  for (profile::Cell& c : p.shown().cells) c.labels = 1;
  const size_t unlabelled = Encode(p).size();
  EXPECT_EQ(unlabelled, Encode(ShopProfile()).size()) << "nobody says that they are threads' cells";
  p.shown().cells_by_thread = true;
  const Decoded d = Decode(Encode(p));
  const auto names = d.strings;
  for (const char* text : {"thread", "thread_name", "worker-1"})
    EXPECT_NE(std::find(names.begin(), names.end(), text), names.end()) << text;
  EXPECT_EQ(d.values, Decode(Encode(ShopProfile())).values);
}

TEST(PprofTest, WhatBelongsToARequestHasItsRoute) {
  profile::Profile p = EventShop();
  const Decoded before = Decode(Encode(p));
  p.At(profile::Measure::kRequests).source = profile::Source::kRequest;
  const auto of_route = [&](const profile::LabelSet& set, const char* route, uint64_t step) {
    p.labels.push_back(set.With(profile::LabelKey::kRequest, p.strings.Intern(route).value)
                           .With(profile::LabelKey::kDuration, step));
    return static_cast<uint32_t>(p.labels.size() - 1);
  };
  // Two requests of one route, which took longer and shorter.
  profile::Figure& allocated = p.figures[0];
  allocated.cells[0].labels = of_route({}, "GET /items/{id}", 7);
  profile::Cell more = allocated.cells[0];
  more.labels = of_route({}, "GET /items/{id}", 9);
  allocated.cells.push_back(more);
  profile::Cell& thrown = p.At(profile::Measure::kExceptions).cells[0];
  thrown.labels = of_route(p.labels[thrown.labels], "POST /orders", 7);
  const auto has = [](const Decoded& d, const char* text) {
    return std::find(d.strings.begin(), d.strings.end(), text) != d.strings.end();
  };
  EXPECT_FALSE(has(Decode(Encode(p)), "GET /items/{id}")) << "nobody says that cells know it";
  allocated.cells_by_request = true;
  const Decoded d = Decode(Encode(p));
  for (const char* text : {"endpoint", "GET /items/{id}", "POST /orders"})
    EXPECT_TRUE(has(d, text)) << text;
  EXPECT_FALSE(has(d, "(no request)"));
  EXPECT_EQ(d.values.size(), before.values.size()) << "requests have no stacks, durations no label";
  EXPECT_EQ(TypesOf(d), TypesOf(before));
}

TEST(PprofTest, OneMeasureAlone) {
  profile::Profile p = EventShop();
  p.shown_index = 2;
  const Decoded d = Decode(Encode(p, {.only_shown = true}));
  EXPECT_EQ(TypesOf(d), (std::vector<std::string>{"contentions", "delay"}));
  EXPECT_EQ(At(d, d.default_type), "delay");
  EXPECT_EQ(d.period, 0);
  EXPECT_EQ(d.values, (std::vector<std::vector<int64_t>>{{1, 2'000'000}}));
  for (const auto& [name, system_name] : d.functions)
    EXPECT_FALSE(At(d, system_name).starts_with("[type]!")) << "locks have no type";
  p.shown_index = 0;
  EXPECT_EQ(Encode(p, {.only_shown = true}).size(), Encode(ShopProfile()).size());
}

TEST(PprofTest, AllocationsThatWereNotRecordedAreNoColumn) {
  profile::Profile p = EventShop();
  p.figures[0].cells.clear();
  p.processes[0].Record(profile::Measure::kExceptions);
  p.shown_index = 1;
  const Decoded d = Decode(Encode(p));
  EXPECT_EQ(TypesOf(d),
            (std::vector<std::string>{"exceptions", "rethrows", "contentions", "delay"}));
  EXPECT_EQ(At(d, d.default_type), "exceptions");
}

TEST(PprofTest, LiveObjectsAloneAreWithoutEvents) {
  profile::Profile p = LiveShop();
  testing::AddEvents(p, profile::Measure::kLocks, p.figures[0].cells[0].node, 0, 1, 10);
  EXPECT_EQ(TypesOf(Decode(Encode(p))),
            (std::vector<std::string>{"alloc_objects", "alloc_space", "inuse_objects",
                                      "inuse_space", "contentions", "delay"}));
  profile::ShowLive(p, 0);
  EXPECT_EQ(TypesOf(Decode(Encode(p))), (std::vector<std::string>{"inuse_objects", "inuse_space"}));
}

// The rest asks the program that people use.
class GoPprofTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("go version >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "SKIPPED: there is no `go` on the PATH, so pprof files were not shown to "
                      "`go tool pprof` (install golang-go)";
    }
    path_ = dir_ / "shop.pb.gz";
    testing::WriteAll(path_, Gzipped(ShopProfile()));
  }

  // Runs `go tool pprof ARGS`; both outputs together, with runs of spaces made one.
  std::string Pprof(const std::string& args) {
    const std::string command = "HOME='" + dir_.path().string() + "' PPROF_TMPDIR='" +
                                dir_.path().string() + "' go tool pprof -symbolize=local " + args +
                                " 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      if (c != ' ' || out.empty() || out.back() != ' ') out += static_cast<char>(c);
    }
    const int status = ::pclose(pipe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << out;
    EXPECT_EQ(out.find("ymbolization failed"), std::string::npos) << out;
    EXPECT_EQ(out.find("Ignoring local file"), std::string::npos) << out;
    return out;
  }

  ScratchDir dir_;
  std::string path_;
};

TEST_F(GoPprofTest, TopShowsTypesAsLeavesAndBytesByDefault) {
  const std::string out = Pprof("-unit=B -top " + path_);
  EXPECT_TRUE(Contains(out, "File: Acme.Shop.dll\n"));
  EXPECT_TRUE(Contains(out, "Type: alloc_space\n"));
  EXPECT_TRUE(Contains(out, "Duration: 30s, Total samples = 1000001B"));
  EXPECT_TRUE(Contains(out, "100% of 1000001B total"));
  EXPECT_TRUE(Contains(out, " 720001B 72.00% 72.00% 720001B 72.00% byte[]\n"));
  EXPECT_TRUE(Contains(out, "System.Collections.Generic.Dictionary<string, int>\n"));
}

TEST_F(GoPprofTest, CumulativeTopKeepsGenericsNestingLambdasAndAsync) {
  const std::string out = Pprof("-unit=B -top -cum " + path_);
  EXPECT_TRUE(Contains(out, " 700001B 70.00% Acme.Shop.Repo<System.String>.Load\n"));
  EXPECT_TRUE(Contains(out, "Acme.Shop.Outer.Inner<int, string>.Make<T>\n"));
  EXPECT_TRUE(Contains(out, "Acme.Shop.Program.Main.λ0\n"));
  EXPECT_TRUE(Contains(out, "Acme.Shop.Cart.AddAsync [async]\n"));
  EXPECT_TRUE(Contains(out, "System.Collections.Generic.List<string>.Add\n"));
  EXPECT_EQ(out.find("Task.Start"), std::string::npos) << "machinery is left out\n" << out;
}

TEST_F(GoPprofTest, LiveObjectsCanBeCutByTheirAge) {
  testing::WriteAll(path_, Gzipped(LiveShop()));
  EXPECT_TRUE(Contains(Pprof("-unit=B -top " + path_), "Type: inuse_space\n"));
  EXPECT_TRUE(Contains(Pprof("-unit=B -top " + path_), "100% of 400B total"));
  EXPECT_TRUE(Contains(Pprof("-unit=B -top -tagfocus=age=600s: " + path_), "300B, 75.00% of 400B"));
  EXPECT_TRUE(
      Contains(Pprof("-unit=B -top -sample_index=alloc_space " + path_), "of 1000001B total"));
}

TEST_F(GoPprofTest, EventsCanBeChosenAndCutByTheirThread) {
  testing::WriteAll(path_, Gzipped(EventShop()));
  EXPECT_TRUE(Contains(Pprof("-top " + path_), "Type: alloc_space\n"));
  const std::string thrown = Pprof("-sample_index=exceptions -top " + path_);
  EXPECT_TRUE(Contains(thrown, "100% of 12 total"));
  EXPECT_TRUE(Contains(thrown, " 12 100% 100% 12 100% Acme.Shop.OutOfStock\n"));
  EXPECT_TRUE(Contains(Pprof("-sample_index=exceptions -tagfocus=thread=42 -top " + path_),
                       "2, 16.67% of 12 total"));
  const std::string waited = Pprof("-sample_index=delay -top " + path_);
  EXPECT_TRUE(Contains(waited, "100% of 2ms total"));
  EXPECT_TRUE(Contains(waited, " 2ms 100% 100% 2ms 100% Acme.Shop.Repo<System.String>.Load\n"));
}

TEST_F(GoPprofTest, ObjectsCanBeChosen) {
  const std::string out = Pprof("-sample_index=alloc_objects -top " + path_);
  EXPECT_TRUE(Contains(out, "Type: alloc_objects\n"));
  EXPECT_TRUE(Contains(out, "100% of 5003 total"));
}

TEST_F(GoPprofTest, TracesRunFromTypeToMain) {
  const std::string out = Pprof("-unit=B -traces " + path_);
  EXPECT_TRUE(Contains(out,
                       " 500001B byte[]\n"
                       " Acme.Shop.Repo<System.String>.Load\n"
                       " Acme.Shop.Program.Main\n"));
  EXPECT_TRUE(Contains(out, "heap: LOH\n"));
}

TEST_F(GoPprofTest, HeapsCanBeFocusedOn) {
  EXPECT_TRUE(Contains(Pprof("-unit=B -tagfocus=heap=LOH -top " + path_), "200000B, 20.00% of "));
  EXPECT_TRUE(Contains(Pprof("-tags " + path_), "heap: Total"));
}

TEST_F(GoPprofTest, AProfileLessItselfIsNothing) {
  const std::string out = Pprof("-unit=B -top -diff_base=" + path_ + " " + path_);
  EXPECT_TRUE(Contains(out, "Showing nodes accounting for 0"));
}

TEST_F(GoPprofTest, ADifferenceShowsWhatGrew) {
  profile::Profile more = ShopProfile();
  more.shown().cells[0].value.amount += 50'000;
  const std::string grown = dir_ / "more.pb.gz";
  testing::WriteAll(grown, Gzipped(more));
  const std::string out = Pprof("-unit=B -top -cum -diff_base=" + path_ + " " + grown);
  EXPECT_TRUE(Contains(out, "50000B, 5.00% of 1000001B total"));
  EXPECT_TRUE(Contains(out, " 50000B 5.00% Acme.Shop.Repo<System.String>.Load\n"));
}

TEST_F(GoPprofTest, UncompressedFilesAndCommentsAreRead) {
  const std::string raw = dir_ / "shop.pb";
  testing::WriteAll(raw, Encode(ShopProfile()));
  EXPECT_TRUE(Contains(Pprof("-comments " + raw), "event: AllocationSampled"));
}

TEST_F(GoPprofTest, ProcessesAreLabelsWhenThereAreSeveral) {
  ProfileBuilder b;
  b.Process(1, "small");
  b.Process(2, "large");
  const uint32_t node = b.Stack({b.Frame("large", "F", "F()")}), type = b.Type("T", "T");
  b.Cell(node, type, 1000, 1, 1, profile::HeapKind::kSoh, 0);
  b.Cell(node, type, 3000, 1, 1, profile::HeapKind::kSoh, 1);
  const std::string two = dir_ / "two.pb.gz";
  testing::WriteAll(two, Gzipped(b.Build()));
  const std::string out = Pprof("-unit=B -top '-tagfocus=process=large' " + two);
  EXPECT_TRUE(Contains(out, "File: large\n"));
  EXPECT_TRUE(Contains(out, "3000B, 75.00% of 4000B total"));
}

TEST_F(GoPprofTest, AnEmptyProfileIsAcceptedAsEmpty) {
  ProfileBuilder b;
  b.Process(1, "idle");
  const std::string empty = dir_ / "empty.pb.gz";
  testing::WriteAll(empty, Gzipped(b.Build()));
  Pprof("-top " + empty);
}

}  // namespace
}  // namespace clrscope::exporter
