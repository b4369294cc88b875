// SPDX-License-Identifier: Apache-2.0
// What the events between a collection's start and its end say of it.
#include <algorithm>

#include "analysis/families/gc/gc_amounts.h"
#include "analysis/families/gc/gc_timeline.h"
#include "clr/gc_events.h"

namespace clrscope::analysis {

using profile::GcRecord;

namespace {

profile::GcGeneration Signed(const clr::GcGenerationData& d) {
  const auto sign = [](uint64_t bytes) { return static_cast<int64_t>(bytes); };
  return {sign(d.size_before), sign(d.free_list_before), sign(d.free_objects_before),
          sign(d.size_after),  sign(d.free_list_after),  sign(d.free_objects_after),
          sign(d.in),          sign(d.pinned_survived),  sign(d.non_pinned_survived),
          sign(d.budget)};
}

// Damage may say anything; mostly all of them are sound, which takes one look.
profile::GcGeneration Limited(clr::GcGenerationData d) {
  const uint64_t any = d.size_before | d.free_list_before | d.free_objects_before | d.size_after |
                       d.free_list_after | d.free_objects_after | d.in | d.pinned_survived |
                       d.non_pinned_survived | d.budget;
  if (any > kMaxBytes) [[unlikely]]
    for (uint64_t* b : {&d.size_before, &d.free_list_before, &d.free_objects_before, &d.size_after,
                        &d.free_list_after, &d.free_objects_after, &d.in, &d.pinned_survived,
                        &d.non_pinned_survived, &d.budget})
      *b = std::min(*b, kMaxBytes);
  return Signed(d);
}

}  // namespace

void GcTimeline::OnHeapStats(const clr::RawEvent& event, int64_t now_ns) {
  clr::GcHeapStats stats;
  if (!clr::Decode(event, stats)) return losses_->Add(Loss::kUnsupportedVersion);
  OpenGc* gc = Find(stats_for_);
  const bool orphaned = stats_orphaned_;
  stats_for_ = 0;
  stats_orphaned_ = false;
  if (gc == nullptr && !orphaned) {  // its GCEnd was lost
    gc = Current();
    if (gc != nullptr) {
      gc->record.end_ns = now_ns;
      gc->record.flags |= profile::kGcMaybeTouched;
    }
  }
  if (gc == nullptr || gc->record.has(profile::kGcHasStats)) return;
  GcRecord& r = gc->record;
  r.flags |= profile::kGcHasStats;
  std::transform(std::begin(stats.size), std::end(stats.size), r.size_after.begin(), Known);
  std::transform(std::begin(stats.promoted), std::end(stats.promoted), r.promoted.begin(), Known);
  r.finalization_promoted_bytes = Known(stats.finalization_promoted_bytes);
  r.finalization_promoted_count = Known(stats.finalization_promoted_count);
  r.pinned_objects = stats.pinned_objects;
  r.sink_blocks = stats.sink_blocks;
  r.handles = stats.handles;
  EmitIfSettled(gc->serial);
}

void GcTimeline::OnGlobalHistory(const clr::RawEvent& event) {
  clr::GcGlobalHeapHistory h;
  if (!clr::Decode(event, h)) return losses_->Add(Loss::kUnsupportedVersion);
  heaps_ = h.heaps;
  OpenGc* gc = (h.mechanisms & profile::kGcConcurrent) != 0 ? Background() : Current();
  history_for_ = 0;
  if (gc == nullptr || gc->record.has(profile::kGcHasGlobalHistory)) return;
  history_for_ = gc->serial;
  history_thread_ = event.thread;
  GcRecord& r = gc->record;
  r.flags |= profile::kGcHasGlobalHistory;
  r.heap_count = h.heaps;
  r.condemned_generation = h.condemned_generation;
  r.mechanisms = h.mechanisms;
  r.gen0_reduction_count = h.gen0_reduction_count;
  if (event.kind->version >= 2) {
    r.pause_mode = static_cast<int32_t>(h.pause_mode);
    r.memory_load_percent = static_cast<int32_t>(h.memory_pressure);
  }
  if (event.kind->version >= 3) {
    r.condemn_reasons0 = h.condemn_reasons0;
    r.condemn_reasons1 = h.condemn_reasons1;
  }
  using profile::GcPhase;
  const auto phase = [&](GcPhase p, uint32_t i) {
    if (i < h.phase_count) r.phase_us[static_cast<size_t>(p)] = h.phase_us[i];
  };
  phase(GcPhase::kMarkSizedRefs, 0);
  phase(GcPhase::kMarkRoots, 1);
  phase(GcPhase::kMarkShortWeak, 2);
  phase(GcPhase::kMarkFinalization, 3);
  phase(GcPhase::kMarkLongWeak, 4);
  phase(GcPhase::kPlan, 5);
  if ((h.mechanisms & profile::kGcCompaction) != 0) {
    phase(GcPhase::kRelocate, 6);
    phase(GcPhase::kCompact, 7);
  } else {
    phase(GcPhase::kSweep, 6);
  }
  EmitIfSettled(gc->serial);
}

void GcTimeline::OnPerHeapHistory(const clr::RawEvent& event) {
  clr::GcPerHeapHistory h;
  if (!clr::Decode(event, h)) return losses_->Add(Loss::kUnsupportedVersion);
  // They follow the global one on its thread. Without it (lost): the GC that runs.
  OpenGc* gc = history_thread_ == event.thread ? Find(history_for_) : nullptr;
  if (gc == nullptr) gc = Current();
  if (gc == nullptr || gc->record.heaps.size() >= kMaxHeaps) return;
  GcRecord& r = gc->record;
  for (const profile::GcHeap& known : r.heaps)
    if (known.heap == h.heap) return;  // told twice
  profile::GcHeap heap;
  heap.heap = h.heap;
  heap.condemn_reasons0 = h.condemn_reasons0;
  heap.condemn_reasons1 = h.condemn_reasons1;
  heap.compact_mechanisms = h.compact_mechanisms;
  heap.expand_mechanisms = h.expand_mechanisms;
  r.generations = r.heaps.empty() ? h.generations : std::min(r.generations, h.generations);
  r.free_list_allocated += I64(h.free_list_allocated);
  r.free_list_rejected += I64(h.free_list_rejected);
  r.end_of_segment_allocated += I64(h.end_of_segment_allocated);
  r.condemned_allocated += I64(h.condemned_allocated);
  r.pinned_allocated += I64(h.pinned_allocated);
  r.pinned_allocated_advance += I64(h.pinned_allocated_advance);
  for (uint32_t g = 0; g < h.generations; ++g) {
    const profile::GcGeneration one = Limited(h.generation[g]);
    r.generation_data[g] += one;
    const int64_t before = one.objects_before();
    if (before != 0)
      heap.survival_percent[g] = static_cast<int32_t>(std::clamp(
          static_cast<double>(one.survived()) * 100.0 / static_cast<double>(before), -1e9, 1e9));
    if (!r.Collected(g)) continue;
    heap.objects_before += before;
    heap.survived += one.survived();
  }
  r.heaps.push_back(heap);
  EmitIfSettled(gc->serial);
}

void GcTimeline::OnMark(const clr::RawEvent& event, int64_t now_ns) {
  clr::GcMarkWithType mark;
  if (!clr::Decode(event, mark)) return losses_->Add(Loss::kUnsupportedVersion);
  OpenGc* gc = Current();
  if (gc == nullptr || gc->ended() || mark.root_kind >= profile::kGcRootKinds) return;
  HeapMarks* heap = gc->marks.data();
  HeapMarks* const end = heap + gc->marks.size();
  while (heap != end && heap->heap != mark.heap) ++heap;
  if (heap == end) {
    if (gc->marks.size() >= kMaxHeaps) return;
    heap = &gc->marks.emplace_back(HeapMarks{mark.heap, gc->record.start_ns, {}});
  }
  // The event comes when the roots of its kind are done.
  Add(heap->kind_ns[mark.root_kind], Since(heap->last_ns, now_ns));
  heap->last_ns = std::max(heap->last_ns, now_ns);
  int64_t& longest = gc->record.mark_ns[mark.root_kind];
  longest = std::max(longest, heap->kind_ns[mark.root_kind]);
  Add(gc->record.mark_bytes[mark.root_kind], I64(mark.bytes));
}

void GcTimeline::OnDynamic(const clr::RawEvent& event) {
  clr::GcDynamic dynamic;
  if (!clr::Decode(event, dynamic)) return losses_->Add(Loss::kUnsupportedVersion);
  clr::GcCommittedUsage committed;
  clr::GcHeapCountTuning tuning;
  if (clr::Decode(dynamic, committed)) {
    OpenGc* gc = Current();
    if (gc == nullptr) return;
    GcRecord& r = gc->record;
    // At the collection's start, and again at its end.
    (r.committed_before.known() ? r.committed_after : r.committed_before) = {
        I64(committed.in_use), I64(committed.global_decommit), I64(committed.free),
        I64(committed.global_free), I64(committed.bookkeeping)};
  } else if (clr::Decode(dynamic, tuning)) {
    if (OpenGc* gc = Current(); gc != nullptr) gc->record.wanted_heap_count = tuning.heaps;
  }
}

}  // namespace clrscope::analysis
