// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_stats.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/saturate.h"
#include "clr/gc_names.h"

namespace clrscope::analysis {
namespace {

using profile::GcBrief;
using profile::PackedGc;

struct RowCollector {
  GcRollup row;
  std::vector<int64_t> pauses;

  void Add(const GcBrief& r, const GcFlow& f) {
    ++row.count;
    if (clr::IsInduced(r.reason)) ++row.induced;
    if (r.used(profile::kGcCompaction)) ++row.compacting;
    if (r.pause_ns >= 0) {
      ++row.pauses_known;
      row.pause_ns = SaturatedAdd(row.pause_ns, r.pause_ns);
      row.max_pause_ns = std::max(row.max_pause_ns, r.pause_ns);
      pauses.push_back(r.pause_ns);
    }
    row.max_suspend_ns = std::max(row.max_suspend_ns, r.longest_suspend_ns);
    row.max_peak_bytes = std::max(row.max_peak_bytes, f.peak_bytes);
    if (f.allocated_bytes >= 0) {
      ++row.allocated_known;
      row.allocated_bytes = SaturatedAdd(row.allocated_bytes, f.allocated_bytes);
    }
    if (const double rate = f.allocated_per_second(); !std::isnan(rate))
      row.max_allocated_per_second = std::fmax(row.max_allocated_per_second, rate);
    if (f.promoted_bytes >= 0) {
      ++row.promoted_known;
      row.promoted_bytes = SaturatedAdd(row.promoted_bytes, f.promoted_bytes);
    }
    if (r.pinned_objects >= 0) {
      ++row.pinned_known;
      row.pinned_objects += r.pinned_objects;
    }
  }
  void Add(const RowCollector& other) {
    const GcRollup& o = other.row;
    row.count += o.count;
    row.induced += o.induced;
    row.compacting += o.compacting;
    row.pauses_known += o.pauses_known;
    row.pause_ns = SaturatedAdd(row.pause_ns, o.pause_ns);
    row.max_pause_ns = std::max(row.max_pause_ns, o.max_pause_ns);
    row.max_suspend_ns = std::max(row.max_suspend_ns, o.max_suspend_ns);
    row.max_peak_bytes = std::max(row.max_peak_bytes, o.max_peak_bytes);
    row.allocated_known += o.allocated_known;
    row.allocated_bytes = SaturatedAdd(row.allocated_bytes, o.allocated_bytes);
    row.max_allocated_per_second =
        std::fmax(row.max_allocated_per_second, o.max_allocated_per_second);
    row.promoted_known += o.promoted_known;
    row.promoted_bytes = SaturatedAdd(row.promoted_bytes, o.promoted_bytes);
    row.pinned_known += o.pinned_known;
    row.pinned_objects += o.pinned_objects;
    pauses.insert(pauses.end(), other.pauses.begin(), other.pauses.end());
  }
};

// Each collection counts in one of these: of every generation those beside the program and those
// that are not, then what names no generation. Rows are sums of them.
class Kinds {
 public:
  explicit Kinds(size_t gcs) : gcs_(gcs) {}
  void Add(const GcBrief& r, const GcFlow& f) {
    const bool named = r.generation >= 0 && r.generation < 3;
    RowCollector& kind =
        kinds_[named ? static_cast<size_t>(2 * r.generation + (r.ran_in_background() ? 1 : 0))
                     : kUnnamed];
    if (kind.row.count == 0) kind.pauses.reserve(gcs_);  // room that is not used costs nothing
    kind.Add(r, f);
  }
  RowCollector Row(int generation, int background) const {
    RowCollector sum;
    sum.row.generation = generation;
    sum.row.background = background;
    for (size_t k = 0; k < kinds_.size(); ++k)
      if (generation < 0 || (k != kUnnamed && k / 2 == static_cast<size_t>(generation) &&
                             (background < 0 || k % 2 == static_cast<size_t>(background))))
        sum.Add(kinds_[k]);
    return sum;
  }

 private:
  static constexpr size_t kUnnamed = 6;
  size_t gcs_;
  std::array<RowCollector, kUnnamed + 1> kinds_;
};

// 1, 2, 5 × 10^n ns.
int64_t BucketFrom(int64_t ns) {
  int64_t power = 1;
  while (power <= ns / 10) power *= 10;
  return ns < power ? 0 : ns >= 5 * power ? 5 * power : ns >= 2 * power ? 2 * power : power;
}
int64_t BucketTo(int64_t from) {
  if (from == 0) return 1;
  int64_t power = 1;
  while (power <= from / 10) power *= 10;
  return from == power ? 2 * power : from == 2 * power ? 5 * power : 10 * power;
}

std::vector<GcHistogramBucket> Histogram(std::span<const int64_t> values) {
  std::vector<GcHistogramBucket> out;
  if (values.empty()) return out;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  for (int64_t from = BucketFrom(*least); from <= *most; from = BucketTo(from)) {
    out.push_back({from, BucketTo(from), 0});
    if (out.back().to_ns >= INT64_MAX / 10) break;
  }
  GcHistogramBucket* last = out.data();  // mostly the next value is in the same one
  for (const int64_t v : values) {
    if (v >= last->from_ns && v < last->to_ns) {
      ++last->count;
      continue;
    }
    const auto after = std::upper_bound(out.begin(), out.end(), v,
                                        [](int64_t a, const auto& b) { return a < b.from_ns; });
    last = &after[-1];
    if (v < last->to_ns) ++last->count;
  }
  return out;
}

// At most a hundred stretches of a round width.
std::vector<GcShare> Shares(std::span<const PackedGc> gcs, int64_t from_ns, int64_t to_ns) {
  std::vector<GcShare> out;
  const int64_t span = SaturatedSub(to_ns, from_ns);
  if (gcs.empty() || span <= 0) return out;
  int64_t width = 100'000'000;  // 100 ms
  while (span / width > 100) width = BucketTo(width);
  for (int64_t t = from_ns; t < to_ns; t = SaturatedAdd(t, width))
    out.push_back({t, std::min(SaturatedAdd(t, width), to_ns), 0});
  for (const GcBrief& r : gcs) {
    for (const GcPause& p : PausesOf(r)) {
      const int64_t first = std::max(p.start_ns, from_ns), last = std::min(p.end_ns, to_ns);
      if (first >= last) continue;
      for (auto i = static_cast<size_t>(SaturatedSub(first, from_ns) / width);
           i < out.size() && out[i].start_ns < last; ++i)
        out[i].paused_ns = SaturatedAdd(
            out[i].paused_ns, std::min(last, out[i].end_ns) - std::max(first, out[i].start_ns));
    }
  }
  return out;
}

}  // namespace

Percentiles PercentilesOf(std::vector<int64_t> values) {
  Percentiles p;
  if (values.empty()) return p;
  auto from = values.begin();  // everything before it is smaller
  const auto rank = [&](uint64_t percent) {
    const uint64_t n = values.size();
    const uint64_t at = std::max<uint64_t>((n * percent + 99) / 100, 1) - 1;
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(at);
    std::nth_element(from, nth, values.end());
    return *(from = nth);
  };
  p.p50 = rank(50);
  p.p95 = rank(95);
  p.p99 = rank(99);
  p.max = rank(100);
  return p;
}

double GcRollup::mean_pause_ns() const {
  return pauses_known == 0 ? kUnknownPercent
                           : static_cast<double>(pause_ns) / static_cast<double>(pauses_known);
}

double GcRollup::allocated_per_pause_ns() const {
  return pause_ns <= 0 || allocated_known == 0
             ? kUnknownPercent
             : static_cast<double>(allocated_bytes) / static_cast<double>(pause_ns);
}

double GcStats::paused_percent() const {
  return span_ns <= 0 || rollup.empty()
             ? kUnknownPercent
             : 100.0 * static_cast<double>(paused_ns) / static_cast<double>(span_ns);
}

GcStats StatsOf(std::span<const PackedGc> gcs, std::span<const GcFlow> flows, int64_t from_ns,
                int64_t to_ns) {
  GcStats out;
  out.span_ns = std::max<int64_t>(SaturatedSub(to_ns, from_ns), 0);
  constexpr int kRows[][2] = {{0, -1}, {1, -1}, {2, -1}, {2, 0}, {2, 1}, {-1, -1}};
  Kinds kinds(gcs.size());
  std::vector<int64_t> suspensions;
  suspensions.reserve(gcs.size());
  int32_t heaps = -1;
  for (size_t i = 0; i < gcs.size(); ++i) {
    const PackedGc& r = gcs[i];
    kinds.Add(r, flows[i]);
    if (r.longest_suspend_ns >= 0 && !r.has(profile::kGcInsideSuspension))
      suspensions.push_back(r.longest_suspend_ns);
    if (r.pause_ns >= 0) out.paused_ns = SaturatedAdd(out.paused_ns, r.pause_ns);
    if (!r.has(profile::kGcComplete)) ++out.incomplete;
    if (r.has(profile::kGcMaybeTouched)) ++out.maybe_touched;
    out.max_peak_bytes = std::max(out.max_peak_bytes, flows[i].peak_bytes);
    if (r.heap_count <= 0) continue;
    if (heaps > 0 && heaps != r.heap_count)
      out.heap_counts.push_back({r.number, r.start_ns, heaps, r.heap_count});
    heaps = r.heap_count;
    out.max_heap_count = std::max(out.max_heap_count, heaps);
  }
  for (const auto& [generation, background] : kRows) {
    RowCollector row = kinds.Row(generation, background);
    if (generation < 0) out.pause_histogram = Histogram(row.pauses);
    // One row may be all that there is of another.
    const auto same = std::find_if(
        out.rollup.begin(), out.rollup.end(), [&row, g = generation](const GcRollup& r) {
          return r.count == row.row.count && (g < 0 || (r.generation == g && r.background < 0));
        });
    row.row.pauses = same != out.rollup.end() ? same->pauses : PercentilesOf(std::move(row.pauses));
    out.rollup.push_back(row.row);
  }
  out.pauses = out.all().pauses;
  out.suspensions = PercentilesOf(std::move(suspensions));
  constexpr int64_t kNoticeable = 1'000'000;
  for (size_t i = 0; i < gcs.size() && out.all().max_suspend_ns >= kNoticeable; ++i)
    if (gcs[i].longest_suspend_ns >= kNoticeable &&
        gcs[i].longest_suspend_ns > 10 * out.suspensions.p50)
      out.slow_suspensions.push_back(static_cast<uint32_t>(i));
  out.share = Shares(gcs, from_ns, to_ns);
  return out;
}

}  // namespace clrscope::analysis
