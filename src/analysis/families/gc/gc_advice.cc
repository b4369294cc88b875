// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/families/gc/gc_reasons.h"
#include "base/saturate.h"
#include "base/units.h"
#include "clr/gc_names.h"

namespace clrscope::analysis {
namespace {

using profile::GcBrief;
using profile::GcFacts;
using profile::GcRecord;
using profile::kGcLoh;
using profile::PackedGc;

constexpr int64_t kMiB = 1 << 20;

std::string Ms(int64_t ns) { return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6); }
std::string Mib(int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
}
double Part(double part, double whole) { return whole > 0 ? part / whole : 0; }
double Part(int64_t part, int64_t whole) {
  return Part(static_cast<double>(part), static_cast<double>(whole));
}
std::string Share(double part) { return fmt::format("{:.0f} %", 100 * part); }

struct Observed {
  std::span<const PackedGc> gcs;
  const GcFigureList& figures;
  const GcStats& stats;
  const GcFacts& facts;
};

// Without its pause a GC tells no cost; with lost events, no figure.
bool Sound(const GcBrief& r) {
  return r.has(profile::kGcComplete) && !r.has(profile::kGcMaybeTouched);
}

void AddTo(int64_t& sum, int64_t more) { sum = SaturatedAdd(sum, more); }

template <class Value>
Value Median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<GcAdvice> Induced(const Observed& o) {
  if (o.stats.all().induced < 3) return {};
  uint64_t induced = 0;
  int64_t pause_ns = 0;
  for (const GcBrief& r : o.gcs) {
    if (!clr::IsInduced(r.reason)) continue;
    ++induced;
    AddTo(pause_ns, std::max<int64_t>(r.pause_ns, 0));
  }
  const double share = Part(pause_ns, o.stats.paused_ns);
  if (induced < 3 || share < 0.1) return {};
  return GcAdvice{
      "induced",
      fmt::format("{} of {} GCs were asked for by the program; they are {} of all pauses ({})",
                  induced, o.gcs.size(), Share(share), Ms(pause_ns)),
      "Let the GC decide when to run, or ask for a non-blocking one; who asks is listed with the "
      "GCs.",
      "GC.Collect"};
}

std::optional<GcAdvice> LohChurn(const Observed& o) {
  if (o.stats.rollup[2].count < 3) return {};
  uint64_t full = 0, by_large = 0;
  int64_t before = 0, survived = 0, pause_ns = 0;
  for (const PackedGc& r : o.gcs) {
    if (r.generation != 2) continue;
    ++full;
    constexpr int32_t kAllocLarge = 4, kOutOfSpaceLoh = 6;
    if (r.reason != kAllocLarge && r.reason != kOutOfSpaceLoh) continue;
    ++by_large;
    AddTo(pause_ns, std::max<int64_t>(r.pause_ns, 0));
    if (!Sound(r) || r.generations <= kGcLoh) continue;
    const profile::GcGeneration loh = r.Sizes().generation_data[kGcLoh];
    AddTo(before, loh.objects_before());
    AddTo(survived, loh.survived());
  }
  const double alive = Part(survived, before);
  if (by_large < 3 || by_large * 2 < full || before < 10 * kMiB || alive > 0.5) return {};
  return GcAdvice{
      "loh_churn",
      fmt::format("{} of {} gen2 GCs came from large objects ({} of pauses), and {} of what the "
                  "LOH held then was garbage",
                  by_large, full, Ms(pause_ns), Share(1 - alive)),
      "Reuse large arrays (ArrayPool), or raise the size from which objects count as large.",
      "System.GC.LOHThreshold"};
}

std::optional<GcAdvice> Pinning(const Observed& o) {
  if (o.stats.all().pinned_objects < 100) return {};
  std::vector<int64_t> pinned;
  std::vector<double> free;
  std::vector<int64_t> free_bytes;
  for (size_t i = 0; i < o.gcs.size(); ++i) {
    const PackedGc& r = o.gcs[i];
    if (r.generation > 1 || !Sound(r) || r.pinned_objects < 0 || !r.has_histories()) continue;
    pinned.push_back(r.pinned_objects);
    const profile::GcSizes sizes = r.Sizes();
    const profile::GcGeneration& gen0 = sizes.generation_data[0];
    free.push_back(Part(gen0.fragmentation(), BytesAfter(sizes)));
    free_bytes.push_back(gen0.fragmentation());
  }
  if (pinned.size() < 5) return {};
  const int64_t objects = Median(pinned), bytes = Median(free_bytes);
  const double share = Median(free);
  if (objects < 50 || share < 0.2 || bytes < 16 * kMiB) return {};
  return GcAdvice{
      "pinning",
      fmt::format("A young GC finds {} pinned objects (median), and the free space between them "
                  "in gen0 is {}, {} of the heap",
                  objects, Mib(bytes), Share(share)),
      "Allocate buffers that are pinned for long on the pinned object heap, and pin others for "
      "short.",
      "GC.AllocateArray(pinned: true)"};
}

std::optional<GcAdvice> Fragmentation(const Observed& o) {
  // Free space of gen2 and LOH after the last full blocking GCs, which could have compacted it.
  constexpr size_t kLast = 3;
  if (o.stats.rollup[2].count < 2) return {};
  for (const size_t g : {size_t{2}, kGcLoh}) {
    size_t seen = 0, fragmented = 0;
    int64_t free = 0, size = 0;
    for (size_t i = o.gcs.size(); i-- > 0 && seen < kLast;) {
      const PackedGc& r = o.gcs[i];
      if (r.generation != 2 || !Sound(r) || r.generations <= g) continue;
      const profile::GcGeneration d = r.Sizes().generation_data[g];
      ++seen;
      const bool much =
          d.fragmentation() >= 50 * kMiB && Part(d.fragmentation(), d.size_after) >= 0.4;
      fragmented += much ? 1 : 0;
      if (seen > 1) continue;
      free = d.fragmentation();
      size = d.size_after;
    }
    if (seen < 2 || fragmented < seen) continue;
    const std::string_view name = g == 2 ? "gen2" : "the LOH";
    return GcAdvice{"fragmentation",
                    fmt::format("{} of {} of {} were free space after the last full GC, as after "
                                "the {} before it",
                                Mib(free), Mib(size), name, seen - 1 == 1 ? "one" : "two"),
                    "Let the GC compact more, or compact the LOH once.",
                    g == 2 ? "System.GC.ConserveMemory"
                           : "System.GC.ConserveMemory, GCSettings.LargeObjectHeapCompactionMode"};
  }
  return {};
}

std::optional<GcAdvice> SlowSuspension(const Observed& o) {
  int64_t suspended_ns = 0, paused_ns = 0, longest_ns = 0;
  uint64_t slow = 0, known = 0;
  constexpr int64_t kSlowNs = 10'000'000;
  if (o.stats.all().max_suspend_ns < kSlowNs) return {};
  for (const GcBrief& r : o.gcs) {
    if (r.suspend_ns < 0 || r.pause_ns < 0 || r.has(profile::kGcMaybeTouched)) continue;
    ++known;
    AddTo(suspended_ns, r.suspend_ns);
    AddTo(paused_ns, r.pause_ns);
    longest_ns = std::max(longest_ns, r.longest_suspend_ns);
    slow += r.longest_suspend_ns >= kSlowNs ? 1 : 0;
  }
  const double share = Part(suspended_ns, paused_ns);
  if (slow < 3 || share < 0.25) return {};
  return GcAdvice{
      "slow_suspension",
      fmt::format("{} of {} GCs waited 10 ms and more, up to {}, until all threads stood still: {} "
                  "of all pauses",
                  slow, known, Ms(longest_ns), Share(share)),
      "Look for threads that the system does not let run (a CPU limit, swapping) and for long "
      "loops without calls.",
      "cpu.max of its cgroup"};
}

std::optional<GcAdvice> Gen1Budget(const Observed& o) {
  if (o.stats.rollup[1].count < 20) return {};
  uint64_t young = 0, gen1 = 0, known = 0;
  int64_t pause_ns = 0;
  std::vector<double> survival;
  for (size_t i = 0; i < o.gcs.size(); ++i) {
    const PackedGc& r = o.gcs[i];
    if (r.generation < 0 || r.generation > 1 || clr::IsInduced(r.reason)) continue;
    ++young;
    if (r.generation != 1) continue;
    ++gen1;
    AddTo(pause_ns, std::max<int64_t>(r.pause_ns, 0));
    if (!Sound(r)) continue;
    const GcRecord whole = r.Unpack();
    const std::optional<clr::CondemnedReasons> why = CondemnedOf(whole);
    if (!why) continue;
    ++known;
    if (why->by_budget >= 1)
      survival.push_back(FiguresOf(whole, o.figures.flows()[i]).survival_percent[0]);
  }
  const double share = Part(pause_ns, o.stats.paused_ns);
  if (gen1 < 20 || gen1 * 2 < young || share < 0.3 || survival.size() * 2 < known || known < 20)
    return {};
  std::erase_if(survival, [](double s) { return !std::isfinite(s); });
  if (survival.size() < 10 || Median(survival) < 20) return {};
  return GcAdvice{
      "gen1_budget",
      fmt::format("{} of {} young GCs had to collect gen1 too, as its budget was used up ({} of "
                  "all pauses): {:.0f} % of gen0 survives (median)",
                  gen1, young, Share(share), Median(survival)),
      "Give gen0 more room, so that more objects die in it.", "DOTNET_GCgen0size"};
}

std::optional<GcAdvice> ServerGcInSmallContainer(const Observed& o) {
  const int32_t heaps = o.stats.max_heap_count;
  // In a container the GC takes three quarters of its memory as its limit; that is what it says.
  const int64_t memory =
      o.facts.hard_limit_bytes > 0 ? o.facts.hard_limit_bytes : o.facts.physical_memory_bytes;
  if (heaps < 2 || memory <= 0) return {};
  int32_t load = -1;
  int64_t committed = -1;
  if (memory / heaps > 512 * kMiB) return {};
  for (const PackedGc& gc : o.gcs) {
    const GcRecord r = gc.Unpack();
    load = std::max(load, r.memory_load_percent);
    committed = std::max(committed, r.committed_after.total());
  }
  if (load < 75) return {};
  std::string held;
  if (committed > 0) held = fmt::format(", {} of it committed by the GC", Mib(committed));
  return GcAdvice{
      "server_gc_small",
      fmt::format("server GC with {} heaps in {} of memory, of which up to {} % were in use{}",
                  heaps, Mib(memory), load, held),
      "Use fewer heaps, or workstation GC; from .NET 8 on the heaps can adapt to the load.",
      "System.GC.HeapCount, System.GC.DynamicAdaptationMode, System.GC.Server"};
}

std::optional<GcAdvice> MidLifeCrisis(const Observed& o) {
  // Objects that outlive gen0 and gen1 only to die in gen2.
  if (o.stats.rollup[2].count < 5) return {};
  uint64_t full = 0;
  int64_t before = 0, died = 0, pause_ns = 0, arrived = 0;
  for (const PackedGc& r : o.gcs) {
    if (!Sound(r) || r.generations <= 2 || r.generation < 1 || clr::IsInduced(r.reason)) continue;
    const profile::GcGeneration gen2 = r.Sizes().generation_data[2];
    if (r.generation == 1) AddTo(arrived, gen2.in);
    if (r.generation != 2) continue;
    ++full;
    AddTo(before, gen2.objects_before());
    AddTo(died, std::max<int64_t>(gen2.objects_before() - gen2.survived(), 0));
    AddTo(pause_ns, r.pause_ns);
  }
  const double dead = Part(died, before), cost = Part(pause_ns, o.stats.paused_ns);
  if (full < 5 || dead < 0.4 || died < 50 * kMiB || arrived < died / 2 || cost < 0.2) return {};
  return GcAdvice{
      "mid_life_crisis",
      fmt::format("{} gen2 GCs ({} of all pauses) freed {}, {} of what gen2 held, after gen1 had "
                  "moved {} into it",
                  full, Share(cost), Mib(died), Share(dead), Mib(arrived)),
      "Objects live just long enough to reach gen2: let go of them sooner (caches, queues), or "
      "give gen0 more room.",
      "DOTNET_GCgen0size"};
}

// The finalizer's thread says so each time that it has run all that waits. The last collection may
// have been a moment ago.
std::optional<GcAdvice> StuckFinalizers(const Observed& o) {
  int64_t waiting = 0, first_ns = -1, last_ns = -1, last = 0;
  uint64_t by = 0;
  for (const PackedGc& gc : o.gcs) {
    const int64_t count = gc.Unpack().finalization_promoted_count;
    if (count <= 0 || gc.end_ns <= o.facts.finalized_ns) continue;
    ++by;
    AddTo(waiting, count);
    if (first_ns < 0) first_ns = gc.end_ns;
    last_ns = gc.end_ns;
    last = count;
  }
  if (by < 3 || waiting - last < 1000 || last_ns - first_ns < kSecond) return {};
  return GcAdvice{
      "stuck_finalizers",
      fmt::format("{} GCs found {} objects that live on only to be finalized, and in {:.1f} s the "
                  "finalizer's thread has not come to an end of them",
                  by, waiting, static_cast<double>(last_ns - first_ns) / kSecond),
      "Look at what the finalizer's thread does: a finalizer that waits keeps all other objects "
      "with one alive.",
      "clrscope stacks"};
}

}  // namespace

std::vector<GcAdvice> AdviceFor(std::span<const PackedGc> gcs, const GcFigureList& figures,
                                const GcStats& stats, const GcFacts& facts) {
  const Observed observed{gcs, figures, stats, facts};
  std::vector<GcAdvice> out;
  for (const auto rule : {Induced, LohChurn, Pinning, Fragmentation, SlowSuspension, Gen1Budget,
                          ServerGcInSmallContainer, MidLifeCrisis, StuckFinalizers})
    if (auto advice = rule(observed)) out.push_back(std::move(*advice));
  return out;
}

}  // namespace clrscope::analysis
