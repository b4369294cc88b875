// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_timeline.h"

#include <algorithm>

#include "analysis/families/gc/gc_amounts.h"
#include "clr/gc_events.h"
#include "clr/gc_names.h"

namespace clrscope::analysis {
namespace {

using clr::EventTag;
using clr::kForGc;
using clr::kForGcPrep;
using profile::GcRecord;

// More are never open at once: what is older lost its end.
constexpr size_t kMaxOpen = 64, kMaxSuspensions = 64, kMaxGaps = 4096, kMaxCounted = 4096;

// Since .NET 8 there are runtimes that send garbage for a phase that did not run: no phase is
// longer than its GC.
void DropWildPhases(GcRecord& r) {
  if (r.start_ns < 0 || r.end_ns < 0) return;
  const int64_t limit_us = Since(r.start_ns, r.end_ns) / 1000 + 1000;
  for (int64_t& us : r.phase_us)
    if (us > limit_us) us = -1;
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
      facts_->finalized_ns = now_ns;
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

GcTimeline::OpenGc* GcTimeline::CurrentOfMany() {
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
  if (thread_log_ != nullptr && (begin.reason == kForGc || begin.reason == kForGcPrep))
    thread_log_->Begin(event.thread, now_ns);
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
  if (thread_log_ != nullptr) thread_log_->End(thread, now_ns);
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
    if (s.reason == kForGc && s.end_ns >= 0 && now_ns >= 0) {
      ++without_gc_;
      if (trigger_.time_ns <= s.begin_ns) trigger_ = {};
    }
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
  if (pause_log_ != nullptr && begin_ns >= 0) pause_log_->Add({begin_ns, end_ns});
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

  const uint64_t serial = ++last_serial_;
  const bool inside = s != nullptr && s->gc != 0;
  if (OpenGc* outer = inside ? Find(s->gc) : nullptr;
      outer != nullptr && outer->pause_from_ns >= 0) {
    Add(outer->record.pause_ns, Since(outer->pause_from_ns, now_ns));
    if (outer->background()) outer->record.initial_pause_ns = outer->record.pause_ns;
    outer->record.restart_ns = now_ns;
    outer->pause_from_ns = -1;
    EmitIfSettled(outer->serial);
  }

  const bool beside_background = Background() != nullptr;
  OpenGc& gc = open_.emplace_back();
  gc.serial = serial;
  gc.marks = std::move(spare_marks_);
  gc.marks.clear();
  GcRecord& r = gc.record;
  r.heaps = std::move(spare_heaps_);
  r.heaps.clear();
  r.process = process_;
  r.number = start.number;
  r.generation = start.generation;
  r.type = start.type;
  r.reason = start.reason;
  r.start_ns = now_ns;
  r.previous_restart_ns = last_restart_ns_;
  const bool first = facts_->started++ == 0;
  if (clr::IsCausedByAllocation(start.reason)) ++facts_->caused_by_allocation;
  if (!first) NoteNumbers(r, beside_background);
  last_number_ = start.number;
  last_start_ns_ = now_ns;
  without_gc_ = 0;

  if (s == nullptr) {
    r.flags |= profile::kGcSuspensionMissing;
  } else if (inside) {
    r.flags |= profile::kGcInsideSuspension;
    r.pause_start_ns = gc.pause_from_ns = now_ns;
    r.suspend_ns = r.longest_suspend_ns = 0;
  } else {
    r.pause_start_ns = gc.pause_from_ns = s->begin_ns;
    r.suspend_ns = r.longest_suspend_ns = Since(s->begin_ns, s->end_ns >= 0 ? s->end_ns : now_ns);
  }
  if (s != nullptr) s->gc = serial;
  if (trigger_.time_ns >= 0 && !r.has(profile::kGcInsideSuspension)) {
    r.triggered_ns = trigger_.time_ns;
    r.trigger_node = trigger_.node;
    trigger_ = {};
  }
  // What was allocated before the recording began belongs to the first GC too.
  if (ticks_seen_ && (!first || start.number == 1)) r.ticked_bytes = ticked_;
  ticked_ = {};
  allocations_.TakeInto(r);
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

// Numbers between a GC and the one before it are of GCs that did not run where as many suspensions
// were in between, and no event was lost. What a background GC frees meanwhile is not known.
void GcTimeline::NoteNumbers(GcRecord& r, bool beside_background) {
  if (r.number <= last_number_ + 1) return;
  const uint32_t numbers = r.number - last_number_ - 1;
  if (without_gc_ < numbers || LostBetween(last_start_ns_, r.start_ns)) {
    facts_->missing += numbers;
    r.flags |= profile::kGcAfterMissing;
    return;
  }
  facts_->counted_only += numbers;
  r.flags |= beside_background ? profile::kGcAfterMissing : profile::kGcAfterCounted;
  // Losses are told soon.
  if (counted_.size() >= kMaxCounted) counted_.pop_front();
  counted_.push_back({last_start_ns_, r.start_ns, numbers, r.number});
}

bool GcTimeline::LostBetween(int64_t from_ns, int64_t to_ns) const {
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [&](const auto& gap) { return gap.first <= to_ns && gap.second >= from_ns; });
}

bool GcTimeline::TouchedByGap(const profile::GcBrief& r) const {
  return LostBetween(r.pause_start_ns >= 0 ? r.pause_start_ns : r.start_ns,
                     std::max({r.restart_ns, r.end_ns, r.start_ns}));
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
  out_->push_back(r);
  spare_marks_ = std::move(gc.marks);
  spare_heaps_ = std::move(r.heaps);
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
    profile::PackedGc& r = (*out_)[i];
    if (std::max(r.restart_ns, r.end_ns) < after_ns) break;
    if (TouchedByGap(r)) r.flags |= profile::kGcMaybeTouched;
  }
  std::vector<uint32_t> lost;  // numbers of GCs of which what was before them may be lost
  std::erase_if(counted_, [&](const Counted& c) {
    if (after_ns > c.to_ns || before_ns < c.from_ns) return false;
    facts_->counted_only -= std::min<uint64_t>(facts_->counted_only, c.numbers);
    facts_->missing += c.numbers;
    lost.push_back(c.before);
    return true;
  });
  if (lost.empty()) return;
  const auto mark = [&lost](profile::GcBrief& r) {
    if (!std::binary_search(lost.begin(), lost.end(), r.number)) return;
    r.flags =
        static_cast<uint16_t>((r.flags & ~profile::kGcAfterCounted) | profile::kGcAfterMissing);
  };
  std::sort(lost.begin(), lost.end());
  for (OpenGc& gc : open_) mark(gc.record);
  for (profile::PackedGc& r : *out_) mark(r);
}

void GcTimeline::Finish() {
  while (!open_.empty()) Emit(0);
  const auto earlier = [](const profile::GcBrief& a, const profile::GcBrief& b) {
    return std::pair(a.start_ns, a.number) < std::pair(b.start_ns, b.number);
  };
  // Mostly they are in order.
  if (!std::is_sorted(out_->begin(), out_->end(), earlier))
    std::sort(out_->begin(), out_->end(), earlier);
  for (auto* types : {&facts_->pinned_types, &facts_->finalized_types})
    std::stable_sort(types->begin(), types->end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
  pinned_types_ = {};
  finalized_types_ = {};
}

}  // namespace clrscope::analysis
