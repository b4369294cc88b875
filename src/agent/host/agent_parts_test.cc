// SPDX-License-Identifier: Apache-2.0
// Options, the log of GCs, the control socket's name, file names of the spool.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "agent/gc/gc_log.h"
#include "agent/host/errno_text.h"
#include "agent/host/options.h"
#include "agent/host/start_environment.h"
#include "agent/spool/spool.h"
#include "base/control_path.h"
#include "base/units.h"

namespace clrscope::agent {
namespace {

TEST(Options, AreReadFromOneLine) {
  const auto o = ParseOptions("every=5s,live=0,cap=512,output=/tmp/%n.pb,label.env=prod,owned");
  ASSERT_TRUE(o.ok());
  EXPECT_EQ(o->every_ns, 5'000'000'000);
  EXPECT_FALSE(o->live);
  EXPECT_TRUE(o->owned);
  EXPECT_EQ(o->cap, 512u);
  EXPECT_EQ(o->output, "/tmp/%n.pb");
  ASSERT_EQ(o->labels.size(), 1u);
  EXPECT_EQ(o->labels[0].second, "prod");
  EXPECT_TRUE(ParseOptions("").ok());
  EXPECT_EQ(ParseOptions("every=3600000ms")->every_ns, 3'600'000'000'000)
      << "as attach sends an hour";
  const auto changed = ChangeOptions("every=7s,label.env=test,label.zone=a,live=0,cap=512", *o);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->every_ns, 7'000'000'000);
  EXPECT_EQ(changed->output, "/tmp/%n.pb");
  EXPECT_EQ(changed->labels,
            (std::vector<std::pair<std::string, std::string>>{{"env", "test"}, {"zone", "a"}}));
  for (const char* fixed : {"live=1", "cap=100", "exact=1", "owned=0", "selftest=1",
                            "walk=snapshot", "requests=1", "lines=1", "native=1"})
    EXPECT_EQ(ChangeOptions(fixed, *o).error().code, ErrorCode::kRefused) << fixed;
  EXPECT_EQ(ChangeOptions("sometimes=1", *o).error().code, ErrorCode::kUsage);
}

TEST(Options, WhatIsMeasured) {
  const auto o = ParseOptions("allocations=0,waits=1");
  ASSERT_TRUE(o.ok());
  EXPECT_FALSE(o->live) << "nothing is sampled that could be followed";
  EXPECT_TRUE(o->locks) << "waits cannot be told from those for locks without these";
  EXPECT_EQ(ParseOptions("allocations=0").error().code, ErrorCode::kUsage);
  const auto idle = ParseOptions("idle=1");
  ASSERT_TRUE(idle.ok());
  EXPECT_FALSE(idle->allocations || idle->live || idle->exceptions || idle->locks);
  EXPECT_EQ(ChangeOptions("idle=0,exceptions=1", *idle).error().code, ErrorCode::kRefused);
  EXPECT_EQ(ChangeOptions("allocations=1", *o).error().code, ErrorCode::kRefused);
  const auto changed = ChangeOptions("exceptions=1,waits=0", *o);
  ASSERT_TRUE(changed.ok());
  EXPECT_TRUE(changed->exceptions && changed->locks && !changed->waits);
}

TEST(Options, WhatIsNotUnderstoodIsNamed) {
  for (const char* bad :
       {"evry=5s", "every=0", "waits=some", "every=x", "cap=3", "live=maybe", "walk=slow"}) {
    const auto o = ParseOptions(bad);
    ASSERT_FALSE(o.ok()) << bad;
    EXPECT_EQ(o.error().code, ErrorCode::kUsage);
    EXPECT_NE(o.error().message.find(std::string(bad).substr(0, 4)), std::string::npos) << bad;
  }
}

GcNote Note(GcNote::Kind kind, int64_t at, uint32_t number = 0, int8_t generation = 0,
            int8_t type = 0) {
  GcNote n;
  n.kind = kind;
  n.time_ns = at;
  n.number = number;
  n.generation = generation;
  n.type = type;
  n.thread = 7;
  n.thread_ns = at / 2;
  return n;
}

TEST(GcHistory, ABlockingGc) {
  GcHistory h;
  h.Add(Note(GcNote::Kind::kSuspend, 100));
  h.Add(Note(GcNote::Kind::kStart, 110, 1, 1));
  h.Add(Note(GcNote::Kind::kEnd, 150, 1));
  GcNote sizes = Note(GcNote::Kind::kHeapStats, 151);
  sizes.sizes = {1, 2, 3, 4, 5};
  h.Add(sizes);
  EXPECT_TRUE(h.TakeGcs().empty()) << "until the program runs again";
  h.Add(Note(GcNote::Kind::kRestart, 160));
  const auto gcs = h.TakeGcs();
  ASSERT_EQ(gcs.size(), 1u);
  EXPECT_EQ(gcs[0].number, 1u);
  EXPECT_EQ(gcs[0].generation, 1);
  EXPECT_EQ(gcs[0].pause_ns, 60);
  EXPECT_EQ(gcs[0].size_after[4], 5);
  const auto passes = h.TakePasses();
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].index, 0u);
  EXPECT_FALSE(passes[0].background);
  EXPECT_EQ(h.TakeWorkstationNs([](uint32_t) { return false; }), 20);
  EXPECT_EQ(h.TakeWorkstationNs([](uint32_t) { return false; }), 0);
}

// A background GC with an ephemeral one inside: both end, the inner one first, and each keeps the
// place at which it began.
TEST(GcHistory, AForegroundGcInsideABackgroundGc) {
  GcHistory h;
  h.Add(Note(GcNote::Kind::kSuspend, 10));
  h.Add(Note(GcNote::Kind::kStart, 11, 5, 2, 1));
  h.Add(Note(GcNote::Kind::kRestart, 20));
  h.Add(Note(GcNote::Kind::kSuspend, 30));
  h.Add(Note(GcNote::Kind::kStart, 31, 6, 0, 2));
  h.Add(Note(GcNote::Kind::kEnd, 35, 6));
  h.Add(Note(GcNote::Kind::kRestart, 40));
  h.Add(Note(GcNote::Kind::kEnd, 90, 5));
  h.Add(Note(GcNote::Kind::kSuspend, 100));
  h.Add(Note(GcNote::Kind::kRestart, 101));
  const auto passes = h.TakePasses();
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].index, 1u);
  EXPECT_EQ(passes[1].index, 0u);
  EXPECT_TRUE(passes[1].background);
  const auto gcs = h.TakeGcs();
  ASSERT_EQ(gcs.size(), 2u);
  EXPECT_EQ(gcs[0].pause_ns, 10);
  EXPECT_EQ(gcs[1].pause_ns, 10);
  EXPECT_EQ(h.TakeWorkstationNs([](uint32_t) { return false; }), 2) << "not the background one's";
}

TEST(GcRing, DropsAndCountsWhatDoesNotFit) {
  auto ring = std::make_unique<GcRing>();
  for (size_t i = 0; i < GcRing::kSize + 10; ++i)
    (void)ring->Push(Note(GcNote::Kind::kStart, 0, static_cast<uint32_t>(i)));
  EXPECT_EQ(ring->lost(), 10u);
  GcNote n;
  for (uint32_t i = 0; i < GcRing::kSize; ++i) {
    ASSERT_TRUE(ring->Pop(n));
    EXPECT_EQ(n.number, i);
  }
  EXPECT_FALSE(ring->Pop(n));
  EXPECT_TRUE(ring->Push(Note(GcNote::Kind::kEnd, 0, 9)));
  EXPECT_TRUE(ring->Pop(n));
  EXPECT_EQ(n.number, 9u);
}

TEST(Spool, NamesAreExpanded) {
  EXPECT_EQ(ExpandName("/x/%n-%p-%t%%.pb", "shop", 12, 1'763'720'100'000'000'000),
            "/x/shop-12-20251121T101500Z%.pb");
  EXPECT_EQ(ExpandName("%q%", "shop", 12, 0), "%q%");
  EXPECT_EQ(ExpandName("%t", "shop", 12, 1'709'251'199'999'999'999), "20240229T235959Z");
}

TEST(ErrnoText, IsThatOfGlibcOrANumber) {
  int known = 0;
  for (int error = 1; error < 134; ++error) {
    const std::string text = ErrnoText(error);
    if (text == "error " + std::to_string(error)) continue;
    ++known;
#ifdef __GLIBC__  // musl has other words for some
    EXPECT_EQ(text, std::strerror(error));
#endif
  }
  EXPECT_GE(known, 20);
}

TEST(StartEnvironment, IsTheOneOfTheProcesssStart) {
  const char* path = std::getenv("PATH");
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(StartVariable("PATH"), path);
  ::setenv("CLRSCOPE_SET_LATER", "1", 1);
  EXPECT_EQ(StartVariable("CLRSCOPE_SET_LATER"), std::nullopt);
  ::unsetenv("CLRSCOPE_SET_LATER");
}

TEST(StartEnvironment, AVariableIsOneOfThisNameWithAValue) {
  constexpr char kText[] = "XA=1\0AB=2\0A\0A=x=y\0A=later\0E=\0LAST=3";
  const std::string_view environment(kText, sizeof kText - 1);
  EXPECT_EQ(VariableOf(environment, "A"), "x=y");
  EXPECT_EQ(VariableOf(environment, "E"), "");
  EXPECT_EQ(VariableOf(environment, "LAST"), "3");
  EXPECT_EQ(VariableOf(environment, "X"), std::nullopt);
  EXPECT_EQ(VariableOf("", "A"), std::nullopt);
}

TEST(Spool, IntervalsThatEndWithinASecondDoNotShareAFile) {
  constexpr int64_t kTime = 1'763'720'100'000'000'000;
  SpoolNames names;
  EXPECT_EQ(names.Next("/x.y/%t", "shop", 12, kTime), "/x.y/20251121T101500Z");
  EXPECT_EQ(names.Next("/x.y/%t", "shop", 12, kTime + kSecond / 2), "/x.y/20251121T101500Z-2");
  EXPECT_EQ(names.Next("/x.y/%t.pb", "shop", 12, kTime + kSecond), "/x.y/20251121T101501Z.pb");
  EXPECT_EQ(names.Next("/x.y/%t.pb", "shop", 12, kTime + kSecond), "/x.y/20251121T101501Z-2.pb");
  EXPECT_EQ(names.Next("/x.y/%t.pb", "shop", 12, kTime + kSecond), "/x.y/20251121T101501Z-3.pb");
  EXPECT_EQ(names.Next("/x.y/%t.pb", "shop", 12, kTime), "/x.y/20251121T101500Z.pb");
  // Who names one file has it overwritten.
  EXPECT_EQ(names.Next("/x.y/%p.pb", "shop", 12, kTime), "/x.y/12.pb");
  EXPECT_EQ(names.Next("/x.y/%p.pb", "shop", 12, kTime), "/x.y/12.pb");
}

TEST(ControlSocket, TellsStartsOfOnePidApart) {
  const uint64_t ticks = StartTicks("/proc/self/stat");
  EXPECT_GT(ticks, 0u);
  EXPECT_NE(ControlSocketName(1, ticks), ControlSocketName(1, ticks + 1));
  EXPECT_EQ(StartTicks("/proc/self/nothing"), 0u);
}

}  // namespace
}  // namespace clrscope::agent
