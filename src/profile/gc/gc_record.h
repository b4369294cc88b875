// SPDX-License-Identifier: Apache-2.0
// One garbage collection as its events tell it. Bytes and nanoseconds; -1 = unknown, everywhere.
// Source: dotnet/runtime src/coreclr/gc/gcrecord.h, gc.cpp (record_global_mechanisms, fire_pevents)
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/string_pool.h"

namespace clrscope::profile {

// gen0, gen1, gen2, the large object heap, the pinned object heap: the order of the runtime.
inline constexpr size_t kGcGenerations = 5;
inline constexpr size_t kGcLoh = 3, kGcPoh = 4;
using GcBytes = std::array<int64_t, kGcGenerations>;
inline constexpr GcBytes kGcBytesUnknown = {-1, -1, -1, -1, -1};

// What GCPerHeapHistory says of one generation, added up over the heaps. "Objects" are a size
// without its free space.
struct GcGeneration {
  int64_t size_before = 0, free_list_before = 0, free_objects_before = 0;
  int64_t size_after = 0, free_list_after = 0, free_objects_after = 0;
  int64_t in = 0;  // promoted into it
  int64_t pinned_survived = 0, non_pinned_survived = 0;
  int64_t budget = 0;  // what may be allocated before it asks for the next GC

  GcGeneration& operator+=(const GcGeneration& o) {
    size_before += o.size_before;
    free_list_before += o.free_list_before;
    free_objects_before += o.free_objects_before;
    size_after += o.size_after;
    free_list_after += o.free_list_after;
    free_objects_after += o.free_objects_after;
    in += o.in;
    pinned_survived += o.pinned_survived;
    non_pinned_survived += o.non_pinned_survived;
    budget += o.budget;
    return *this;
  }
  int64_t objects_before() const { return size_before - free_list_before - free_objects_before; }
  int64_t fragmentation() const { return free_list_after + free_objects_after; }
  int64_t objects_after() const { return size_after - fragmentation(); }
  int64_t survived() const { return pinned_survived + non_pinned_survived; }
};

// One heap of a GC: server GC has several.
struct GcHeap {
  uint32_t heap = 0;
  uint32_t condemn_reasons0 = 0, condemn_reasons1 = 0;  // clr::CondemnedReasons decodes them
  uint32_t compact_mechanisms = 0, expand_mechanisms = 0;
  // survived() * 100 / objects_before() of each generation, rounded down as TraceEvent does it;
  // 0 where nothing was before.
  std::array<int32_t, kGcGenerations> survival_percent{};
  int64_t objects_before = 0, survived = 0;  // of the generations that were collected
  int64_t mark_ns = -1;                      // until its last GCMarkWithType
};

// Phases in the order of GCGlobalHeapHistory's times.
enum class GcPhase : uint8_t {
  kMarkSizedRefs,
  kMarkRoots,
  kMarkShortWeak,
  kMarkFinalization,
  kMarkLongWeak,
  kPlan,
  kRelocate,
  kCompact,
  kSweep,
  kCount,
};
inline constexpr size_t kGcPhases = static_cast<size_t>(GcPhase::kCount);
// Kinds of roots as GCMarkWithType counts them.
inline constexpr size_t kGcRootKinds = 10;

// GCDynamicEvent "CommittedUsage".
struct GcCommitted {
  int64_t in_use = -1, global_decommit = -1, free = -1, global_free = -1, bookkeeping = -1;
  bool known() const { return in_use >= 0; }
  // Everything that the GC has committed; without free regions it would be in_use.
  int64_t total() const {
    return known() ? in_use + global_decommit + free + global_free + bookkeeping : -1;
  }
};

enum GcFlag : uint16_t {
  kGcComplete = 1,           // its start, its end and its restart were seen
  kGcMaybeTouched = 2,       // events were lost while it ran
  kGcSuspensionMissing = 4,  // its suspension was not seen: its pause is unknown
  kGcInsideSuspension =
      8,             // it began in the suspension of the GC before it: it has none of its own
  kGcFellBack = 16,  // began as a background GC, ran as a blocking one
  kGcHasStats = 32,  // GCHeapStats
  kGcHasGlobalHistory = 64,
  kGcAfterMissing = 128,  // the GC before it is missing: what happened since is not known
  kGcAfterCounted = 256,  // the numbers before it are of GCs that did not run, see GcFacts
};

// Bits of GCGlobalHeapHistory. Source: microsoft/perfview ClrTraceEventParser.cs
// (GCGlobalMechanisms)
enum GcMechanism : uint32_t {
  kGcConcurrent = 1,
  kGcCompaction = 2,
  kGcPromotion = 4,
  kGcDemotion = 8,
};

// What was allocated of one type, or by one stack of it, since the GC before: estimated from
// samples. Indexes of the process's tables, or of the profile once it is bound.
struct GcAllocated {
  uint32_t type = 0;
  uint32_t node = 0;  // leaf of the stack; 0 = of any
  int64_t bytes = 0;
};
// How many types, and sites, a GC keeps; and of how many stacks the sites are put together.
inline constexpr size_t kGcTop = 8, kGcTopStacks = 32;

// What every pass over the collections needs: kept as it is.
struct GcBrief {
  uint32_t process = 0;
  uint32_t number = 0;
  // As GCStart says: condemned generation; 0 blocking, 1 background, 2 foreground; gc_reason.
  int32_t generation = -1, type = -1, reason = -1;
  int32_t heap_count = -1;    // GCGlobalHeapHistory
  uint32_t generations = 0;   // how many of `generation_data` are known; 0 = no GCPerHeapHistory
  uint32_t trigger_node = 0;  // stack of GCTriggered; 0 = none
  uint16_t flags = 0;

  // Since the recording's start.
  int64_t triggered_ns = -1;    // GCTriggered
  int64_t pause_start_ns = -1;  // its suspension began (or it did, inside of another's)
  int64_t start_ns = -1, end_ns = -1;
  int64_t restart_ns = -1;  // its last pause ended
  // Durations.
  int64_t pause_ns = -1;          // all of its pauses
  int64_t initial_pause_ns = -1;  // of a background GC
  int64_t final_pause_ns = -1;    // of a background GC; its marking's end
  int64_t suspend_ns = -1;        // until all threads stood still; of all its pauses
  int64_t longest_suspend_ns = -1;
  int64_t previous_restart_ns = -1;  // when the program ran on after the GC pause before this one

  int64_t mechanisms = -1;      // GCGlobalHeapHistory
  int64_t pinned_objects = -1;  // GCHeapStats
  // Allocated since the GC before it, by whatever samples there are, all heaps together. Of the
  // first GC: since the recording began.
  int64_t sampled_bytes = -1;

  bool has(GcFlag flag) const { return (flags & flag) != 0; }
  // Whether it used a mechanism; false where nobody told.
  bool used(GcMechanism mechanism) const {
    return mechanisms >= 0 && (mechanisms & mechanism) != 0;
  }
  bool background() const { return type == 1; }
  bool ran_in_background() const { return background() && !has(kGcFellBack); }
  bool ended() const { return end_ns >= 0; }
  // Whether this GC collects generation `g`; gen2 GCs collect LOH and POH too.
  bool Collected(size_t g) const {
    return g >= kGcLoh ? generation >= 2 : static_cast<int64_t>(g) <= generation;
  }
  bool has_histories() const { return generations > 0; }
};

// What sums over all collections are made of. Without padding, as GcNumbers: they are packed word
// by word.
struct GcSizes {
  std::array<GcGeneration, kGcGenerations> generation_data{};
  GcBytes promoted = kGcBytesUnknown;  // GCHeapStats
  // Allocated since the GC before it: SOH, LOH, POH, by AllocationTick; -1 = no such events.
  std::array<int64_t, 3> ticked_bytes = {-1, -1, -1};
  GcBytes size_after = kGcBytesUnknown;  // GCHeapStats
};

// Its other numbers.
struct GcNumbers : GcSizes {
  int64_t finalization_promoted_bytes = -1, finalization_promoted_count = -1;
  int64_t sink_blocks = -1, handles = -1;

  int64_t free_list_allocated = 0, free_list_rejected = 0, end_of_segment_allocated = 0;
  int64_t condemned_allocated = 0, pinned_allocated = 0, pinned_allocated_advance = 0;

  // GCGlobalHeapHistory
  int32_t condemned_generation = -1;
  int32_t pause_mode = -1;
  int32_t memory_load_percent = -1;
  int32_t gen0_reduction_count = -1;
  int64_t condemn_reasons0 = -1, condemn_reasons1 = -1;
  std::array<int64_t, kGcPhases> phase_us = {-1, -1, -1, -1, -1, -1, -1, -1, -1};

  std::array<int64_t, kGcRootKinds> mark_ns = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  std::array<int64_t, kGcRootKinds> mark_bytes = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

  GcCommitted committed_before, committed_after;
  int64_t wanted_heap_count = -1;  // DATAS, what it decided after this GC

  int64_t pinned_seen = -1, pinned_seen_bytes = -1;  // PinObjectAtGCTime, each object once
};

struct GcRecord : GcBrief, GcNumbers {
  std::vector<GcHeap> heaps;                       // by GCPerHeapHistory
  std::vector<GcAllocated> top_types, top_stacks;  // of `sampled_bytes`; largest first
};

// What a process's GC events say beside its GCs.
struct GcFacts {
  // How often, and for how long in all, every thread was stopped for a GC.
  uint64_t pauses = 0;
  int64_t paused_ns = 0;
  uint64_t started = 0;               // GCStart events
  uint64_t caused_by_allocation = 0;  // of them
  uint64_t missing = 0;               // numbers between them that no event told of
  // … and of which it is known that nothing was collected: GC.CollectionCount counts a GC that
  // TryStartNoGCRegion begins with, also where it finds room enough without one.
  uint64_t counted_only = 0;
  uint64_t orphan_ends = 0;  // ends of GCs whose start was not seen
  // Of the runtime, without a GC in them: debugger, sampling profiler, `counted_only` …
  uint64_t other_suspensions = 0;
  int64_t other_suspended_ns = 0;
  uint64_t finalized_objects = 0;  // by the finalizer thread (GCFinalizersEnd)
  int64_t finalized_ns = -1;       // when it last had run all that waited
  int64_t startup_flags = -1;      // RuntimeStart: 1 concurrent GC, 0x1000 server GC

  // CPU time of the GC's own threads, read from the system while recording; -1 = not read.
  int64_t server_threads = -1, server_cpu_ns = -1;          // ".NET Server GC"
  int64_t background_threads = -1, background_cpu_ns = -1;  // ".NET BGC"
  int64_t process_cpu_ns = -1;                              // of the whole process, meanwhile
  int64_t cpu_from_ns = -1, cpu_to_ns = -1;                 // between which times

  // GCSettingsRundown; -1 = not seen, 0 = not configured.
  int64_t hard_limit_bytes = -1, loh_threshold_bytes = -1, physical_memory_bytes = -1;
  int64_t gen0_min_budget_bytes = -1, gen0_max_budget_bytes = -1;
  int64_t high_memory_percent = -1, setting_bits = -1;

  // By type, as PinObjectAtGCTime and FinalizeObject count them; the most frequent ones first once
  // they are finished.
  struct TypeCount {
    uint64_t type_id = 0;  // FinalizeObject
    StringId name;         // PinObjectAtGCTime; "" = look type_id up
    uint64_t count = 0;
    uint64_t bytes = 0;  // of pinned objects
  };
  std::vector<TypeCount> pinned_types, finalized_types;

  // What stays true in a recording that goes on where this one ends.
  GcFacts Settings() const {
    GcFacts kept;
    kept.startup_flags = startup_flags;
    kept.hard_limit_bytes = hard_limit_bytes;
    kept.loh_threshold_bytes = loh_threshold_bytes;
    kept.physical_memory_bytes = physical_memory_bytes;
    kept.gen0_min_budget_bytes = gen0_min_budget_bytes;
    kept.gen0_max_budget_bytes = gen0_max_budget_bytes;
    kept.high_memory_percent = high_memory_percent;
    kept.setting_bits = setting_bits;
    return kept;
  }
};

}  // namespace clrscope::profile
