// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/cpu/cpu_fold.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/bind.h"
#include "base/agent_name.h"
#include "profile/stacks/made_up_frames.h"

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::StackTree;
using ThreadTime = CpuFold::ThreadTime;

constexpr int64_t kCpuMs = 1'000'000, kCpuSecond = 1'000'000'000;
constexpr uint64_t kPeriod = 10 * kCpuMs;

class CpuSlices final : public profile::SliceSink {
 public:
  void OnSlice(profile::Slice&& s) override { slices.push_back(std::move(s)); }
  std::vector<profile::Slice> slices;
};

struct CpuSum {
  int64_t ns = 0;
  uint64_t samples = 0;
  bool operator==(const CpuSum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const CpuSum& s) {
  return out << s.ns << " ns of " << s.samples;
}

class CpuFeeder {
 public:
  explicit CpuFeeder(bool kernel_told = true)
      : tables_(std::make_unique<profile::ProcessTables>()),
        fold_({tables_.get(), &sink_, 0, kCpuSecond}) {
    fold_.Begin(kernel_told);
  }
  void Sample(uint64_t thread, int64_t ms, uint64_t leaf, size_t natives = 0,
              uint64_t ns = kPeriod) {
    const uint64_t chain[] = {leaf, 0x10};
    fold_.OnSample({thread, ms * kCpuMs, chain, natives, false, ns});
  }
  void Times(int64_t ms, std::vector<ThreadTime> threads, int64_t process_ns = -1) {
    fold_.OnTimes(ms * kCpuMs, threads, process_ns);
  }
  // By leaf and thread, of what has come so far.
  std::map<std::pair<uint64_t, uint64_t>, CpuSum> Sums() {
    std::map<std::pair<uint64_t, uint64_t>, CpuSum> out;
    for (const profile::Slice& s : sink_.slices)
      for (const auto& row : s.rows) {
        const profile::SeriesKey& key = tables_->series.keys()[row.series];
        const uint64_t leaf =
            tables_->stacks.addresses()[tables_->stacks.address_index(key.node)].address;
        CpuSum& sum = out[{leaf, tables_->labels.sets()[key.labels][LabelKey::kThread]}];
        sum.ns += static_cast<int64_t>(row.sums.amount);
        sum.samples += row.sums.stands_for;
      }
    return out;
  }
  // Leaf first, each once.
  std::vector<std::vector<uint64_t>> Stacks() {
    std::set<std::vector<uint64_t>> out;
    const profile::StackTree& tree = tables_->stacks;
    for (const profile::Slice& s : sink_.slices)
      for (const auto& row : s.rows) {
        std::vector<uint64_t> stack;
        for (uint32_t at = tables_->series.keys()[row.series].node; at >= tree.kFirstReal;
             at = tree.parent(at))
          stack.push_back(tree.addresses()[tree.address_index(at)].address);
        out.insert(stack);
      }
    return {out.begin(), out.end()};
  }
  std::set<uint32_t> Roots() {
    std::set<uint32_t> out;
    for (const profile::Slice& s : sink_.slices)
      for (const auto& row : s.rows) {
        uint32_t at = tables_->series.keys()[row.series].node;
        while (at >= StackTree::kFirstReal) at = tables_->stacks.parent(at);
        out.insert(at);
      }
    return out;
  }
  const LossCounters& losses() const { return tables_->losses; }
  CpuFold& fold() { return fold_; }

 private:
  std::unique_ptr<profile::ProcessTables> tables_;
  CpuSlices sink_;
  CpuFold fold_;
};
using CpuSums = std::map<std::pair<uint64_t, uint64_t>, CpuSum>;

TEST(CpuFold, WhatAThreadUsedIsSplitOverItsSamples) {
  CpuFeeder f;
  f.Times(0, {{1, 5 * kCpuSecond}, {2, 0}}, 6 * kCpuSecond);
  for (int i = 0; i < 3; ++i) f.Sample(1, 100 + i, 0x1000);
  f.Sample(1, 200, 0x2000);
  f.Times(1000, {{1, 5 * kCpuSecond + 44 * kCpuMs}, {2, 0}}, 6 * kCpuSecond + 44 * kCpuMs);
  f.fold().Finish(2 * kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {33 * kCpuMs, 3}}, {{0x2000, 1}, {11 * kCpuMs, 1}}}));
}

TEST(CpuFold, ASampleThatStandsForMoreOfTheClockGetsMore) {
  CpuFeeder f;
  f.Times(0, {{1, 0}}, 0);
  f.Sample(1, 100, 0x1000);
  f.Sample(1, 200, 0x2000, 0, 3 * kPeriod);
  f.Times(1000, {{1, 40 * kCpuMs}}, 40 * kCpuMs);
  f.fold().Finish(2 * kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {10 * kCpuMs, 1}}, {{0x2000, 1}, {30 * kCpuMs, 1}}}));
}

TEST(CpuFold, WhatHasNoSampleYetGoesToTheNextOne) {
  CpuFeeder f;
  f.Times(0, {{1, 0}}, 0);
  f.Times(1000, {{1, 3 * kCpuMs}}, 3 * kCpuMs);
  f.Times(2000, {{1, 6 * kCpuMs}}, 6 * kCpuMs);
  f.Sample(1, 2500, 0x1000);
  f.Times(3000, {{1, 9 * kCpuMs}}, 9 * kCpuMs);
  f.Times(4000, {{1, 11 * kCpuMs}}, 11 * kCpuMs);
  f.fold().Finish(4 * kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {9 * kCpuMs, 1}},
                               {{profile::kNotSampledAddress, 1}, {2 * kCpuMs, 0}}}));
}

TEST(CpuFold, ThreadsThatEndedShareWhatTheProcessUsedBesides) {
  CpuFeeder f;
  f.Times(0, {{1, 0}}, 0);
  f.Sample(1, 10, 0x1000);
  f.Sample(2, 20, 0x2000);  // these two were born and ended between the readings
  f.Sample(2, 30, 0x2000);
  f.Sample(3, 40, 0x3000);
  f.Times(1000, {{1, 12 * kCpuMs}}, 57 * kCpuMs);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {12 * kCpuMs, 1}},
                               {{0x2000, 2}, {30 * kCpuMs, 2}},
                               {{0x3000, 3}, {15 * kCpuMs, 1}}}));
}

TEST(CpuFold, AProcessThatHasEndedHasWhatItWasSeenToHaveUsed) {
  CpuFeeder f;
  f.Times(0, {{1, kCpuSecond}, {2, 0}}, 2 * kCpuSecond);
  f.Sample(1, 100, 0x1000);
  f.Sample(2, 200, 0x2000);
  f.fold().OnEnd(300 * kCpuMs, 2 * kCpuSecond + 50 * kCpuMs, 0.4);
  // A reading that comes late, or of another process, is none.
  f.Times(400, {{1, kCpuSecond + 60 * kCpuMs}}, 2 * kCpuSecond + 60 * kCpuMs);
  f.fold().OnEnd(500 * kCpuMs, 9 * kCpuSecond, 0);
  f.Sample(1, 310, 0x3000);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {25 * kCpuMs, 1}},
                               {{0x2000, 2}, {25 * kCpuMs, 1}},
                               {{0x3000, 1}, {kPeriod, 1}}}));
}

TEST(CpuFold, WhatIsUsedWhileNobodyReadsIsNobodys) {
  CpuFeeder f;
  f.Times(0, {{1, kCpuSecond}, {2, 0}}, 2 * kCpuSecond);
  f.Sample(1, 100, 0x1000);
  f.Times(900, {{1, kCpuSecond + 20 * kCpuMs}, {2, 3 * kCpuMs}}, 2 * kCpuSecond + 23 * kCpuMs);
  f.fold().Leave(kCpuSecond);
  f.fold().Begin(true);
  f.Times(61'000, {{1, 61 * kCpuSecond}, {2, 5 * kCpuMs}}, 62 * kCpuSecond);
  f.Sample(1, 61'500, 0x2000);
  f.Times(62'000, {{1, 61 * kCpuSecond + 30 * kCpuMs}, {2, 5 * kCpuMs}},
          62 * kCpuSecond + 30 * kCpuMs);
  f.fold().Finish(62 * kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {20 * kCpuMs, 1}},
                               {{profile::kNotSampledAddress, 2}, {3 * kCpuMs, 0}},
                               {{0x2000, 1}, {30 * kCpuMs, 1}}}));
}

TEST(CpuFold, TheKernelsPartOfTheLastMomentsIsToldByTicks) {
  CpuFeeder f(/*kernel_told=*/false);
  f.Times(0, {{1, 0, 0, 0}}, 0);
  f.Sample(1, 100, 0x1000);
  f.fold().OnEnd(300 * kCpuMs, 50 * kCpuMs, 0.4);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{profile::kKernelAddress, 0}, {20 * kCpuMs, 0}},
                               {{0x1000, 1}, {30 * kCpuMs, 1}}}));
}

TEST(CpuFold, ThreadsThatNobodySawAreNotSampled) {
  CpuFeeder f;
  f.Times(0, {{1, 0}}, 0);
  f.Times(1000, {{1, 0}}, 4 * kCpuMs);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{profile::kNotSampledAddress, 0}, {4 * kCpuMs, 0}}}));
}

TEST(CpuFold, WhereTheKernelIsNotSampledTheSystemTellsItsPart) {
  CpuFeeder f(/*kernel_told=*/false);
  f.Times(0, {{1, 0, 0, 0}}, 0);
  f.Sample(1, 10, 0x1000);
  f.Times(1000, {{1, 40 * kCpuMs, 3, 1}}, 40 * kCpuMs);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {30 * kCpuMs, 1}},
                               {{profile::kKernelAddress, 1}, {10 * kCpuMs, 0}}}));
}

TEST(CpuFold, ANumberThatIsUsedAgainIsAnotherThread) {
  CpuFeeder f;
  f.Times(0, {{1, 0}, {7, kCpuSecond}}, 2 * kCpuSecond);
  f.Sample(7, 500, 0x1000);
  f.Times(1000, {{1, 0}, {7, 20 * kCpuMs}}, 2 * kCpuSecond + 20 * kCpuMs);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 7}, {20 * kCpuMs, 1}}}));
}

TEST(CpuFold, WithoutTheSystemTheClockTells) {
  CpuFeeder f;
  f.Sample(1, 10, 0x1000);
  f.Sample(1, 20, 0x1000);
  f.fold().Finish(kCpuSecond);  // the process is gone
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {20 * kCpuMs, 2}}}));
}

constexpr uint64_t kCollector = profile::kCollectorAddress;

TEST(CpuFold, WhatAThreadDoesWhileItCollectsIsTheCollectors) {
  CpuFeeder f;
  f.Times(0, {{1, 0}, {2, 0}}, 0);
  f.fold().collecting().Begin(1, 100 * kCpuMs);
  f.Sample(1, 99, 0x1000, 1);
  f.Sample(1, 100, 0x1000, 1);
  f.Sample(1, 150, 0x1000, 1);
  f.Sample(2, 150, 0x1000, 1);  // another thread meanwhile
  f.fold().collecting().End(1, 150 * kCpuMs);
  f.Sample(1, 151, 0x1000, 1);
  f.Times(1000, {{1, 40 * kCpuMs}, {2, 10 * kCpuMs}}, 50 * kCpuMs);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{0x1000, 1}, {20 * kCpuMs, 2}},
                               {{0x1000, 2}, {10 * kCpuMs, 1}},
                               {{kCollector, 1}, {20 * kCpuMs, 2}}}));
}

TEST(CpuFold, CollectionsAreToldLaterThanSamples) {
  CpuFeeder f;
  f.Times(0, {{1, 0}}, 0);
  f.Sample(1, 950, 0x1000, 1);
  f.Times(1000, {{1, 10 * kCpuMs}}, 10 * kCpuMs);
  f.fold().collecting().Begin(1, 900 * kCpuMs);  // it goes on
  f.Times(2000, {{1, 10 * kCpuMs}}, 10 * kCpuMs);
  EXPECT_EQ(f.Sums(), CpuSums{});
  f.Times(3000, {{1, 10 * kCpuMs}}, 10 * kCpuMs);
  EXPECT_EQ(f.Sums(), (CpuSums{{{kCollector, 1}, {10 * kCpuMs, 1}}}));
}

TEST(CpuFold, TheCollectorStandsAboveTheManagedCodeThatCalledIt) {
  CpuFeeder f;
  f.Times(0, {{1, 0}}, 0);
  f.fold().collecting().Begin(1, 0);
  const uint64_t chain[] = {profile::kKernelAddress, 0x7000, 0x7100, 0x20, 0x10};
  f.fold().OnSample({1, 10 * kCpuMs, chain, 3, true, kPeriod});
  f.Times(1000, {{1, 10 * kCpuMs}}, 10 * kCpuMs);
  f.fold().Finish(kCpuSecond);
  EXPECT_EQ(f.Stacks(), (std::vector<std::vector<uint64_t>>{{kCollector, 0x20, 0x10}}));
}

TEST(CpuFold, StacksThatLackTheirRootHangUnderTruncated) {
  for (const bool collected : {false, true}) {
    CpuFeeder f;
    f.Times(0, {{1, 0}}, 0);
    if (collected) f.fold().collecting().Begin(1, 0);
    const uint64_t chain[] = {0x7000, 0x20, 0x10};
    f.fold().OnSample({1, 10 * kCpuMs, chain, 1, false, kPeriod, /*cut=*/true});
    f.Times(1000, {{1, 10 * kCpuMs}}, 10 * kCpuMs);
    f.fold().Finish(kCpuSecond);
    EXPECT_EQ(f.Stacks(),
              (std::vector<std::vector<uint64_t>>{{collected ? kCollector : 0x7000, 0x20, 0x10}}));
    EXPECT_EQ(f.Roots(), std::set<uint32_t>{StackTree::kTruncated});
    EXPECT_EQ(f.losses()[Loss::kTruncatedStack], 1u);
  }
}

TEST(CpuFold, ItsOwnThreadsAreTheCollectorAsAWhole) {
  CpuFeeder f(/*kernel_told=*/false);
  const auto at = [](int64_t ns, int64_t user, int64_t system) {
    return ThreadTime{5, ns, user, system, true};
  };
  f.Times(0, {at(0, 0, 0)}, 0);
  f.Sample(5, 10, 0x1000, 2);
  f.Times(1000, {at(40 * kCpuMs, 3, 1)}, 40 * kCpuMs);
  f.Times(2000, {at(42 * kCpuMs, 3, 1)}, 42 * kCpuMs);
  f.fold().Finish(2 * kCpuSecond);
  EXPECT_EQ(f.Sums(), (CpuSums{{{kCollector, 5}, {42 * kCpuMs, 1}}}));
  EXPECT_EQ(f.Stacks(), (std::vector<std::vector<uint64_t>>{{kCollector}}));
}

TEST(CpuFold, MadeUpFramesHaveTheirNames) {
  const std::map<uint64_t, std::string> names = {{profile::kKernelAddress, "[kernel]"},
                                                 {kCollector, "Garbage Collector"},
                                                 {profile::kAgentAddress, "[clrscope agent]"},
                                                 {profile::kRunnableAddress, "(waiting for a CPU)"},
                                                 {profile::kNotSampledAddress, "(not sampled)"}};
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  CpuSlices sink;
  CpuFold fold({recording.processes[0].get(), &sink, 0, kCpuSecond});
  fold.Begin(/*kernel_told=*/true);
  std::set<std::string> wanted;
  for (const auto& [address, name] : names) {
    const uint64_t chain[] = {address};
    fold.OnSample({1, 10 * kCpuMs, chain, 1, false, kPeriod});
    wanted.insert(name);
  }
  fold.Finish(kCpuSecond);
  Aggregate aggregate(&recording);
  for (const profile::Slice& s : sink.slices) aggregate.Add(s);
  const profile::Profile p = Bind(recording, aggregate);
  std::set<std::string> found;
  for (const profile::Cell& c : p.Find(profile::Measure::kCpu)->cells)
    found.emplace(p.str(p.frames[p.nodes[c.node].frame].method));
  EXPECT_EQ(found, wanted);
}

// By any name of its file, with all that it calls.
TEST(CpuFold, TheAgentIsOneFrame) {
  constexpr uint64_t kAgent = 0x1000'0000, kOther = 0x2000'0000, kRuntime = 0x3000'0000,
                     kLibrary = 0x4000'0000, kNowhere = 0x5000'0000;
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  profile::ProcessTables& t = *recording.processes[0];
  t.info.Record(profile::Measure::kCpu);
  for (const auto& [start, path] :
       std::map<uint64_t, const char*>{{kAgent, "/tmp/clrscope-agent-cf4c3a5d67.so (deleted)"},
                                       {kOther, "/opt/clrscope/agent.so"},
                                       {kRuntime, "/usr/share/dotnet/libcoreclr.so"},
                                       {kLibrary, "/usr/lib/libc.so.6 (deleted)"}})
    t.images.Restore({start, start + 0x1000, 0, recording.strings.Intern(path), {}});
  CpuSlices sink;
  CpuFold fold({&t, &sink, 0, kCpuSecond});
  fold.Begin(/*kernel_told=*/true);
  const std::vector<std::vector<uint64_t>> chains = {
      {kAgent + 2, kAgent + 1, kLibrary},
      {profile::kKernelAddress, kLibrary, kRuntime, kOther + 1, kLibrary},
      {profile::kRunnableAddress, kAgent, kLibrary},
      {kNowhere, kAgent + 1, kRuntime},
      {kRuntime, kLibrary}};
  for (const auto& chain : chains)
    fold.OnSample({1, 10 * kCpuMs, chain, chain.size(), false, kPeriod});
  fold.Finish(kCpuSecond);
  // As the namer tells a file by what is in it.
  profile::Place place;
  place.symbol = recording.strings.Intern(kAgentName);
  for (uint32_t i = 0; i < t.stacks.addresses().size(); ++i)
    if (t.stacks.addresses()[i].address == kOther + 1) t.places.Set(i, place);
  Aggregate aggregate(&recording);
  for (const profile::Slice& s : sink.slices) aggregate.Add(s);
  const profile::Profile p = Bind(recording, aggregate);
  std::multiset<std::string> stacks;
  for (const profile::Cell& c : p.Find(profile::Measure::kCpu)->cells) {
    std::string stack;
    for (uint32_t n = c.node; n != 0; n = p.nodes[n].parent) {
      const profile::Frame& f = p.frames[p.nodes[n].frame];
      stack += std::string(p.str(f.method)) + " < ";
      if (p.str(f.method) == kAgentName) {
        EXPECT_EQ(p.str(f.module), kAgentName);
        EXPECT_EQ(f.kind, profile::FrameKind::kNative);
      }
    }
    stacks.insert(stack);
  }
  EXPECT_EQ(stacks, (std::multiset<std::string>{
                        "clrscope agent < libc.so.6 < ",
                        "(waiting for a CPU) < clrscope agent < libc.so.6 < ",
                        "clrscope agent < libcoreclr.so < ", "libcoreclr.so < libc.so.6 < "}));
  EXPECT_EQ(p.losses[Loss::kUnresolvedFrame], 1u);  // at kNowhere
}

}  // namespace
}  // namespace clrscope::analysis
