// SPDX-License-Identifier: Apache-2.0
// How good every estimator is, on programs of which each allocation is known: docs/accuracy.md.
//   accuracy RUNS [--seed N] [SEQUENCE]...    Markdown on standard output; N: other random numbers
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <random>
#include <string>
#include <vector>

#include "accuracy_introduction.h"
#include "accuracy_table.h"
#include "accuracy_ticks.h"
#include "profile/testing/live_run.h"
#include "profile/testing/mixed_programs.h"
#include "profile/testing/sequence.h"

namespace {

using namespace clrscope::bench;
using namespace clrscope::profile;
using testing::RecordedTick;

constexpr size_t kCaps[] = {512, 2'000, 20'000};
constexpr uint64_t kAgain = 4;  // times as many runs for the tables of these
uint64_t seed_base = 0;

Estimate Figure(double bytes, double size) {
  Estimate e;
  e.samples = 1;
  e.amount = bytes;
  e.count = bytes / size;
  return e;
}

// What is known of a program, and how its figures are added up.
struct Subject {
  const Program& p;
  std::vector<RecordedTick> own_ticks;
  Groups types, sites, live_types, live_sites;
  explicit Subject(const Program& program, std::vector<RecordedTick> ticks = {})
      : p(program),
        own_ticks(std::move(ticks)),
        types(Groups::Of(p, false, false)),
        sites(Groups::Of(p, true, false)),
        live_types(Groups::Of(p, false, true)),
        live_sites(Groups::Of(p, true, true)) {}
  Row Allocated(std::string name, bool interval) const {
    return {std::move(name), interval, &types, &sites};
  }
  Row Live(std::string name, bool interval) const {
    return {std::move(name), interval, &live_types, &live_sites};
  }
};

// The estimators that claim an interval: AllocationSampled, allocated and live.
struct Claims {
  Row allocated;
  std::vector<Row> live;
};
Claims MeasureClaims(const Subject& s, uint64_t runs, uint64_t first_seed) {
  Claims c{s.Allocated("AllocationSampled, size ÷ chance (**used** on 10)", true), {}};
  for (const size_t cap : kCaps)
    c.live.push_back(s.Live(fmt::format("live sample, cap {} (**used** on 10)", cap), true));
  for (uint64_t run = 0; run < runs; ++run) {
    for (size_t i = 0; i < std::size(kCaps); ++i) {
      const testing::LiveRun r = testing::RunLive(s.p, kCaps[i], first_seed + run);
      c.live[i].AddSums(r.live, s.live_sites.Sum(s.p, r.followed));
      if (i > 0) continue;
      c.allocated.AddSums(r.allocated, s.sites.Sum(s.p, r.sampled));
    }
  }
  return c;
}

// As the first 1,024 objects that were sampled and did not die, each told by its own size or as 100
// KB: what a table does that refuses newcomers when it is full.
ByObject FirstCome(const Program& p, size_t cap, uint64_t seed, bool upscaled) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> table;
  const auto end = static_cast<uint32_t>(p.objects.size());
  uint32_t gc = 1;
  const auto prune = [&](uint32_t now) {
    std::erase_if(table, [&](uint32_t i) { return p.objects[i].death <= now; });
  };
  for (const uint32_t i : testing::SampledObjects(p, random)) {
    while (i >= end / 150 * gc) prune(end / 150 * gc++);
    if (table.size() < cap) table.push_back(i);
  }
  prune(end);
  ByObject v;
  for (const uint32_t i : table) {
    const double size = p.objects[i].size;
    v.push_back({i, Figure(upscaled ? kStride : size, size)});
  }
  return v;
}

ByObject Weighed(const std::vector<SimTick>& ticks, const Weights& weights) {
  ByObject v;
  for (size_t i = 0; i < ticks.size(); ++i)
    v.push_back({ticks[i].object, Figure(weights[i], ticks[i].size)});
  return v;
}

std::string Used(const TickEstimator& e) {
  return fmt::format("AllocationTick, {}{}", e.name,
                     e.weights == kUsedOnTicks ? " (**used** on 8 and 9)" : "");
}

std::string AllocatedTable(const Subject& s, const Row& claimed, uint64_t runs,
                           const std::vector<Row>& ticks) {
  Row plain = s.Allocated("AllocationSampled, × 100 KB", false);
  Row shared = s.Allocated("AllocationSampled, total ÷ sampled bytes", false);
  for (uint64_t run = 0; run < runs; ++run) {
    std::mt19937_64 random(seed_base + 100'000 + run);
    std::vector<SimTick> sampled;
    for (const uint32_t i : testing::SampledObjects(s.p, random))
      sampled.push_back({i, s.p.objects[i].kind, static_cast<double>(s.p.objects[i].size), 0});
    plain.Add(s.p, Weighed(sampled, ByHundredKb(sampled, s.types.whole)));
    shared.Add(s.p, Weighed(sampled, BySampledBytes(sampled, s.types.whole)));
  }
  std::string out = Head("allocated") + Line(claimed) + Line(plain) + Line(shared);
  for (const Row& r : ticks) out += Line(r);
  if (s.own_ticks.empty()) return out;
  std::vector<SimTick> own;
  for (const RecordedTick& t : s.own_ticks)
    own.push_back({t.object, static_cast<HeapKind>(t.kind), static_cast<double>(t.size),
                   static_cast<double>(t.amount)});
  for (const TickEstimator& e : kTickEstimators) {
    Row row = s.Allocated(fmt::format("the runtime's own ticks, {}", e.name), false);
    row.Add(s.p, Weighed(own, e.weights(own, s.types.whole)));
    out += Line(row);
  }
  return out;
}

std::string LiveTable(const Subject& s, const std::vector<Row>& claimed, uint64_t runs) {
  std::string out = Head("live at the end");
  for (const Row& r : claimed) out += Line(r);
  Row raw = s.Live("first 1,024, raw sizes", false);
  Row first = s.Live("first 1,024, × 100 KB", false);
  for (uint64_t run = 0; run < runs; ++run) {
    raw.Add(s.p, FirstCome(s.p, 1'024, seed_base + 100'000 + run, false));
    first.Add(s.p, FirstCome(s.p, 1'024, seed_base + 100'000 + run, true));
  }
  out += Line(first) + Line(raw);
  for (const size_t cap : {kCaps[0], kCaps[2]}) {
    Row row =
        s.Live(fmt::format("AllocationTick, halving, cap {} (**used** on 8 and 9)", cap), false);
    for (uint64_t run = 0; run < std::max<uint64_t>(runs / 20, 10); ++run) {
      std::mt19937_64 random(seed_base + 500 + run);
      const std::vector<SimTick> ticks = testing::TicksOf(s.p, random);
      const Weights weights = kUsedOnTicks(ticks, s.types.whole);
      std::vector<testing::TickedObject> ticked;
      for (size_t i = 0; i < ticks.size(); ++i) ticked.push_back({ticks[i].object, weights[i]});
      const testing::LiveRun r = testing::RunLive(s.p, cap, seed_base + 900 + run, ticked);
      row.Add(s.p, r.followed);
    }
    out += Line(row);
  }
  return out;
}

// Figures whose coverage is not what is promised: 93 % or more where five samples or more are
// expected, 97 % or less where 30 or more are and most objects are not in the sample.
constexpr double kLeast = 0.93, kMost = 0.97;
bool HasMost(const Accuracy& a) { return a.samples() >= 30 && a.chance() < 0.3; }
bool IsOutside(const Accuracy& a, const Accuracy::Of& of) {
  return (a.samples() >= 5 && a.coverage(of) < kLeast) || (HasMost(a) && a.coverage(of) > kMost);
}

// The chance that fewer than `share` of `runs` cover, when each does with the chance `covers`.
double ChanceBelow(double share, double covers, uint64_t runs) {
  const auto n = static_cast<double>(runs);
  double sum = 0;
  for (double k = 0; k < share * n; ++k)
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(covers) + (n - k) * std::log1p(-covers));
  return sum;
}

struct Checked {
  uint64_t figures = 0, first = 0, objects = 0;
  double by_chance = 0;        // how many of `first` there would be if more runs told the truth
  double least = 1, most = 0;  // by more runs
  std::vector<std::string> outside;  // table lines: those that more runs show
};

void Check(const std::string& program, const Row& row, const Row& again, Checked& c) {
  const auto one = [&](const std::string& what, const Accuracy& a, const Accuracy& b) {
    if (a.samples() < 5) return;
    for (const bool objects : {false, true}) {
      const Accuracy::Of &mine = objects ? a.objects : a.bytes, &of = objects ? b.objects : b.bytes;
      const double covers = std::min(b.coverage(of), 1 - 1e-9);
      ++c.figures;
      c.by_chance += ChanceBelow(kLeast, covers, a.runs);
      if (HasMost(a)) {
        c.by_chance += ChanceBelow(1 - kMost, 1 - covers, a.runs);
        c.most = std::max(c.most, b.coverage(of));
      }
      c.least = std::min(c.least, b.coverage(of));
      if (IsOutside(a, mine)) ++c.first;
      if (!IsOutside(b, of)) continue;
      c.objects += objects ? 1 : 0;
      c.outside.push_back(fmt::format("| {}, {} | {}, {} | {:.1f} | {:.3f} | {} | {} |\n", program,
                                      row.name, what, objects ? "objects" : "bytes", a.samples(),
                                      a.chance(), Percent(a.coverage(mine)),
                                      Percent(b.coverage(of))));
    }
  };
  one("total", row.total, again.total);
  for (const bool sites : {false, true}) {
    const GroupFigures& f = sites ? row.sites : row.types;
    for (size_t i = 0; i < f.accuracy.size(); ++i)
      one(fmt::format("{} {}", sites ? "site" : "type", f.groups->sampled[i]), f.accuracy[i],
          (sites ? again.sites : again.types).accuracy[i]);
  }
}

struct TickSummary {
  double total, types_off, types_bias, sites_off, sites_bias;
};
struct Result {
  std::string tables;
  Checked checked;
  std::vector<TickSummary> ticks;  // by estimator
};

Result Try(const Program& p, std::vector<RecordedTick> own_ticks, uint64_t runs) {
  const Subject s(p, std::move(own_ticks));
  Result result;
  double live = 0;
  for (const SimTruth& t : p.live) live += t.bytes;
  result.tables = fmt::format(
      "\n## {}\n\n{} objects of {:.0f} MB on {} threads, {} types, {} sites; {:.1f} MB live at the "
      "end.\n",
      p.name, p.objects.size(), s.types.whole / 1e6, p.threads, p.types, p.sites, live / 1e6);
  const Claims claims = MeasureClaims(s, runs, seed_base + 100'000);
  // Of hundreds of right figures some are outside by chance: more runs tell which.
  const Claims again = MeasureClaims(s, kAgain * runs, seed_base + 1'000'000);
  std::vector<Row> ticks;
  for (const TickEstimator& e : kTickEstimators) ticks.push_back(s.Allocated(Used(e), false));
  for (uint64_t run = 0; run < std::max<uint64_t>(runs / 20, 10); ++run) {
    std::mt19937_64 random(seed_base + 500 + run);
    const std::vector<SimTick> seen = testing::TicksOf(p, random);
    for (size_t i = 0; i < std::size(kTickEstimators); ++i)
      ticks[i].Add(p, Weighed(seen, kTickEstimators[i].weights(seen, s.types.whole)));
  }
  result.tables += AllocatedTable(s, again.allocated, runs, ticks);
  result.tables += LiveTable(s, again.live, std::min<uint64_t>(runs, 200));
  Check(p.name, claims.allocated, again.allocated, result.checked);
  for (size_t i = 0; i < claims.live.size(); ++i)
    Check(p.name, claims.live[i], again.live[i], result.checked);
  for (const Row& r : ticks) {
    result.ticks.push_back({r.total.bias(r.total.bytes), r.types.Mean(r.types.off), r.types.bias(),
                            r.sites.Mean(r.sites.off), r.sites.bias()});
  }
  return result;
}

Program Replay(const std::string& path, testing::Sequence sequence) {
  size_t types = 0, threads = 0;
  for (const SimObject& o : sequence.objects) {
    types = std::max<size_t>(types, o.type + size_t{1});
    threads = std::max<size_t>(threads, o.thread + size_t{1});
  }
  Program p(std::filesystem::path(path).filename(), types, threads);
  p.gen0_budget = 4 << 20;  // as bench/sequences.py records
  p.objects = std::move(sequence.objects);
  p.Finish();
  return p;
}

void Print(const std::string& text) { std::fputs(text.c_str(), stdout); }

// Every estimator of AllocationTick beside the amount, over all programs.
void PrintTicks(const std::vector<Result>& results) {
  Print(
      "\n## AllocationTick over all programs\n\n"
      "Means over the programs, simulated, and of how many the estimator is better or worse than "
      "the "
      "amount by more than 0.5.\n\n"
      "| estimator | \\|total\\| | types: off | better, worse | bias | better, worse | sites: off "
      "| "
      "better, worse | bias | better, worse |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < std::size(kTickEstimators); ++i) {
    std::string line = fmt::format("| {} |", kTickEstimators[i].name);
    double total = 0;
    for (const Result& r : results) total += std::fabs(r.ticks[i].total);
    line += fmt::format(" {} |", Percent(total / static_cast<double>(results.size())));
    for (const auto member : {&TickSummary::types_off, &TickSummary::types_bias,
                              &TickSummary::sites_off, &TickSummary::sites_bias}) {
      double sum = 0;
      int better = 0, worse = 0;
      for (const Result& r : results) {
        const double mine = r.ticks[i].*member, amount = r.ticks[0].*member;
        sum += mine;
        better += mine < amount - 0.005 ? 1 : 0;
        worse += mine > amount + 0.005 ? 1 : 0;
      }
      line += fmt::format(" {} | {}, {} |", Percent(sum / static_cast<double>(results.size())),
                          better, worse);
    }
    Print(line + "\n");
  }
}

void PrintIntervals(const std::vector<Result>& results, uint64_t runs) {
  Checked all;
  for (const Result& r : results) {
    all.figures += r.checked.figures;
    all.first += r.checked.first;
    all.objects += r.checked.objects;
    all.by_chance += r.checked.by_chance;
    all.least = std::min(all.least, r.checked.least);
    all.most = std::max(all.most, r.checked.most);
    all.outside.insert(all.outside.end(), r.checked.outside.begin(), r.checked.outside.end());
  }
  Print(fmt::format(
      "\n## Intervals that do not hold\n\n"
      "{} intervals of totals, types and sites rest on five expected samples or more: 93 % are to "
      "be covered, and where 30 samples are expected and p < 0.3 no more than 97 %. In {} runs, "
      "those of the tables below, {} do not hold, {} of objects and {} of bytes; the least "
      "coverage is {} %, the most with 30 samples {} %.\n\n"
      "In {} runs of other seeds a coverage of 95 % has a standard error of {:.1f} %: if the {} "
      "runs tell the true coverage, {:.1f} intervals are expected to be outside by chance alone "
      "(several at a time, as the three caps often keep the same sample), and {} are.\n",
      all.figures, kAgain * runs, all.outside.size(), all.objects, all.outside.size() - all.objects,
      Percent(all.least), Percent(all.most), runs,
      100 * std::sqrt(0.05 * 0.95 / static_cast<double>(runs)), kAgain * runs, all.by_chance,
      all.first));
  if (all.outside.empty()) return;
  Print(
      "\n| program, estimator | figure | samples | p | in fewer runs | covered |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (const std::string& line : all.outside) Print(line);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t runs = argc > 1 ? static_cast<uint64_t>(std::atoi(argv[1])) : 1'000;
  std::vector<std::function<Result()>> work;
  for (const auto& programs : {testing::AllPrograms(), testing::MixedPrograms()})
    for (const auto make : programs) work.push_back([make, runs] { return Try(make(), {}, runs); });
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    if (path == "--seed" && i + 1 < argc) {
      seed_base = static_cast<uint64_t>(std::atoll(argv[++i])) * 10'000'000;
      continue;
    }
    work.push_back([path, runs] {
      testing::Sequence sequence;
      if (!testing::ReadSequence(path, &sequence)) {
        std::fprintf(stderr, "%s: no sequence\n", path.c_str());
        std::exit(1);
      }
      std::vector<RecordedTick> ticks = sequence.ticks;
      return Try(Replay(path, std::move(sequence)), std::move(ticks), runs);
    });
  }
  std::vector<Result> done(work.size());
  for (size_t i = 0; i < work.size(); i += 2) {
    auto other =
        i + 1 < work.size() ? std::async(std::launch::async, work[i + 1]) : std::future<Result>();
    done[i] = work[i]();
    if (other.valid()) done[i + 1] = other.get();
  }
  Print(fmt::format(fmt::runtime(kIntroduction), runs));
  PrintTicks(done);
  PrintIntervals(done, runs);
  for (const Result& r : done) Print(r.tables);
}
