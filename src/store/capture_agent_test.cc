// SPDX-License-Identifier: Apache-2.0
// What agents told, in a capture.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/bind.h"
#include "analysis/families/live/interval_fold.h"
#include "base/units.h"
#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

using profile::HeapKind;
using testing::MakeProcess;
using testing::TempFile;

TEST(CaptureOfAgents, PlacesOfTheAgentComeBack) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  const auto before =
      static_cast<uint32_t>(recording.processes[0]->stacks.addresses().size());  // of a session
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  analysis::IntervalFold fold(&recording, 0, writer->get(), true);
  profile::IntervalFrame f;
  f.end_ns = kSecond;
  f.methods = {{"App", "00", "Main", "", 0, 0}};
  f.places = {{0x7f00'0000'1010, 7}};
  f.nodes = {{0, 0, 1}, {1, 0}};
  ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
  recording.end_ns = kSecond;
  profile::Place place;
  place.il_offset = 6;
  recording.processes[0]->places.Set(before, place);
  ASSERT_TRUE((*writer)->Finish(true).ok());
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::ProcessTables& t = *(*reader)->recording().processes[0];
  ASSERT_EQ(t.agent.nodes.size(), 3u);
  EXPECT_EQ(t.agent.nodes[1].place, before + 1);
  EXPECT_EQ(t.agent.nodes[2].place, 0u);
  ASSERT_EQ(t.stacks.addresses().size(), before + size_t{1});
  EXPECT_EQ(t.stacks.addresses()[before].address, 0x7f00'0000'1010u);
  ASSERT_NE(t.places.At(before), nullptr);
  EXPECT_EQ(t.places.At(before)->il_offset, 6);
}

// What the agent told comes back, however long ago it was: flows and turnover add up over the
// intervals that were merged, what lives is the last state.
TEST(CaptureOfAgents, IntervalsOfTheAgentComeBack) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  analysis::IntervalFold fold(&recording, 0, writer->get(), true);
  constexpr uint32_t kFrames = 1'000;  // of 10 s
  double allocated = 0, deaths = 0;
  for (uint32_t i = 0; i < kFrames; ++i) {
    profile::IntervalFrame f;
    f.sequence = i;
    f.start_ns = i * 10 * kSecond;
    f.end_ns = f.start_ns + 10 * kSecond;
    f.live = true;
    f.first_method = i;
    f.first_type = f.first_node = i + 1;
    f.methods = {{"App", "00", "M" + std::to_string(i), "", 0, 0}};
    f.types = {{i + 1, "T" + std::to_string(i), ""}};
    f.nodes = {{i, i}};
    f.flows = {{i + 1, i + 1, HeapKind::kSoh, profile::EstimateSampled(1, 64)},
               {1, 1, HeapKind::kLoh, profile::EstimateSampled(2, 100'000)}};
    f.lives = {{1, 1, HeapKind::kLoh, 3, false, 3, 2, 0, i, 0, 0,
                profile::EstimateSampled(i + 1, 100'000)}};
    f.turnover = {{1, 1, 2, {}, profile::EstimateSampled(1, 100'000), 5}};
    f.requests = true;  // rows of two routes stay apart
    f.lives[0].request = 1 + i % 2;
    f.turnover.push_back(f.turnover[0]);
    f.turnover[1].request = 2;
    f.cpu.process_ns = 100;
    allocated += f.flows[0].value.amount + f.flows[1].value.amount;
    deaths += 2 * f.turnover[0].deaths.amount;
    ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
    recording.end_ns = (i + 1) * 10 * kSecond;
    if (i % 7 == 0) {
      ASSERT_TRUE((*writer)->Commit(recording.end_ns).ok());
    }
  }
  ASSERT_TRUE((*writer)->Finish(true).ok());

  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::AgentTables& agent = (*reader)->recording().processes[0]->agent;
  ASSERT_EQ(agent.nodes.size(), kFrames + 1);
  EXPECT_EQ(agent.methods[999].method, "M999");
  EXPECT_EQ(agent.types[1000].name, "T999");
  analysis::Aggregate aggregate(&(*reader)->recording());
  size_t intervals = 0;
  double dead = 0;
  std::map<uint32_t, double> dead_of;  // by route
  uint32_t last_request = 0;
  int64_t last_end = 0;
  ASSERT_TRUE((*reader)
                  ->ForEachInterval({},
                                    [&](const profile::AgentInterval& i) {
                                      EXPECT_EQ(i.start_ns(), last_end) << "no gap, no overlap";
                                      last_end = i.end_ns();
                                      ++intervals;
                                      EXPECT_EQ(i.frame.turnover.size(), 2u);
                                      for (const auto& t : i.frame.turnover) {
                                        dead += t.deaths.amount;
                                        dead_of[t.request] += t.deaths.amount;
                                      }
                                      last_request = i.frame.lives.at(0).request;
                                      aggregate.Add(i);
                                    })
                  .ok());
  EXPECT_LT(intervals, 250u);
  EXPECT_EQ(last_end, 10'000 * kSecond);
  EXPECT_NEAR(dead, deaths, 1e-6 * deaths);
  EXPECT_NEAR(dead_of[0], deaths / 2, 1e-6 * deaths);
  EXPECT_NEAR(dead_of[2], deaths / 2, 1e-6 * deaths);
  EXPECT_EQ(last_request, 1 + (kFrames - 1) % 2);
  const profile::Profile p = analysis::Bind((*reader)->recording(), aggregate);
  ASSERT_EQ(p.lives().size(), 1u);
  EXPECT_EQ(p.lives()[0].value.samples, kFrames);
  double bytes = 0;
  for (const auto& [key, value] : aggregate.agents().at(0).flows) bytes += value.amount;
  EXPECT_NEAR(bytes, allocated, 1e-6 * allocated);
  int64_t cpu = 0;
  for (const profile::GcCpuRow& r : p.gc_cpu()) cpu += r.process_ns;
  EXPECT_EQ(cpu, 100 * kFrames);
}

// A capture of several processes: the same ids mean something else in each, and each can be read by
// its own dictionary, as can the next agent of one of them.
TEST(CaptureOfAgents, EachProcessHasItsOwnDictionary) {
  TempFile file;
  profile::Recording recording;
  for (uint32_t p = 0; p < 2; ++p)
    recording.processes.push_back(MakeProcess(recording.strings, p, 0));
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  analysis::IntervalFold first(&recording, 0, writer->get(), true);
  analysis::IntervalFold second(&recording, 1, writer->get(), true);
  const auto tell = [&](analysis::IntervalFold& fold, int64_t at, const std::string& who) {
    profile::IntervalFrame f;
    f.start_ns = at * kSecond;
    f.end_ns = (at + 1) * kSecond;
    f.live = true;
    f.methods = {{"App", "00", who + ".Add", "", 0, 0}};
    f.types = {{7, who + ".Order", ""}};
    f.nodes = {{0, 0}};
    f.flows = {{1, 1, HeapKind::kSoh, profile::EstimateSampled(1, 64)}};
    f.lives = {{1, 1, HeapKind::kSoh, 2, false, 3, 2, 0, 1, 0, 0, profile::EstimateSampled(1, 64)}};
    ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
    recording.end_ns = (at + 1) * kSecond;
    ASSERT_TRUE((*writer)->Commit(recording.end_ns).ok());
  };
  tell(first, 0, "A");
  tell(second, 0, "B");
  tell(first, 1, "C");  // another agent of the first process
  ASSERT_TRUE((*writer)->Finish(true).ok());

  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  analysis::Aggregate aggregate(&(*reader)->recording());
  ASSERT_TRUE((*reader)
                  ->ForEachInterval({}, [&](const profile::AgentInterval& i) { aggregate.Add(i); })
                  .ok());
  const profile::Profile p = analysis::Bind((*reader)->recording(), aggregate);
  const auto name = [&](const auto& cell) {
    return std::to_string(cell.process) + " " + std::string(p.str(p.types[cell.type].name)) + " " +
           std::string(p.str(p.frames[p.nodes[cell.node].frame].method));
  };
  std::vector<std::string> allocated, live;
  for (const profile::Cell& c : p.shown().cells) allocated.push_back(name(c));
  for (const profile::LiveCell& c : p.lives()) live.push_back(name(c));
  std::sort(allocated.begin(), allocated.end());
  EXPECT_EQ(allocated,
            (std::vector<std::string>{"0 A.Order A.Add", "0 C.Order C.Add", "1 B.Order B.Add"}));
  std::sort(live.begin(), live.end());
  EXPECT_EQ(live, (std::vector<std::string>{"0 C.Order C.Add", "1 B.Order B.Add"}));
}

}  // namespace
}  // namespace clrscope::store
