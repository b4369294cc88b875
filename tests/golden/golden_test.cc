// SPDX-License-Identifier: Apache-2.0
// Recorded traces against the answers of Microsoft's TraceEvent 4.0: counts, sums, types and the
// frames of stacks must be equal, not near. tests/golden/README.md tells where both come from.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/trace_fold.h"
#include "base/testing/source_dir.h"
#include "import/trace_file.h"
#include "nettrace/testing/synthetic_writer.h"
#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "traces.h"

namespace clrscope {
namespace {

namespace fs = std::filesystem;
using namespace golden;
using nlohmann::json;
using profile::Source;

struct Tally {
  uint64_t count = 0, bytes = 0;
  bool operator==(const Tally&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Tally& t) {
  return out << t.count << " events, " << t.bytes << " bytes";
}

struct KindCounter final : nettrace::EventSink {
  void OnEvent(const clr::RawEvent&) override {}
};

// A trace read once, with everything that the tests ask for.
struct Golden {
  json oracle;
  profile::Recording recording;
  std::unique_ptr<analysis::Aggregate> aggregate;
  import::TraceSummary summary;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, uint64_t> kinds;
  std::vector<profile::Slice> slices;

  const profile::Profile& Bound(Source source) {
    auto& p = profiles_[source];
    if (!p) {
      analysis::BindOptions options;
      options.source = source;
      p = std::make_unique<profile::Profile>(analysis::Bind(recording, *aggregate, options));
    }
    return *p;
  }

 private:
  std::map<Source, std::unique_ptr<profile::Profile>> profiles_;
};

struct Keep final : profile::SliceSink {
  Golden* golden;
  explicit Keep(Golden* g) : golden(g) {}
  void OnSlice(profile::Slice&& s) override {
    golden->aggregate->Add(s);
    golden->slices.push_back(std::move(s));
  }
};

Golden& Load(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Golden>> cache;
  std::unique_ptr<Golden>& g = cache[name];
  if (g) return *g;
  g = std::make_unique<Golden>();
  g->oracle = ReadOracle(name);
  const std::string trace =
      Unzstd(ReadFile(fs::path(SourceDir()) / "tests/golden/traces" / (name + ".nettrace.zst")));
  const fs::path file =
      fs::temp_directory_path() / (name + "." + std::to_string(::getpid()) + ".nettrace");
  std::ofstream(file, std::ios::binary) << trace;
  g->aggregate = std::make_unique<analysis::Aggregate>(&g->recording);
  Keep keep(g.get());
  auto summary = import::ReadTrace(file.string(), &g->recording, &keep);
  if (summary.ok()) g->summary = *summary;
  KindCounter sink;
  nettrace::Reader reader(&sink);
  auto pumped = import::PumpTrace(file.string(), &reader);
  EXPECT_TRUE(summary.ok() && pumped.ok()) << name;
  for (const nettrace::CountedKind& k : reader.kinds())
    if (k.count != 0) g->kinds[{k.provider_text, k.id, k.version}] += k.count;
  fs::remove(file);
  return *g;
}

// TraceEvent throws at the cut of this trace (its target was killed) and drops the events that wait
// for their turn: 743 of 845 events, 84 of 88 ticks. They are whole, so we deliver them. Its stacks
// differ with them.
constexpr std::string_view kCutTrace = "12c-killed-csharpier";
// TraceLog writes modules that it saw loading, not only in the rundown, in lower case
// ("system.text.json", "csharpier.core"); the trace and we write them as their files are called.
constexpr std::string_view kLowerCasedTrace = "06b-csharpier-server";

// Of every trace.
class GoldenTest : public ::testing::TestWithParam<Trace> {
 protected:
  Golden& golden() { return Load(GetParam().name); }
  const json& oracle() { return golden().oracle; }
  const json& log() { return golden().oracle["traceLog"]; }
  void ExpectSame(const std::map<std::string, Tally>& ours,
                  const std::map<std::string, Tally>& theirs, size_t cap, const std::string& what);
};

INSTANTIATE_TEST_SUITE_P(Traces, GoldenTest, ::testing::ValuesIn(kTraces), TestName);

// Of those that TraceEvent read to their end: GoldenCutTest is about the others.
class GoldenWholeTest : public GoldenTest {};
INSTANTIATE_TEST_SUITE_P(
    Traces, GoldenWholeTest,
    ::testing::ValuesIn(TracesWhere([](const Trace& trace) { return !trace.cut; })), TestName);
class GoldenTickTest : public GoldenTest {};
INSTANTIATE_TEST_SUITE_P(Traces, GoldenTickTest,
                         ::testing::ValuesIn(TracesWhere([](const Trace& trace) {
                           return trace.ticks && !trace.cut;
                         })),
                         TestName);
class GoldenSampledTest : public GoldenTest {};
INSTANTIATE_TEST_SUITE_P(
    Traces, GoldenSampledTest,
    ::testing::ValuesIn(TracesWhere([](const Trace& trace) { return trace.sampled; })), TestName);
class GoldenCountedTest : public GoldenTest {};
INSTANTIATE_TEST_SUITE_P(
    Traces, GoldenCountedTest,
    ::testing::ValuesIn(TracesWhere([](const Trace& trace) { return trace.counted; })), TestName);
class GoldenStackTest : public GoldenTest {};
INSTANTIATE_TEST_SUITE_P(Traces, GoldenStackTest,
                         ::testing::ValuesIn(TracesWhere([](const Trace& trace) {
                           return (trace.ticks || trace.sampled || trace.counted) && !trace.cut;
                         })),
                         TestName);

TEST_P(GoldenTest, HoldsWhatTheListSays) {
  const Trace& t = GetParam();
  ASSERT_FALSE(oracle().is_discarded() || oracle().is_null());
  EXPECT_EQ(oracle()["allocationTick"]["count"] != 0, t.ticks);
  EXPECT_EQ(oracle()["allocationSampled"]["count"] != 0, t.sampled);
  EXPECT_EQ(oracle()["sampledObjectAllocation"]["events"] != 0, t.counted);
  for (const char* list : {"tickStacks", "tickLeaf"}) EXPECT_EQ(!log()[list].empty(), t.ticks);
  for (const char* list : {"sampledStacks", "sampledLeaf"})
    EXPECT_EQ(!log()[list].empty(), t.sampled);
  EXPECT_EQ(!log()["sampledObjLeaf"].empty(), t.counted);
  EXPECT_EQ(!log()["tickInclusive"].empty(), t.ticks || t.sampled || t.counted);
  // We read no events that are not in it either.
  EXPECT_EQ(golden().Bound(Source::kTick).Total().samples != 0, t.ticks);
  EXPECT_EQ(golden().Bound(Source::kSampled).Total().samples != 0, t.sampled);
  EXPECT_EQ(golden().Bound(Source::kCounted).Total().samples != 0, t.counted);
  EXPECT_EQ(oracle().contains("rawError") && !oracle()["rawError"].is_null(), t.cut);
  EXPECT_FALSE(oracle()["gcStartRaw"].empty());
  EXPECT_FALSE(oracle()["gcHeapStatsRaw"].empty());
}

TEST_P(GoldenTest, HeaderIsEqual) {
  const json& f = oracle()["format"];
  const nettrace::StreamInfo& info = golden().summary.info;
  EXPECT_EQ(info.version, f["version"]);
  EXPECT_EQ(info.pointer_size, f["pointerSize"]);
  EXPECT_EQ(info.processors, f["nProcs"]);
  EXPECT_EQ(info.pid, f["pid"]);
  EXPECT_EQ(info.ticks_per_second, f["qpcFreq"]);
  EXPECT_EQ(info.sync_ticks, f["syncTimeQPC"]);
  // "2026-11-21T01:52:21.8730000Z"
  const std::string utc = f["syncTimeUtc"];
  std::tm tm{};
  ASSERT_NE(::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &tm), nullptr);
  const int64_t ns = int64_t{::timegm(&tm)} * 1'000'000'000 + std::stoll(utc.substr(20, 7)) * 100;
  EXPECT_EQ(info.sync_unix_ns, ns);
}

TEST(GoldenCutTest, EventsBehindTraceEventsExceptionAreDelivered) {
  Golden& g = Load(std::string(kCutTrace));
  EXPECT_EQ(g.oracle["rawError"], "System.FormatException: Read past end of stream.");
  EXPECT_EQ(g.oracle["totals"]["events"], 743);
  EXPECT_EQ(g.summary.events, 845u);
  EXPECT_EQ(g.oracle["allocationTick"]["count"], 84);
  EXPECT_EQ(g.oracle["allocationTick"]["bytes"], 12354464);
  EXPECT_EQ(g.Bound(Source::kTick).Total().samples, 88u);
  EXPECT_EQ(g.Bound(Source::kTick).Total().amount, 12780864);
  EXPECT_EQ(g.summary.losses[Loss::kTruncatedInput], 1u);
  EXPECT_FALSE(g.summary.damage);
  EXPECT_FALSE(g.recording.complete);
}

TEST_P(GoldenWholeTest, EventCountsAreEqual) {
  EXPECT_EQ(golden().summary.events, oracle()["totals"]["events"]);
  EXPECT_EQ(golden().summary.losses[Loss::kEventsDropped], oracle()["format"]["eventsLost"]);
  std::map<std::tuple<std::string, uint32_t, uint32_t>, uint64_t> want;
  for (const json& e : oracle()["events"]) {
    uint32_t id = e["id"].get<uint32_t>();
    // TraceEvent numbers GCDynamicEvents by their names, from 65535 down.
    if (e["provider"] == "Microsoft-Windows-DotNETRuntime" && id > 60000) id = 39;
    want[{e["provider"], id, e["ver"]}] += e["count"].get<uint64_t>();
  }
  EXPECT_FALSE(want.empty());
  EXPECT_EQ(golden().kinds, want);
}

TEST_P(GoldenWholeTest, TimeEndsAtTheSameEvent) {
  const double last_ms = oracle()["totals"]["lastMs"];
  EXPECT_NEAR(static_cast<double>(golden().recording.end_ns) / 1e6, last_ms, 1e-5);
}

std::map<std::string, Tally> ByType(const profile::Profile& p, bool seen) {
  std::map<std::string, Tally> out;
  for (const profile::Cell& c : p.shown().cells) {
    Tally& t = out[std::string(p.str(p.types[c.type].raw))];
    t.count += c.value.samples;
    t.bytes += static_cast<uint64_t>(seen ? c.value.seen_amount : c.value.amount);
  }
  return out;
}

std::map<std::string, Tally> Keyed(const json& rows) {
  std::map<std::string, Tally> out;
  for (const json& r : rows) out[r["key"]] = {r["count"], r["bytes"]};
  EXPECT_FALSE(out.empty()) << "TraceEvent's list holds nothing to compare";
  return out;
}

std::map<std::string, Tally> ByKind(const profile::Profile& p, bool seen) {
  static constexpr const char* kNames[] = {"Small", "Large", "Pinned", "Unknown"};
  std::map<std::string, Tally> out;
  for (const profile::Cell& c : p.shown().cells) {
    Tally& t = out[kNames[static_cast<size_t>(c.kind)]];
    t.count += c.value.samples;
    t.bytes += static_cast<uint64_t>(seen ? c.value.seen_amount : c.value.amount);
  }
  return out;
}

TEST_P(GoldenTickTest, TicksAreEqualByTypeAndKind) {
  const profile::Profile& p = golden().Bound(Source::kTick);
  const json& want = oracle()["allocationTick"];
  EXPECT_EQ(p.Total().samples, want["count"]);
  EXPECT_EQ(p.Total().amount, want["bytes"].get<double>());
  EXPECT_EQ(p.Total().seen_amount, want["objectSizeSum"].get<double>());
  EXPECT_EQ(ByType(p, false), Keyed(want["byType"]));
  EXPECT_EQ(ByKind(p, false), Keyed(want["byKind"]));
}

std::map<std::string, uint64_t> ExceptionsByType(const profile::Profile& p) {
  std::map<std::string, uint64_t> out;
  if (const profile::Figure* f = p.Find(profile::Measure::kExceptions))
    for (const profile::Cell& c : f->cells)
      out[std::string(p.str(p.types[c.type].raw))] +=
          static_cast<uint64_t>(c.value.count + c.value.amount);
  return out;
}

TEST_P(GoldenWholeTest, ExceptionsAreEqualByType) {
  std::map<std::string, uint64_t> want;
  for (const json& r : oracle()["exceptions"]["byType"]) want[r["key"]] = r["count"];
  EXPECT_EQ(ExceptionsByType(golden().Bound(Source::kTick)), want);
}

TEST_P(GoldenWholeTest, ContendedWaitsAreEqual) {
  const profile::Profile& p = golden().Bound(Source::kTick);
  const profile::Figure* locks = p.Find(profile::Measure::kLocks);
  const json& want = oracle()["contention"];
  EXPECT_EQ(locks == nullptr ? 0.0 : locks->Total().count, want["stops"].get<double>());
  // Nanoseconds are told as fractions of them.
  EXPECT_NEAR(locks == nullptr ? 0.0 : locks->Total().amount, want["durationNsSum"].get<double>(),
              want["stops"].get<double>() + 1);
}

TEST_P(GoldenSampledTest, SampledIsEqualByTypeAndKind) {
  const profile::Profile& p = golden().Bound(Source::kSampled);
  const json& want = oracle()["allocationSampled"];
  EXPECT_EQ(p.Total().samples, want["count"]);
  EXPECT_EQ(p.Total().seen_amount, want["objectSizeSum"].get<double>());
  EXPECT_EQ(ByType(p, true), Keyed(want["byType"]));
  EXPECT_EQ(ByKind(p, true), Keyed(want["byKind"]));
  // The program estimates with exp(-size/mean), per object; we with (1-1/mean)^size and the mean
  // size of a size class. The first differs by 1/(2·mean) = 5e-6 at most, the second by 4e-4 (see
  // SizeClass.BytesEstimateIsOffByLessThanAThousandth) where sizes of one class vary.
  for (const json& r : want["byType"]) {
    double bytes = 0;
    for (const profile::Cell& c : p.shown().cells)
      if (p.str(p.types[c.type].raw) == r["key"].get<std::string>()) bytes += c.value.amount;
    EXPECT_NEAR(bytes, r["est"].get<double>(), 4e-4 * r["est"].get<double>()) << r["key"];
  }
  EXPECT_NEAR(p.Total().amount, want["estimatedBytes_102400"].get<double>(),
              1e-5 * p.Total().amount);
}

TEST_P(GoldenCountedTest, CountedObjectsAreEqualByType) {
  const profile::Profile& p = golden().Bound(Source::kCounted);
  const json& want = oracle()["sampledObjectAllocation"];
  EXPECT_EQ(p.Total().samples, want["events"]);
  EXPECT_EQ(p.Total().count, want["objects"].get<double>());
  EXPECT_EQ(p.Total().amount, want["bytes"].get<double>());
  std::map<std::string, Tally> ours;
  for (auto& [name, tally] : ByType(p, false)) {
    std::string key = name;
    if (key.starts_with("[type 0x")) key = "TypeID(" + key.substr(6, key.size() - 7) + ")";
    ours[key] = tally;
  }
  EXPECT_EQ(ours, Keyed(want["byType"]));
}

// "Module!Method" as the oracle writes frames; "" for frames that are no code.
std::string FrameName(const profile::Profile& p, const profile::Frame& f) {
  if (f.flags & profile::kPseudo) return "";
  if (f.flags & profile::kUnresolved) return "?!?";
  return std::string(p.str(f.module)) + "!" + std::string(p.str(f.raw));
}

struct Stacks {
  std::map<std::string, Tally> stacks;  // frames, leaf first, a line each
  std::map<std::string, Tally> leaves, inclusive;
};

Stacks StacksOf(const profile::Profile& p, bool seen) {
  Stacks out;
  for (const profile::Cell& c : p.shown().cells) {
    const Tally t{c.value.samples,
                  static_cast<uint64_t>(seen ? c.value.seen_amount : c.value.amount)};
    std::string text, leaf;
    std::set<std::string> once;
    for (uint32_t node = c.node; node != 0; node = p.nodes[node].parent) {
      const std::string name = FrameName(p, p.frames[p.nodes[node].frame]);
      if (name.empty()) continue;
      if (leaf.empty()) leaf = name;
      if (!text.empty()) text += '\n';
      text += name;
      once.insert(name);
    }
    if (text.empty()) continue;
    const auto add = [&t](Tally& to) {
      to.count += t.count;
      to.bytes += t.bytes;
    };
    add(out.stacks[text]);
    add(out.leaves[leaf]);
    for (const std::string& name : once) add(out.inclusive[name]);
  }
  return out;
}

// Every row of TraceEvent's list is ours with the same figures, and none of ours that would be
// among its first rows is missing: the list is cut by bytes, then by count.
void ExpectRows(const std::map<std::string, Tally>& ours,
                const std::map<std::string, Tally>& theirs, size_t cap, const std::string& what) {
  EXPECT_FALSE(theirs.empty()) << what << ": nothing to compare";
  Tally least{~uint64_t{0}, ~uint64_t{0}};
  for (const auto& [key, tally] : theirs) {
    const auto it = ours.find(key);
    EXPECT_TRUE(it != ours.end()) << what << ": we lack " << tally << " of\n" << key;
    if (it != ours.end()) {
      EXPECT_EQ(it->second, tally) << what << ":\n" << key;
    }
    if (std::tie(tally.bytes, tally.count) < std::tie(least.bytes, least.count)) least = tally;
  }
  const bool whole = theirs.size() < cap;
  for (const auto& [key, tally] : ours) {
    if (!whole && std::tie(tally.bytes, tally.count) <= std::tie(least.bytes, least.count))
      continue;
    EXPECT_TRUE(theirs.contains(key)) << what << ": only we have " << tally << " of\n" << key;
  }
}

std::map<std::string, Tally> StackRows(const json& rows) {
  std::map<std::string, Tally> out;
  for (const json& r : rows) {
    std::string text;
    for (const json& f : r["frames"]) text += (text.empty() ? "" : "\n") + f.get<std::string>();
    out[text] = {r["count"], r["bytes"]};
  }
  return out;
}

// Modules of every frame in lower case.
std::map<std::string, Tally> LowerModules(const std::map<std::string, Tally>& rows) {
  std::map<std::string, Tally> out;
  for (const auto& [key, tally] : rows) {
    std::string folded = key;
    for (size_t line = 0; line < folded.size();) {
      const size_t end = std::min(folded.find('\n', line), folded.size());
      for (size_t i = line; i < end && folded[i] != '!'; ++i)
        folded[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(folded[i])));
      line = end + 1;
    }
    out[folded].count += tally.count;
    out[folded].bytes += tally.bytes;
  }
  return out;
}

constexpr size_t kTop = 60;  // rows that the oracle was asked for; sampledStacks: 20

void GoldenTest::ExpectSame(const std::map<std::string, Tally>& ours,
                            const std::map<std::string, Tally>& theirs, size_t cap,
                            const std::string& what) {
  if (GetParam().name == kLowerCasedTrace)
    ExpectRows(LowerModules(ours), LowerModules(theirs), cap, what);
  else
    ExpectRows(ours, theirs, cap, what);
}

TEST_P(GoldenTickTest, TickStacksAreEqual) {
  const Stacks ours = StacksOf(golden().Bound(Source::kTick), false);
  ExpectSame(ours.stacks, StackRows(log()["tickStacks"]), kTop, "tick stacks");
  ExpectSame(ours.leaves, Keyed(log()["tickLeaf"]), kTop, "tick leaves");
}

TEST_P(GoldenSampledTest, SampledStacksAreEqual) {
  const Stacks ours = StacksOf(golden().Bound(Source::kSampled), true);
  ExpectSame(ours.stacks, StackRows(log()["sampledStacks"]), 20, "sampled stacks");
  ExpectSame(ours.leaves, Keyed(log()["sampledLeaf"]), kTop, "sampled leaves");
}

TEST_P(GoldenCountedTest, CountedLeavesAreEqual) {
  const Stacks ours = StacksOf(golden().Bound(Source::kCounted), false);
  ExpectSame(ours.leaves, Keyed(log()["sampledObjLeaf"]), kTop, "counted leaves");
}

// The oracle's list adds up AllocationTick's amounts, AllocationSampled's object sizes and
// SampledObjectAllocation's bytes in one dictionary.
TEST_P(GoldenStackTest, InclusiveFramesAreEqual) {
  std::map<std::string, Tally> ours;
  for (const Source source : {Source::kTick, Source::kSampled, Source::kCounted}) {
    const Stacks s = StacksOf(golden().Bound(source), source == Source::kSampled);
    for (const auto& [key, tally] : s.inclusive) {
      ours[key].count += tally.count;
      ours[key].bytes += tally.bytes;
    }
  }
  ExpectSame(ours, Keyed(log()["tickInclusive"]), kTop, "inclusive frames");
}

// Addresses of sampled stacks whose code belonged to several methods in time, each with the owner
// that we name for every epoch of it and with everyone who ever owned it: "(address) ours: …; all:
// …". TraceEvent keeps one owner per address, so this is where our frame and its may differ, and
// both answers are among `all`.
std::vector<std::string> SeveralOwners(const profile::Recording& recording) {
  std::map<uint64_t, std::set<std::string>> ours, all;
  for (const auto& process : recording.processes) {
    const auto name = [&](const profile::MethodCode& m) {
      return std::string(recording.strings.Get(m.owner)) + "." +
             std::string(recording.strings.Get(m.name));
    };
    for (const profile::CodeAddress& a : process->stacks.addresses()) {
      std::set<std::string> owners;
      for (const profile::CodeMap::Owner& owner : process->code.Owners(a.address))
        owners.insert(name(owner.method));
      if (owners.size() < 2) continue;
      all[a.address].merge(owners);
      ours[a.address].insert(name(*process->code.Find(a.address, a.first_ns).method));
    }
  }
  std::vector<std::string> out;
  for (const auto& [address, owners] : all) {
    std::string line = fmt::format("{:x} ours: {}; all: {}", address,
                                   fmt::join(ours[address], ", "), fmt::join(owners, ", "));
    out.push_back(std::move(line));
  }
  return out;
}

// What SeveralOwners() lists for each trace: nothing, in all of them. A trace that brings such an
// address has its lines here, and may differ from TraceEvent in no other frame.
const std::map<std::string_view, std::vector<std::string>> kSeveralOwners = {};

// One test: for each trace it would compare nothing with nothing. That the list is made at all, the
// test below shows.
TEST(GoldenOwnersTest, AddressesWithSeveralOwnersAreListedWithAllTheirAnswers) {
  for (const Trace& t : kTraces) {
    SCOPED_TRACE(t.name);
    const profile::Recording& recording = Load(t.name).recording;
    int64_t named = 0;
    for (const auto& process : recording.processes)
      for (const profile::CodeAddress& a : process->stacks.addresses())
        named += process->code.Owners(a.address).empty() ? 0 : 1;
    EXPECT_EQ(named > 0,
              (t.ticks || t.sampled || t.counted) && !std::string_view(t.name).starts_with("12"))
        << "addresses that were looked at; nothing names those of a trace without rundown";
    const auto listed = kSeveralOwners.find(t.name);
    EXPECT_EQ(SeveralOwners(recording),
              listed == kSeveralOwners.end() ? std::vector<std::string>{} : listed->second);
  }
}

TEST(GoldenOwnersTest, ReusedCodeIsListedWithBothAnswers) {
  profile::Recording recording;
  analysis::Aggregate aggregate(&recording);
  analysis::TraceFold fold(&recording, &aggregate, {});
  fold.OnStream(7, 8, 0);
  const auto event = [&fold](clr::EventTag tag, uint32_t version, int64_t time,
                             const std::string& payload, const std::vector<uint64_t>& stack) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.process = 7;
    e.thread = 1;
    e.time_ns = time;
    e.payload = AsBytes(payload.data(), payload.size());
    e.stack = {reinterpret_cast<const std::byte*>(stack.data()),
               static_cast<uint32_t>(stack.size()), 8, nullptr};
    e.stack_state = stack.empty() ? clr::StackState::kNone : clr::StackState::kPresent;
    fold.OnEvent(e);
  };
  const auto method = [&event](clr::EventTag tag, int64_t time, uint64_t id, const char* name) {
    nettrace::testing::MethodFields f;
    f.method_id = id;
    f.start = 0x1000;
    f.name = name;
    event(tag, 2, time, nettrace::testing::MethodVerbosePayload(2, f), {});
  };
  const auto sample = [&event](int64_t time) {
    event(clr::EventTag::kAllocationSampled, 0, time,
          nettrace::testing::AllocationSampledPayload({}), {0x1010});
  };
  method(clr::EventTag::kMethodLoadVerbose, 0, 1, "Old");
  sample(1'000'000'000);
  method(clr::EventTag::kMethodUnloadVerbose, 2'000'000'000, 1, "Old");
  method(clr::EventTag::kMethodLoadVerbose, 3'000'000'000, 2, "New");
  fold.Finish(true);
  EXPECT_EQ(SeveralOwners(recording),
            std::vector<std::string>{
                "1010 ours: App.Program.Old; all: App.Program.New, App.Program.Old"});
}

TEST_P(GoldenTest, CollectionsAreEqual) {
  const json& want = oracle()["gcStartRaw"];
  profile::GcRecords gcs;
  for (const auto& t : golden().recording.processes) gcs.Append(t->gcs);
  ASSERT_FALSE(want.empty());
  ASSERT_EQ(gcs.size(), want.size());
  static constexpr const char* kTypes[] = {"NonConcurrentGC", "BackgroundGC", "ForegroundGC"};
  for (size_t i = 0; i < gcs.size(); ++i) {
    EXPECT_EQ(gcs[i].number, want[i]["n"]);
    EXPECT_EQ(gcs[i].generation, want[i]["gen"]);
    EXPECT_EQ(kTypes[gcs[i].type], want[i]["type"]);
    EXPECT_NEAR(static_cast<double>(gcs[i].start_ns) / 1e6, want[i]["ms"], 1e-5);
  }
  // Every HeapStats found its collection: the multisets of sizes are equal.
  std::multiset<std::array<int64_t, 5>> ours, theirs;
  for (const profile::PackedGc& gc : gcs)
    if (const profile::GcBytes after = gc.Unpack().size_after; after[0] >= 0) ours.insert(after);
  for (const json& h : oracle()["gcHeapStatsRaw"])
    theirs.insert(std::array<int64_t, 5>{h["gen0"], h["gen1"], h["gen2"], h["loh"], h["poh"]});
  EXPECT_FALSE(theirs.empty());
  EXPECT_EQ(ours, theirs);
}

// The same answers from a capture file: nothing is lost on the way through the store.
TEST_P(GoldenTest, CaptureAnswersLikeTheTrace) {
  Golden& g = golden();
  profile::Recording& recording = g.recording;
  const fs::path file = fs::temp_directory_path() /
                        ("golden." + std::to_string(::getpid()) + "." + GetParam().name + ".clrs");
  fs::remove(file);
  {
    // Finish() moves GCs out of memory: put them back for the other tests.
    std::vector<profile::GcRecords> gcs;
    for (const auto& t : recording.processes) gcs.push_back(t->gcs);
    auto writer = store::CaptureWriter::Create(file.string(), &recording);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    for (const profile::Slice& s : g.slices) (*writer)->OnSlice(profile::Slice(s));
    const Status done = (*writer)->Finish(recording.complete);
    ASSERT_TRUE(done.ok()) << done.error().message;
    for (size_t i = 0; i < gcs.size(); ++i) recording.processes[i]->gcs = gcs[i];
  }
  auto reader = store::CaptureReader::Open(file.string());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  analysis::Aggregate aggregate(&(*reader)->recording());
  ASSERT_TRUE((*reader)->ForEachSlice({}, [&](const profile::Slice& s) { aggregate.Add(s); }).ok());
  // Of a trace without allocations there are the collections and times alone.
  std::vector<Source> sources;
  if (GetParam().ticks) sources.push_back(Source::kTick);
  if (GetParam().counted) sources.push_back(Source::kCounted);
  if (GetParam().sampled || sources.empty()) sources.push_back(Source::kSampled);
  for (const Source source : sources) {
    analysis::BindOptions options;
    options.source = source;
    const profile::Profile read = analysis::Bind((*reader)->recording(), aggregate, options);
    const profile::Profile& direct = g.Bound(source);
    EXPECT_EQ(read.Total().samples, direct.Total().samples);
    EXPECT_EQ(read.Total().seen_amount, direct.Total().seen_amount);
    EXPECT_DOUBLE_EQ(read.Total().amount, direct.Total().amount);
    const bool seen = source == Source::kSampled;
    EXPECT_EQ(ByType(read, seen), ByType(direct, seen));
    const Stacks a = StacksOf(read, seen), b = StacksOf(direct, seen);
    EXPECT_EQ(a.stacks, b.stacks);
    EXPECT_GT(direct.gcs.size(), 0u);
    EXPECT_EQ(read.gcs.size(), direct.gcs.size());
    EXPECT_EQ(read.shown().threads.size(), direct.shown().threads.size());
    EXPECT_EQ(read.duration_ns, direct.duration_ns);
    EXPECT_EQ(read.complete, direct.complete);
    std::map<std::string_view, uint64_t> lost_read, lost_direct;
    read.losses.ForEach([&](Loss l, uint64_t n) { lost_read[Describe(l).name] = n; });
    direct.losses.ForEach([&](Loss l, uint64_t n) { lost_direct[Describe(l).name] = n; });
    EXPECT_EQ(lost_read, lost_direct);
  }
  fs::remove(file);
}

}  // namespace
}  // namespace clrscope
