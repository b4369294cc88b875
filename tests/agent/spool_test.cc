// SPDX-License-Identifier: Apache-2.0
// One interval on both ways into a pprof file: the agent's own, and through a recording and
// `convert`. What people build on one must work on the other.
#include "agent/spool/spool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "analysis/bind.h"
#include "analysis/families/live/interval_fold.h"
#include "export/pprof.h"
#include "import/pprof_frames.h"
#include "import/pprof_reader.h"
#include "profile/profile.h"

namespace clrscope {
namespace {

using import::PprofProfile;
using profile::HeapKind;
using profile::IntervalFrame;

IntervalFrame Interval(profile::Source source) {
  constexpr uint8_t kPlain = 0;
  IntervalFrame f;
  f.start_unix_ns = 1'790'000'000'000'000'000;
  f.end_ns = 60'000'000'000;
  f.pid = 4321;
  f.runtime = ".NET 10.0.14";
  f.source = source;
  f.live = source == profile::Source::kSampled;
  f.last = true;
  f.methods = {{"", "", "[unknown]", "[unknown]", 0, profile::kUnresolved},
               {"", "", "[native]", "[native]", 0, profile::kPseudo},
               {"Shop", "0123456789abcdef0123456789abcdef", "Shop.Program.Main",
                "Shop.Program.Main(class System.String[])", 0x6000001, kPlain},
               {"Shop", "0123456789abcdef0123456789abcdef", "Shop.Repo<string>.Load",
                "Shop.Repo`1[System.__Canon].Load(int32)", 0x6000002, kPlain},
               {"System.Private.CoreLib", "fedcba9876543210fedcba9876543210",
                "System.Threading.ExecutionContext.RunInternal",
                "System.Threading.ExecutionContext.RunInternal(class A)", 0x6000003, kPlain},
               {"", "", "[dynamic] Do", "dynamicClass.Do()", 0, kPlain}};
  f.types = {{0x7f01, "byte[]", "System.Byte[]"}, {0x7f02, "Shop.Order", "Shop.Order"}};
  f.nodes = {{0, 2}, {1, 4}, {2, 3}, {1, 1}, {0, 5}, {5, 0}};  // node 2 is plumbing
  const auto told = [&](uint64_t n, double size) {
    return source == profile::Source::kTick ? profile::EstimateTick(n, 102'000.3, size)
                                            : profile::EstimateSampled(n, size);
  };
  f.flows = {{3, 1, HeapKind::kSoh, told(12, 4'000)},
             {3, 1, HeapKind::kLoh, told(2, 100'000)},
             {4, 2, HeapKind::kPoh, told(1, 24)},
             {6, 0, HeapKind::kUnknown, told(3, 333)},
             {0, 2, HeapKind::kSoh, told(1, 24)}};
  if (f.live)
    f.lives = {{3, 1, HeapKind::kSoh, 0, false, 0, 0, 0, 0, 0, 0, told(1, 4'000)},
               {3, 1, HeapKind::kSoh, 2, false, 8, 1, 0, 0, 0, 0, told(3, 4'000)},
               {3, 1, HeapKind::kLoh, 3, false, 22, 1, 0, 0, 0, 0, told(1, 100'000)},
               {4, 2, HeapKind::kPoh, 4, false, 5, 1, 0, 0, 0, 0, told(1, 24)},
               {4, 2, HeapKind::kSoh, -1, false, 5, 1, 0, 0, 0, 0, told(1, 24)},
               {4, 2, HeapKind::kSoh, 0, true, 0, 0, 0, 0, 0, 0, told(9, 24)}};
  f.losses = {{"agent_samples_lost", 3}, {"missing_stacks", 1}};
  return f;
}

std::string BySpool(const IntervalFrame& f) {
  return agent::EncodePprof(f, {f.methods, f.types, f.nodes}, {}, "Shop");
}

struct KeepIntervals final : profile::IntervalSink {
  void OnInterval(profile::AgentInterval&& i) override { intervals.push_back(std::move(i)); }
  std::vector<profile::AgentInterval> intervals;
};

std::string ByConvert(IntervalFrame f) {
  profile::Recording recording;
  recording.start_unix_ns = f.start_unix_ns;
  recording.end_ns = f.end_ns;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  profile::ProcessTables& process = *recording.processes[0];
  process.info.pid = f.pid;
  process.info.name = process.info.main_module = recording.strings.Intern("Shop");
  process.info.runtime = recording.strings.Intern(f.runtime);
  process.info.complete = recording.complete = true;
  KeepIntervals keep;
  analysis::IntervalFold fold(&recording, 0, &keep, true);
  const Status taken = fold.OnFrame(std::move(f));
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  analysis::Aggregate aggregate(&recording);
  for (const profile::AgentInterval& i : keep.intervals) aggregate.Add(i);
  analysis::BindOptions options;
  options.source = recording.processes[0]->agent.source;
  const profile::Profile p = analysis::Bind(recording, aggregate, options);
  StringSink sink;
  EXPECT_TRUE(exporter::WritePprof(p, {}, sink).ok());
  return sink.Take();
}

// A sample's stack and labels → its values.
std::map<std::string, std::vector<int64_t>> Rows(const PprofProfile& p) {
  std::map<std::string, std::vector<int64_t>> out;
  for (const import::PprofSample& s : p.samples) {
    std::string key;
    for (const uint32_t at : s.locations) {
      const import::PprofLocation& l = p.locations[at];
      for (const uint32_t f : l.functions)
        key += std::string(p.functions[f].name) + " = " + std::string(p.functions[f].system_name) +
               " of " + std::string(l.module) + "\n";
    }
    for (const import::PprofLabel& l : s.labels)
      key += std::string(l.key) + ":" + std::string(l.text) + std::to_string(l.number) +
             std::string(l.unit) + " ";
    std::vector<int64_t>& row = out[key];
    row.resize(s.values.size());
    for (size_t i = 0; i < row.size(); ++i) row[i] += s.values[i];
  }
  return out;
}

std::set<std::string> Comments(const PprofProfile& p) {
  std::set<std::string> out;
  for (const std::string_view c : p.comments)
    if (!c.starts_with("total ")) out.insert(std::string(c));  // the agent computes no intervals
  return out;
}

class SpoolAndConvert : public ::testing::TestWithParam<profile::Source> {};
INSTANTIATE_TEST_SUITE_P(Sources, SpoolAndConvert,
                         ::testing::Values(profile::Source::kSampled, profile::Source::kTick,
                                           profile::Source::kCounted),
                         [](const auto& of) { return std::string(EventName(of.param)); });

TEST_P(SpoolAndConvert, OneIntervalIsTheSameProfile) {
  const std::string spool_bytes = BySpool(Interval(GetParam()));
  const std::string convert_bytes = ByConvert(Interval(GetParam()));
  const auto spool = import::ParsePprof(spool_bytes), convert = import::ParsePprof(convert_bytes);
  ASSERT_TRUE(spool.ok() && convert.ok());
  const auto types = [](const PprofProfile& p) {
    std::vector<std::string> out;
    for (const auto& t : p.sample_types)
      out.push_back(std::string(t.type) + "/" + std::string(t.unit));
    return out;
  };
  EXPECT_EQ(types(*spool), types(*convert));
  EXPECT_EQ(spool->sample_types.size(), GetParam() == profile::Source::kSampled ? 4u : 2u);
  EXPECT_EQ(spool->default_type, convert->default_type);
  EXPECT_EQ(spool->main_module, "Shop");
  EXPECT_EQ(spool->main_module, convert->main_module);
  EXPECT_EQ(spool->time_ns, convert->time_ns);
  EXPECT_EQ(spool->duration_ns, convert->duration_ns);

  const auto ours = Rows(*spool), theirs = Rows(*convert);
  EXPECT_GE(ours.size(), 5u);
  std::vector<int64_t> sum(spool->sample_types.size()), their_sum = sum;
  for (const auto& [key, values] : theirs) {
    const auto row = ours.find(key);
    ASSERT_NE(row, ours.end()) << "only convert has\n" << key;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_LE(std::abs(row->second[i] - values[i]), 1) << key;  // equal remainders: by order
      sum[i] += row->second[i];
      their_sum[i] += values[i];
    }
  }
  EXPECT_EQ(ours.size(), theirs.size());
  EXPECT_EQ(sum, their_sum);

  const std::set<std::string> notes = Comments(*spool);
  EXPECT_EQ(notes, Comments(*convert));
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& c) {
    return c.starts_with("loss: 3 agent_samples_lost: ");
  }));
}

TEST(Spool, WhatTheAgentTellsIsReadBack) {
  const IntervalFrame told = Interval(profile::Source::kSampled);
  const std::string bytes = BySpool(told);
  const auto parsed = import::ParsePprof(bytes);
  ASSERT_TRUE(parsed.ok());
  import::PprofFrames frames;
  const auto read = frames.Next(*parsed);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->live);
  std::multiset<std::pair<int, int>> wanted, got;  // generation, age
  for (const profile::IntervalLive& l : told.lives)
    if (!l.young) wanted.insert({l.generation, l.age_bucket});
  for (const profile::IntervalLive& l : read->lives) got.insert({l.generation, l.age_bucket});
  EXPECT_EQ(got, wanted);
  const auto load = std::find_if(read->methods.begin(), read->methods.end(), [](const auto& m) {
    return m.method == "Shop.Repo<string>.Load";
  });
  ASSERT_NE(load, read->methods.end());
  EXPECT_EQ(load->token, 0x6000002u);
  EXPECT_EQ(load->mvid, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(load->raw, "Shop.Repo`1[System.__Canon].Load(int32)");
}

// The same interval with events, and without allocations or with them.
IntervalFrame WithEvents(bool allocations) {
  IntervalFrame f = Interval(profile::Source::kSampled);
  const auto bit = [](profile::Measure m) { return 1u << static_cast<uint32_t>(m); };
  f.measures = bit(profile::Measure::kExceptions) | bit(profile::Measure::kLocks);
  if (allocations) {
    f.measures |= bit(profile::Measure::kAllocations) | bit(profile::Measure::kLive);
  } else {
    f.live = false;
    f.flows.clear();
    f.lives.clear();
  }
  f.types.push_back({0, "Shop.OutOfStock", "Shop.OutOfStock"});
  f.events = {{profile::Source::kException, 3, 3, 41, 0, false, {5, 2, 3}},
              {profile::Source::kException, 3, 3, 42, 0, false, {1, 0, 1}},
              {profile::Source::kContention, 3, 0, 41, 42, false, {2, 7'000, 2}},
              {profile::Source::kContention, 3, 0, 43, 42, true, {1, 1'000, 1}},
              {profile::Source::kContention, 6, 0, 43, 0, false, {1, 9, 1}}};
  return f;
}

TEST(Spool, EventsAreWrittenAsConvertWritesThem) {
  for (const bool allocations : {true, false}) {
    const std::string spool_bytes = BySpool(WithEvents(allocations));
    const std::string convert_bytes = ByConvert(WithEvents(allocations));
    const auto spool = import::ParsePprof(spool_bytes), convert = import::ParsePprof(convert_bytes);
    ASSERT_TRUE(spool.ok() && convert.ok());
    ASSERT_EQ(spool->sample_types.size(), convert->sample_types.size());
    for (size_t i = 0; i < spool->sample_types.size(); ++i)
      EXPECT_EQ(spool->sample_types[i].type, convert->sample_types[i].type);
    EXPECT_EQ(spool->sample_types.size(), allocations ? 8u : 4u);
    EXPECT_EQ(spool->default_type, convert->default_type);
    auto ours = Rows(*spool), theirs = Rows(*convert);
    for (auto* rows : {&ours, &theirs})
      std::erase_if(*rows, [&](const auto& row) {
        return allocations && (row.second[0] != 0 || row.second[2] != 0);  // compared elsewhere
      });
    EXPECT_EQ(ours, theirs);
    EXPECT_EQ(Comments(*spool), Comments(*convert));
  }
}

TEST(Spool, EventsAreReadBack) {
  const IntervalFrame told = WithEvents(true);
  const std::string bytes = BySpool(told);
  const auto parsed = import::ParsePprof(bytes);
  ASSERT_TRUE(parsed.ok());
  import::PprofFrames frames;
  const auto read = frames.Next(*parsed);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->measures, told.measures);
  const auto rows = [](const IntervalFrame& f) {
    std::multiset<std::tuple<profile::Source, std::string, uint64_t, uint64_t, bool, uint64_t,
                             uint64_t, uint64_t>>
        out;
    for (const profile::IntervalEvent& e : f.events)
      out.insert({e.source, e.type == 0 ? "" : f.types[e.type - 1].raw, e.thread, e.owner,
                  e.unfinished, e.sums.samples, e.sums.amount, e.sums.stands_for});
    return out;
  };
  auto want = rows(told);
  EXPECT_EQ(rows(*read), want);
}

TEST(Spool, TheCollectorsShareOfTheCpu) {
  IntervalFrame f = Interval(profile::Source::kSampled);
  EXPECT_EQ(agent::EncodeGcCpuPprof(f, {}), "") << "not known";
  f.cpu = {9'000, 1'000, 200, -1};
  const std::string bytes = agent::EncodeGcCpuPprof(f, {{"service", "shop"}}, "Shop");
  const auto p = import::ParsePprof(bytes);
  ASSERT_TRUE(p.ok());
  ASSERT_EQ(p->samples.size(), 2u);
  EXPECT_EQ(p->default_type, "cpu");
  EXPECT_EQ(p->samples[0].values, std::vector<int64_t>{1'200});
  EXPECT_EQ(p->samples[1].values, std::vector<int64_t>{7'800});
  EXPECT_EQ(p->functions[0].name, "Garbage Collector");
  EXPECT_EQ(p->samples[1].labels.at(0).text, "shop");
  EXPECT_EQ(p->duration_ns, 60'000'000'000);
}

}  // namespace
}  // namespace clrscope
