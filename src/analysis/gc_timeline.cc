// SPDX-License-Identifier: Apache-2.0
#include "analysis/gc_timeline.h"

#include <algorithm>

#include "base/saturate.h"
#include "base/utf.h"
#include "clr/gc_events.h"
#include "clr/gc_names.h"

namespace clrscope::analysis {
namespace {

using clr::EventTag;
using clr::kForGc;
using clr::kForGcPrep;
using profile::GcRecord;

// More are never open at once: what is older lost its end.
constexpr size_t kMaxOpen = 64, kMaxSuspensions = 64, kMaxGaps = 4096;
constexpr size_t kMaxHeaps = 1024, kMaxTypes = 4096;

// No heap is larger than 2^50 bytes; damaged input may say so, and sums must not overflow.
constexpr uint64_t kMaxBytes = uint64_t{1} << 50;
int64_t I64(uint64_t v) { return static_cast<int64_t>(std::min(v, kMaxBytes)); }
int64_t Known(int64_t v) { return std::clamp<int64_t>(v, -1, kMaxBytes); }

// Clocks of damaged input run backwards, too.
int64_t Since(int64_t from_ns, int64_t to_ns) {
  return std::clamp<int64_t>(SaturatedSub(to_ns, from_ns), 0, int64_t{1} << 60);
}

uint64_t HashBytes(Bytes bytes) {
  uint64_t h = 0xCBF29CE484222325u;  // FNV-1a
  for (const std::byte b : bytes) h = (h ^ static_cast<uint64_t>(b)) * 0x100000001B3u;
  return h;
}

// What an event adds to an unknown figure makes it known.
void Add(int64_t& figure, int64_t more) {
  figure = SaturatedAdd(std::max<int64_t>(figure, 0), more);
}

// Since .NET 8 there are runtimes that send garbage for a phase that did not run: no phase is
// longer than its GC.
void DropWildPhases(GcRecord& r) {
  if (r.start_ns < 0 || r.end_ns < 0) return;
  const int64_t limit_us = Since(r.start_ns, r.end_ns) / 1000 + 1000;
  for (int64_t& us : r.phase_us)
    if (us > limit_us) us = -1;
}

// The entry of `key`, or that of everything past the cap.
profile::GcFacts::TypeCount& CountOf(std::vector<profile::GcFacts::TypeCount>& table,
                                     FlatMap& index, uint64_t key, bool* is_new) {
  uint32_t i = index.Find(key);
  *is_new = i == FlatMap::kNone;
  if (*is_new) {
    i = static_cast<uint32_t>(std::min(table.size(), kMaxTypes));
    if (i == table.size()) table.emplace_back();
    if (i == kMaxTypes)
      *is_new = false;
    else
      index.Set(key, i);
  }
  return table[i];
}

}  // namespace

GcTimeline::GcTimeline(StringPool* strings, profile::GcRecords* out, profile::GcFacts* facts,
                       LossCounters* losses, uint32_t process)
    : strings_(strings), out_(out), facts_(facts), losses_(losses), process_(process) {}

void GcTimeline::OnEvent(const clr::RawEvent& event, int64_t now_ns, uint32_t node) {
  switch (event.kind->tag) {
    case EventTag::kGcSuspendEeBegin:
      return OnSuspendBegin(event, now_ns);
    case EventTag::kGcSuspendEeEnd:
      return OnSuspendEnd(event, now_ns);
    case EventTag::kGcRestartEeEnd:
      return OnRestartEnd(event, now_ns);
    case EventTag::kGcTriggered: {
      clr::GcTriggered triggered;
      if (!clr::Decode(event, triggered)) return losses_->Add(Loss::kUnsupportedVersion);
      trigger_ = {now_ns, static_cast<int32_t>(triggered.reason), node};
      return;
    }
    case EventTag::kGcStart:
      return OnStart(event, now_ns);
    case EventTag::kGcEnd:
      return OnEnd(event, now_ns);
    case EventTag::kGcHeapStats:
      return OnHeapStats(event, now_ns);
    case EventTag::kGcGlobalHeapHistory:
      return OnGlobalHistory(event);
    case EventTag::kGcPerHeapHistory:
      return OnPerHeapHistory(event);
    case EventTag::kGcMarkWithType:
      return OnMark(event, now_ns);
    case EventTag::kGcDynamic:
      return OnDynamic(event);
    case EventTag::kGcPinObject:
      return OnPinned(event);
    case EventTag::kGcFinalizeObject:
      return OnFinalizeObject(event);
    case EventTag::kGcFinalizersEnd: {
      clr::GcFinalizersEnd end;
      if (!clr::Decode(event, end)) return losses_->Add(Loss::kUnsupportedVersion);
      facts_->finalized_objects += end.count;
      return;
    }
    case EventTag::kGcSettings:
      return OnSettings(event);
    default:
      return;
  }
}

void GcTimeline::OnTick(uint32_t kind, uint64_t bytes) {
  ticks_seen_ = true;
  if (kind < ticked_.size()) ticked_[kind] = SaturatedAdd(ticked_[kind], I64(bytes));
}

GcTimeline::Suspension* GcTimeline::SuspensionOf(uint64_t thread) {
  for (Suspension& s : suspensions_)
    if (s.thread == thread) return &s;
  return nullptr;
}

// Several threads may have begun: one holds the thread store's lock, the others wait for it. Only
// the one that holds it comes to its end.
GcTimeline::Suspension* GcTimeline::GcSuspension() {
  Suspension* found = nullptr;
  for (Suspension& s : suspensions_) {
    if (s.reason != kForGc) continue;
    if (found == nullptr || (s.end_ns >= 0) > (found->end_ns >= 0) ||
        ((s.end_ns >= 0) == (found->end_ns >= 0) && s.begin_ns > found->begin_ns))
      found = &s;
  }
  return found;
}

GcTimeline::OpenGc* GcTimeline::Find(uint64_t serial) {
  if (serial != 0)
    for (OpenGc& gc : open_)
      if (gc.serial == serial) return &gc;
  return nullptr;
}

GcTimeline::OpenGc* GcTimeline::Background() {
  for (size_t i = open_.size(); i-- > 0;)
    if (open_[i].background()) return &open_[i];
  return nullptr;
}

GcTimeline::OpenGc* GcTimeline::Current() {
  for (size_t i = open_.size(); i-- > 0;)
    if (!open_[i].background() && !open_[i].ended()) return &open_[i];
  return Background();
}

void GcTimeline::OnSuspendBegin(const clr::RawEvent& event, int64_t now_ns) {
  clr::GcSuspendBegin begin;
  if (!clr::Decode(event, begin)) return losses_->Add(Loss::kUnsupportedVersion);
  if (SuspensionOf(event.thread) != nullptr) CloseSuspension(event.thread, -1);  // its end was lost
  if (suspensions_.size() >= kMaxSuspensions) CloseSuspension(suspensions_.front().thread, -1);
  suspensions_.push_back({event.thread, begin.reason, now_ns, -1, 0});
}

void GcTimeline::OnSuspendEnd(const clr::RawEvent& event, int64_t now_ns) {
  Suspension* s = SuspensionOf(event.thread);
  if (s == nullptr) return;
  s->end_ns = now_ns;
  if (s->reason != kForGcPrep) return;
  if (OpenGc* gc = Background(); gc != nullptr && !gc->ended()) {
    Add(gc->record.suspend_ns, Since(s->begin_ns, now_ns));
    gc->record.longest_suspend_ns =
        std::max(gc->record.longest_suspend_ns, Since(s->begin_ns, now_ns));
  }
}

void GcTimeline::OnRestartEnd(const clr::RawEvent& event, int64_t now_ns) {
  if (SuspensionOf(event.thread) != nullptr) CloseSuspension(event.thread, now_ns);
}

// `now_ns` -1: the restart was not seen, so its pause stays unknown.
void GcTimeline::CloseSuspension(uint64_t thread, int64_t now_ns) {
  const auto it = std::find_if(suspensions_.begin(), suspensions_.end(),
                               [&](const Suspension& s) { return s.thread == thread; });
  const Suspension s = *it;
  suspensions_.erase(it);
  if (s.reason == kForGcPrep) {
    OpenGc* gc = Background();
    NotePause(s.begin_ns, now_ns);
    if (gc == nullptr || gc->ended() || now_ns < 0) return;
    Add(gc->record.final_pause_ns, Since(s.begin_ns, now_ns));
    Add(gc->record.pause_ns, Since(s.begin_ns, now_ns));
    gc->record.restart_ns = now_ns;
    return;
  }
  if (s.reason != kForGc || s.gc == 0) {
    ++facts_->other_suspensions;
    if (now_ns >= 0) Add(facts_->other_suspended_ns, Since(s.begin_ns, now_ns));
    return;
  }
  NotePause(s.begin_ns, now_ns);
  OpenGc* gc = Find(s.gc);
  if (gc == nullptr || gc->pause_from_ns < 0) return;
  if (now_ns >= 0) {
    Add(gc->record.pause_ns, Since(gc->pause_from_ns, now_ns));
    if (gc->background()) gc->record.initial_pause_ns = gc->record.pause_ns;
    gc->record.restart_ns = now_ns;
  }
  gc->pause_from_ns = -1;
  EmitIfSettled(gc->serial);
}

void GcTimeline::NotePause(int64_t begin_ns, int64_t end_ns) {
  if (end_ns < 0) return;
  last_restart_ns_ = end_ns;
  ++facts_->pauses;
  Add(facts_->paused_ns, Since(begin_ns, end_ns));
}

void GcTimeline::SetAside(const Suspension* suspension, bool background) {
  for (size_t i = 0; i < open_.size();) {
    OpenGc& gc = open_[i];
    const bool in_this = suspension != nullptr && suspension->gc == gc.serial;
    // A GC that ended waits for its restart only; one that runs and does not run in the background
    // lost its end when the next one starts.
    const bool over = gc.ended() ? gc.pause_from_ns < 0 || !in_this
                                 : !in_this && (!gc.background() || background);
    if (!over) {
      ++i;
      continue;
    }
    if (!gc.ended()) gc.record.flags |= profile::kGcMaybeTouched;
    Emit(i);
  }
  while (open_.size() >= kMaxOpen) Emit(0);
}

void GcTimeline::OnStart(const clr::RawEvent& event, int64_t now_ns) {
  clr::GcStart start;
  if (!clr::Decode(event, start)) return losses_->Add(Loss::kUnsupportedVersion);
  for (const OpenGc& gc : open_)
    if (gc.record.number == start.number && !gc.ended()) return;  // told twice
  Suspension* s = GcSuspension();
  SetAside(s, start.type == 1);

  OpenGc gc;
  gc.serial = ++last_serial_;
  GcRecord& r = gc.record;
  r.process = process_;
  r.number = start.number;
  r.generation = start.generation;
  r.type = start.type;
  r.reason = start.reason;
  r.start_ns = now_ns;
  r.previous_restart_ns = last_restart_ns_;
  const bool first = facts_->started++ == 0;
  if (clr::IsCausedByAllocation(start.reason)) ++facts_->caused_by_allocation;
  if (!first && start.number > last_number_ + 1) {
    facts_->missing += start.number - last_number_ - 1;
    r.flags |= profile::kGcAfterMissing;
  }
  last_number_ = start.number;

  OpenGc* outer = s == nullptr ? nullptr : Find(s->gc);
  if (s == nullptr) {
    r.flags |= profile::kGcSuspensionMissing;
  } else if (s->gc != 0) {
    r.flags |= profile::kGcInsideSuspension;
    r.pause_start_ns = gc.pause_from_ns = now_ns;
    r.suspend_ns = r.longest_suspend_ns = 0;
    if (outer != nullptr && outer->pause_from_ns >= 0) {
      Add(outer->record.pause_ns, Since(outer->pause_from_ns, now_ns));
      if (outer->background()) outer->record.initial_pause_ns = outer->record.pause_ns;
      outer->record.restart_ns = now_ns;
      outer->pause_from_ns = -1;
      EmitIfSettled(outer->serial);
    }
  } else {
    r.pause_start_ns = gc.pause_from_ns = s->begin_ns;
    r.suspend_ns = r.longest_suspend_ns = Since(s->begin_ns, s->end_ns >= 0 ? s->end_ns : now_ns);
  }
  if (s != nullptr) s->gc = gc.serial;
  if (trigger_.time_ns >= 0 && !r.has(profile::kGcInsideSuspension)) {
    r.triggered_ns = trigger_.time_ns;
    r.trigger_node = trigger_.node;
    trigger_ = {};
  }
  // What was allocated before the recording began belongs to the first GC too.
  if (ticks_seen_ && (!first || start.number == 1)) r.ticked_bytes = ticked_;
  ticked_ = {};
  allocations_.TakeInto(r);
  open_.push_back(std::move(gc));
}

void GcTimeline::OnEnd(const clr::RawEvent& event, int64_t now_ns) {
  clr::GcEnd end;
  if (!clr::Decode(event, end)) return losses_->Add(Loss::kUnsupportedVersion);
  stats_for_ = 0;
  for (size_t i = open_.size(); i-- > 0 && stats_for_ == 0;) {
    OpenGc& gc = open_[i];
    if (gc.record.number != end.number || gc.ended()) continue;
    gc.record.end_ns = now_ns;
    // A background GC ends beside the program. One that could not get its thread does not.
    if (gc.record.background() && gc.pause_from_ns >= 0) gc.record.flags |= profile::kGcFellBack;
    stats_for_ = gc.serial;
  }
  stats_orphaned_ = stats_for_ == 0;
  if (stats_orphaned_) ++facts_->orphan_ends;
}

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
  constexpr uint32_t kConcurrent = 1, kCompaction = 2;
  OpenGc* gc = (h.mechanisms & kConcurrent) != 0 ? Background() : Current();
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
  if ((h.mechanisms & kCompaction) != 0) {
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
    const clr::GcGenerationData& d = h.generation[g];
    profile::GcGeneration one;
    one.size_before = I64(d.size_before);
    one.free_list_before = I64(d.free_list_before);
    one.free_objects_before = I64(d.free_objects_before);
    one.size_after = I64(d.size_after);
    one.free_list_after = I64(d.free_list_after);
    one.free_objects_after = I64(d.free_objects_after);
    one.in = I64(d.in);
    one.pinned_survived = I64(d.pinned_survived);
    one.non_pinned_survived = I64(d.non_pinned_survived);
    one.budget = I64(d.budget);
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
  auto heap = std::find_if(gc->marks.begin(), gc->marks.end(),
                           [&](const HeapMarks& m) { return m.heap == mark.heap; });
  if (heap == gc->marks.end()) {
    if (gc->marks.size() >= kMaxHeaps) return;
    gc->marks.push_back({mark.heap, gc->record.start_ns, {}});
    heap = gc->marks.end() - 1;
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
    if (OpenGc* gc = Current(); gc != nullptr)
      gc->record.wanted_heap_count = static_cast<int32_t>(tuning.heaps);
  }
}

void GcTimeline::OnPinned(const clr::RawEvent& event) {
  clr::GcPinObject pin;
  if (!clr::Decode(event, pin)) return losses_->Add(Loss::kUnsupportedVersion);
  OpenGc* gc = Current();
  if (gc == nullptr) return;
  if (!gc->pinned) gc->pinned = std::make_unique<FlatMap>();
  Add(gc->record.pinned_seen, 0);
  Add(gc->record.pinned_seen_bytes, 0);
  if (gc->pinned->Find(pin.object) != FlatMap::kNone) return;  // pinned by several handles
  gc->pinned->Set(pin.object, 1);
  Add(gc->record.pinned_seen, 1);
  Add(gc->record.pinned_seen_bytes, I64(pin.size));
  bool is_new = false;
  auto& type =
      CountOf(facts_->pinned_types, pinned_types_, HashBytes(pin.type_name.bytes()), &is_new);
  if (is_new) {
    scratch_.clear();
    AppendUtf8(scratch_, pin.type_name);
    type.name = strings_->Intern(scratch_);
  }
  ++type.count;
  type.bytes += pin.size;
}

void GcTimeline::OnFinalizeObject(const clr::RawEvent& event) {
  clr::GcFinalizeObject object;
  if (!clr::Decode(event, object)) return losses_->Add(Loss::kUnsupportedVersion);
  bool is_new = false;
  auto& type = CountOf(facts_->finalized_types, finalized_types_, object.type_id, &is_new);
  if (is_new) type.type_id = object.type_id;
  ++type.count;
}

void GcTimeline::OnSettings(const clr::RawEvent& event) {
  clr::GcSettings s;
  if (!clr::Decode(event, s)) return losses_->Add(Loss::kUnsupportedVersion);
  facts_->hard_limit_bytes = I64(s.hard_limit);
  facts_->loh_threshold_bytes = I64(s.loh_threshold);
  facts_->physical_memory_bytes = I64(s.physical_memory);
  facts_->gen0_min_budget_bytes = I64(s.gen0_min_budget);
  facts_->gen0_max_budget_bytes = I64(s.gen0_max_budget);
  facts_->high_memory_percent = s.high_memory_percent;
  facts_->setting_bits = s.bits;
}

void GcTimeline::EmitIfSettled(uint64_t serial) {
  const auto it = std::find_if(open_.begin(), open_.end(),
                               [&](const OpenGc& gc) { return gc.serial == serial; });
  if (it == open_.end() || !it->ended() || it->pause_from_ns >= 0) return;
  const GcRecord& r = it->record;
  // Histories come before the stats, but those of a server background GC after them.
  const bool whole = r.has(profile::kGcHasStats) && r.heap_count > 0 &&
                     r.heaps.size() >= static_cast<size_t>(r.heap_count);
  const bool no_restart_comes = r.has(profile::kGcSuspensionMissing) && r.has(profile::kGcHasStats);
  if (whole || (!it->background() && (r.restart_ns >= 0 || no_restart_comes)))
    Emit(static_cast<size_t>(it - open_.begin()));
}

bool GcTimeline::TouchedByGap(const GcRecord& r) const {
  const int64_t from = r.pause_start_ns >= 0 ? r.pause_start_ns : r.start_ns;
  const int64_t to = std::max({r.restart_ns, r.end_ns, r.start_ns});
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [&](const auto& gap) { return gap.first <= to && gap.second >= from; });
}

void GcTimeline::Emit(size_t index) {
  OpenGc& gc = open_[index];
  GcRecord& r = gc.record;
  for (const HeapMarks& marks : gc.marks)
    for (profile::GcHeap& heap : r.heaps)
      if (heap.heap == marks.heap) heap.mark_ns = Since(r.start_ns, marks.last_ns);
  DropWildPhases(r);
  if (r.ended() && r.pause_ns >= 0 && r.restart_ns >= 0 && r.has(profile::kGcHasStats))
    r.flags |= profile::kGcComplete;
  if (TouchedByGap(r)) r.flags |= profile::kGcMaybeTouched;
  // Of a file with very many: room that is not used costs nothing, moving records does.
  constexpr size_t kMany = 4096;
  if (out_->size() == out_->capacity() && out_->size() >= kMany) out_->reserve(out_->size() * 4);
  out_->push_back(std::move(r));
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
}

void GcTimeline::OnGap(int64_t after_ns, int64_t before_ns) {
  if (!gaps_.empty() && after_ns <= gaps_.back().second && before_ns >= gaps_.back().first) {
    gaps_.back() = {std::min(gaps_.back().first, after_ns),
                    std::max(gaps_.back().second, before_ns)};
  } else if (gaps_.size() < kMaxGaps) {
    gaps_.emplace_back(after_ns, before_ns);
  } else {  // wider than they are: rather mark too many
    gaps_.back() = {std::min(gaps_.back().first, after_ns),
                    std::max(gaps_.back().second, before_ns)};
  }
  for (size_t i = out_->size(); i-- > 0;) {
    GcRecord& r = (*out_)[i];
    if (std::max(r.restart_ns, r.end_ns) < after_ns) break;
    if (TouchedByGap(r)) r.flags |= profile::kGcMaybeTouched;
  }
}

void GcTimeline::Finish() {
  while (!open_.empty()) Emit(0);
  const auto earlier = [](const GcRecord& a, const GcRecord& b) {
    return std::pair(a.start_ns, a.number) < std::pair(b.start_ns, b.number);
  };
  // Records are large: mostly they are in order.
  if (!std::is_sorted(out_->begin(), out_->end(), earlier))
    std::sort(out_->begin(), out_->end(), earlier);
  for (auto* types : {&facts_->pinned_types, &facts_->finalized_types})
    std::stable_sort(types->begin(), types->end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
  pinned_types_ = {};
  finalized_types_ = {};
}

}  // namespace clrscope::analysis
