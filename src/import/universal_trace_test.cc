// SPDX-License-Identifier: Apache-2.0
// A trace of a whole machine (V6, Universal.Events and Universal.System), read from a file as a
// report does. It is written as microsoft/one-collect's nettrace.rs writes such.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "clr/universal_events.h"
#include "import/trace_file.h"
#include "nettrace/testing/synthetic_writer.h"
#include "profile/estimate/bounds.h"
#include "profile/tables/thread_state.h"
#include "profile/views/filter.h"

namespace clrscope::import {
namespace {

using nettrace::testing::ByteWriter;
using nettrace::testing::EventRowSpec;
using nettrace::testing::MetadataRow;
using nettrace::testing::SyntheticWriter;
using profile::LabelKey;
using profile::Measure;

constexpr int64_t kTicksPerSecond = 10'000'000;  // ticks of 100 ns
constexpr uint32_t kCpu = 1, kSwitch = 2, kProcess = 3, kMapping = 4, kSymbol = 5;
constexpr uint64_t kManaged = 0x7000'0000'1010, kNative = 0x7100'0000'0020,
                   kUnnamed = 0x7100'0000'2000, kKernel = 0xffffffff81001000;

std::string ShortText(std::string_view text) {
  return ByteWriter().U16(static_cast<uint16_t>(text.size())).Raw(text).Take();
}
std::string Value(uint64_t v) { return ByteWriter().Var(v).Take(); }
std::string Mapping(uint64_t id, uint64_t start, uint64_t end, std::string_view path) {
  return ByteWriter().Var(id).Var(start).Var(end).Var(0).Raw(ShortText(path)).Var(0).Take();
}
std::string Symbol(uint64_t mapping, uint64_t start, uint64_t end, std::string_view name) {
  return ByteWriter().Var(1).Var(mapping).Var(start).Var(end).Raw(ShortText(name)).Take();
}

// thread: an index of the thread table. stack: 1: managed code that the kernel works for, 2: a
// native function that managed code called, 3: native code without a name.
EventRowSpec Row(uint32_t metadata, int64_t ms, std::string payload, uint64_t thread,
                 uint32_t stack = 0) {
  EventRowSpec row;
  row.metadata = metadata;
  row.time = ms * kTicksPerSecond / 1000;
  row.payload = std::move(payload);
  row.thread = thread;
  row.stack = stack;
  return row;
}

class UniversalTrace : public ::testing::Test {
 protected:
  profile::Profile Read(const std::vector<EventRowSpec>& rows) {
    nettrace::testing::WriterOptions o;
    o.version = 6;
    o.pid = 0;
    o.sync_ticks = 0;
    o.ticks_per_second = kTicksPerSecond;
    o.sampling_ns = 2'000'000;
    SyntheticWriter w(o);
    const auto kind = [](uint32_t id, const char* provider, uint32_t event, const char* name) {
      MetadataRow row;
      row.id = id;
      row.provider = provider;
      row.event_id = event;
      row.name = name;
      return row;
    };
    w.Metadata({kind(kCpu, "Universal.Events", 1, "cpu"),
                kind(kSwitch, "Universal.Events", 2, "cswitch"),
                kind(kProcess, "Universal.System", 0, "ExistingProcess"),
                kind(kMapping, "Universal.System", 3, "ProcessMapping"),
                kind(kSymbol, "Universal.System", 4, "ProcessSymbol")});
    w.Threads({{0, 42, 0, ""}, {1, 42, 43, "main"}, {2, 42, 44, "worker"}, {3, 99, 99, "other"}});
    w.Stacks(1, {{kKernel + 0x500, kKernel, kManaged}, {kNative, kManaged}, {kUnnamed}});
    w.Events(
        {Row(kProcess, 0, ByteWriter().Var(42).Raw(ShortText("orders")).Raw(ShortText("")).Take(),
             0),
         Row(kMapping, 0,
             Mapping(1, 0x7000'0000'0000, 0x7000'0001'0000, "/memfd:doublemapper (deleted)"), 0),
         Row(kSymbol, 0,
             Symbol(1, 0x7000'0000'1000, 0x7000'0000'1100,
                    "void [Orders] Orders.Tree::Walk(int32)[Tier1]"),
             0),
         Row(kMapping, 0, Mapping(2, 0x7100'0000'0000, 0x7100'0001'0000, "/usr/lib/libz.so.1"), 0),
         Row(kSymbol, 0, Symbol(2, 0x7100'0000'0000, 0x7100'0000'0100, "deflate"), 0)});
    w.Events(rows).End();
    const auto path = std::filesystem::temp_directory_path() /
                      ("universal." + std::to_string(::getpid()) + ".nettrace");
    std::ofstream(path, std::ios::binary) << w.str();
    profile::Recording recording;
    analysis::Aggregate aggregate(&recording);
    const auto read = ReadTrace(path.string(), &recording, &aggregate);
    std::filesystem::remove(path);
    EXPECT_TRUE(read.ok() && !read->damage);
    return analysis::Bind(recording, aggregate);
  }
  // Nanoseconds by the stack, leaf first, of a measure; "state: " before it where there is one.
  static std::map<std::string, double> Ns(const profile::Profile& p, Measure measure) {
    std::map<std::string, double> out;
    const profile::Figure* figure = p.Find(measure);
    if (figure == nullptr) return out;
    for (const profile::Cell& c : figure->cells) {
      std::string text;
      for (uint32_t n = c.node; n != 0; n = p.nodes[n].parent) {
        const profile::Frame& f = p.frames[p.nodes[n].frame];
        text += std::string(text.empty() ? "" : " < ") + std::string(p.str(f.method)) + "/" +
                std::string(FrameKindName(f.kind));
      }
      const std::string_view state = profile::ThreadStateName(p.labels[c.labels][LabelKey::kState]);
      out[(state.empty() ? "" : std::string(state) + ": ") + text] += c.value.amount;
    }
    return out;
  }
};

TEST_F(UniversalTrace, SamplesStandForThePeriodThatTheTraceTells) {
  const profile::Profile p = Read({Row(kCpu, 1, Value(1), 1, 1), Row(kCpu, 3, Value(1), 1, 1),
                                   Row(kCpu, 4, Value(3), 2, 2), Row(kCpu, 5, Value(1), 3, 3)});
  EXPECT_EQ(Ns(p, Measure::kCpu),
            (std::map<std::string, double>{{"[kernel]/kernel < Orders.Tree.Walk/managed", 4e6},
                                           {"deflate/native < Orders.Tree.Walk/managed", 6e6},
                                           {"0x710000002000/native", 2e6}}));
  EXPECT_EQ(p.Find(Measure::kWall), nullptr);
  ASSERT_GE(p.processes.size(), 2u);
  EXPECT_EQ(p.str(p.processes[0].name), "orders");
  EXPECT_EQ(p.processes[0].pid, 42u);
  std::map<std::string, std::string> modules;
  for (const profile::Frame& f : p.frames)
    modules[std::string(p.str(f.method))] = std::string(p.str(f.module));
  EXPECT_EQ(modules["Orders.Tree.Walk"], "Orders");
  EXPECT_EQ(modules["deflate"], "libz.so.1");
}

TEST_F(UniversalTrace, ASwitchTellsHowLongTheThreadDidNotRun) {
  profile::Profile p = Read({Row(kSwitch, 10, Value(50'000), 1, 2), Row(kCpu, 12, Value(1), 1, 1)});
  EXPECT_EQ(Ns(p, Measure::kWall),
            (std::map<std::string, double>{
                {"blocked_unknown: deflate/native < Orders.Tree.Walk/managed", 5e6},
                {"running: [kernel]/kernel < Orders.Tree.Walk/managed", 2e6}}));
  EXPECT_EQ(p.Find(Measure::kWall)->source, profile::Source::kUniversalSwitch);
  ASSERT_TRUE(profile::Apply({.thread = "44"}, p).ok());
  EXPECT_TRUE(Ns(p, Measure::kWall).empty());
}

// Nobody says how much there was in all: as many samples as came, by chance.
TEST_F(UniversalTrace, SamplesHaveThePoissonIntervalAndSwitchesNone) {
  std::vector<EventRowSpec> rows;
  for (int64_t ms = 1; ms <= 100; ++ms) rows.push_back(Row(kCpu, ms, Value(1), 1, 1));
  const profile::Profile cpu = Read(rows);
  const profile::Figure& figure = *cpu.Find(Measure::kCpu);
  const profile::Interval interval = profile::ClockInterval(figure, figure.Total());
  EXPECT_NEAR(interval.low / 2e6, 81.364, 0.001);
  EXPECT_NEAR(interval.high / 2e6, 121.627, 0.001);

  const profile::Profile p =
      Read({Row(kSwitch, 10, Value(50'000), 1, 2), Row(kCpu, 12, Value(1), 1, 1)});
  const profile::Figure& wall = *p.Find(Measure::kWall);
  for (const profile::Cell& c : wall.cells) {
    const profile::Interval of = profile::ClockInterval(wall, c.value);
    const bool away = c.value.amount == 5e6;
    EXPECT_EQ(of.high == 5e6 && of.low == 5e6, away);
    if (!away) {
      EXPECT_NEAR(of.high / 2e6, 5.572, 0.001);
    }
  }
}

TEST_F(UniversalTrace, WhatIsCutIsCounted) {
  const profile::Profile p = Read({Row(kCpu, 1, "\xff", 1, 1), Row(kMapping, 1, "\x01", 0)});
  EXPECT_EQ(p.losses[Loss::kUnsupportedVersion], 2u);
}

TEST(JittedSymbol, IsTakenApart) {
  clr::JittedSymbol s;
  ASSERT_TRUE(
      clr::ParseJittedSymbol("instance class [System.Runtime]System.Object[] [Orders.Core] "
                             "Orders.Box::Take(int32)[PreJIT]",
                             s));
  EXPECT_EQ(s.module, "Orders.Core");
  EXPECT_EQ(s.name, "Take");
  ASSERT_TRUE(clr::ParseJittedSymbol(
      "void [Orders] Orders.Box`1[System.__Canon]::.ctor(!0,int32[])[Tier0]", s));
  EXPECT_EQ(s.module, "Orders");
  EXPECT_EQ(s.owner, "Orders.Box`1[System.__Canon]");
  EXPECT_EQ(s.name, ".ctor");
  EXPECT_EQ(s.parameters, "(!0,int32[])");
  EXPECT_FALSE(clr::ParseJittedSymbol("malloc", s));
  EXPECT_FALSE(clr::ParseJittedSymbol("operator new[]", s));
  EXPECT_FALSE(clr::ParseJittedSymbol("a [b] c[d]", s));
  EXPECT_FALSE(clr::ParseJittedSymbol("]", s));
}

}  // namespace
}  // namespace clrscope::import
