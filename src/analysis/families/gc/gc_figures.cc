// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_figures.h"

#include <algorithm>
#include <cmath>

#include "base/saturate.h"

namespace clrscope::analysis {
namespace {

using profile::GcBrief;
using profile::GcRecord;
using profile::GcSizes;
using profile::kGcGenerations;
using profile::kGcLoh;
using profile::kGcPoh;
using profile::PackedGc;

int64_t SumKnown(const profile::GcBytes& bytes) {
  if (bytes[0] < 0) return -1;
  int64_t sum = 0;
  for (const int64_t b : bytes) sum += std::max<int64_t>(b, 0);
  return sum;
}

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole)
                   : kUnknownPercent;
}

template <class Part>
double Imbalance(const GcRecord& r, Part&& part) {
  if (r.heaps.size() < 2) return kUnknownPercent;
  int64_t sum = 0, most = 0;
  for (const profile::GcHeap& h : r.heaps) {
    const int64_t p = part(h);
    if (p < 0) return kUnknownPercent;
    sum = SaturatedAdd(sum, p);
    most = std::max(most, p);
  }
  if (sum <= 0) return kUnknownPercent;
  return static_cast<double>(most) * static_cast<double>(r.heaps.size()) / static_cast<double>(sum);
}

// The largest heap of the foreground GCs that began inside a background one.
void Peaks(std::span<const PackedGc> gcs, LargeVector<GcFlow>& flows) {
  for (size_t i = 0; i < gcs.size(); ++i) {
    if (!gcs[i].background() || !gcs[i].ended()) continue;
    // Those after it still say what their own heap was before them.
    for (size_t k = i + 1; k < gcs.size() && gcs[k].start_ns < gcs[i].end_ns; ++k)
      flows[i].peak_bytes = std::max(flows[i].peak_bytes, flows[k].peak_bytes);
  }
}

// Follows how many bytes of objects each heap holds when the program runs on.
class Allocations {
 public:
  void Next(const GcBrief& r, const GcSizes& sizes, GcFlow& f) {
    // Before the first GC of a program nothing was there.
    if (first_) known_ = r.number == 1;
    // The one between may still run, in the background: what it found is not told yet.
    if (!first_ && r.number != last_number_ + 1 && !r.has(profile::kGcAfterCounted)) known_ = false;
    first_ = false;
    last_number_ = r.number;
    // A background GC frees objects of every generation while it sweeps, beside the program: across
    // that, sizes are no measure of allocation (TraceEvent shows negative ones).
    const bool usable = known_ && r.has_histories() && !r.has(profile::kGcAfterMissing) &&
                        r.start_ns <= sweep_from_ns_;
    bool whole = true;
    for (size_t k = 0; k < kWhere.size(); ++k) {
      // What a background GC tells of LOH and POH before it is not of its start. Ticks tell; else
      // the next GC counts that too.
      const bool blurred =
          k > 0 && (r.ran_in_background() || (after_background_ && sizes.ticked_bytes[k] >= 0));
      const int64_t grown = usable && !blurred && kWhere[k] < r.generations
                                ? sizes.generation_data[kWhere[k]].objects_before() - objects_[k]
                                : -1;
      f.allocated[k] = grown >= 0 ? grown : sizes.ticked_bytes[k];
      whole &= f.allocated[k] >= 0;
    }
    if (whole)
      f.allocated_bytes =
          SaturatedAdd(f.allocated[0], SaturatedAdd(f.allocated[1], f.allocated[2]));
    Remember(r, sizes);
  }

 private:
  static constexpr std::array<size_t, 3> kWhere = {0, kGcLoh, kGcPoh};

  void Remember(const GcBrief& r, const GcSizes& sizes) {
    known_ = r.has_histories();
    for (size_t k = 0; known_ && k < kWhere.size(); ++k) {
      const profile::GcGeneration& d = sizes.generation_data[kWhere[k]];
      // At its start a background GC has freed nothing. A young GC may not note LOH and POH again.
      const bool stale = k > 0 && d.size_after == 0 && d.size_before > 0 && r.generation < 1;
      if (k > 0 && r.ran_in_background()) continue;
      objects_[k] = r.ran_in_background() || stale ? d.objects_before() : d.objects_after();
    }
    after_background_ = r.ran_in_background();
    if (r.ran_in_background()) {
      sweep_from_ns_ = r.final_pause_ns > 0 ? r.restart_ns : r.start_ns;
      sweep_to_ns_ = r.end_ns >= 0 ? r.end_ns : INT64_MAX;
    } else if (r.start_ns > sweep_to_ns_) {
      sweep_from_ns_ = INT64_MAX;  // from here on, sizes tell again
    }
  }

  std::array<int64_t, 3> objects_{};
  uint32_t last_number_ = 0;
  bool first_ = true, known_ = false, after_background_ = false;
  int64_t sweep_from_ns_ = INT64_MAX, sweep_to_ns_ = -1;
};

int64_t BytesBefore(const GcBrief& r, const GcSizes& sizes) {
  if (!r.has_histories() || sizes.generation_data[0].size_before < 0) return -1;
  int64_t sum = 0;
  for (size_t g = 0; g < r.generations; ++g)
    sum += std::max<int64_t>(sizes.generation_data[g].size_before, 0);
  return sum;
}

}  // namespace

int64_t BytesAfter(const GcSizes& sizes) { return SumKnown(sizes.size_after); }

GcFigures FiguresOf(const GcRecord& r, const GcFlow& flow) {
  GcFigures f;
  static_cast<GcFlow&>(f) = flow;
  f.concurrent = r.used(profile::kGcConcurrent);
  f.compacted = r.used(profile::kGcCompaction);
  f.promoted = r.used(profile::kGcPromotion);
  f.demoted = r.used(profile::kGcDemotion);
  for (size_t g = 0; g < r.generations; ++g) {
    const profile::GcGeneration& d = r.generation_data[g];
    f.size_before[g] = d.size_before;
    f.fragmentation[g] = d.fragmentation();
    f.budget[g] = d.budget;
    f.promoted_in[g] = d.in;
    if (r.Collected(g)) f.survival_percent[g] = Percent(d.survived(), d.objects_before());
    f.fragmentation_percent[g] = Percent(d.fragmentation(), r.size_after[g]);
  }
  f.before_bytes = BytesBefore(r, r);
  f.after_bytes = BytesAfter(r);
  f.survived_imbalance = Imbalance(r, [](const profile::GcHeap& h) { return h.survived; });
  f.mark_imbalance = Imbalance(r, [](const profile::GcHeap& h) { return h.mark_ns; });
  if (f.ran_ns >= 0 && r.pause_ns >= 0)
    f.pause_percent = Percent(r.pause_ns, SaturatedAdd(r.pause_ns, f.ran_ns));
  return f;
}

GcFigureList FiguresOf(std::span<const PackedGc> gcs) {
  // Of very many the last page is a huge one, too.
  constexpr size_t kPage = LargeAllocator<GcFlow>::kHugePage / sizeof(GcFlow);
  LargeVector<GcFlow> flows;
  flows.reserve(gcs.size() < kPage ? gcs.size() : gcs.size() + kPage);
  flows.resize(gcs.size());
  Allocations allocations;
  for (size_t i = 0; i < gcs.size(); ++i) {
    const PackedGc& r = gcs[i];
    const GcSizes sizes = r.Sizes();
    GcFlow& f = flows[i];
    f.peak_bytes = BytesBefore(r, sizes);
    f.promoted_bytes = SumKnown(sizes.promoted);
    allocations.Next(r, sizes, f);
    if (!r.has(profile::kGcInsideSuspension) && r.pause_start_ns >= 0 &&
        r.previous_restart_ns >= 0 && r.pause_start_ns >= r.previous_restart_ns)
      f.ran_ns = SaturatedSub(r.pause_start_ns, r.previous_restart_ns);
  }
  Peaks(gcs, flows);
  return {gcs, std::move(flows)};
}

GcPauses PausesOf(const GcBrief& r) {
  GcPauses out;
  if (r.pause_start_ns < 0 || r.pause_ns < 0) return out;
  const int64_t first = r.initial_pause_ns >= 0 ? r.initial_pause_ns
                        : r.final_pause_ns >= 0 ? r.pause_ns - r.final_pause_ns
                                                : r.pause_ns;
  if (first > 0) out.Add({r.pause_start_ns, SaturatedAdd(r.pause_start_ns, first)});
  if (r.final_pause_ns > 0 && r.restart_ns >= 0)
    out.Add({SaturatedSub(r.restart_ns, r.final_pause_ns), r.restart_ns});
  return out;
}

}  // namespace clrscope::analysis
