// SPDX-License-Identifier: Apache-2.0
// The garbage collector's events.
// Source: dotnet/runtime src/coreclr/vm/ClrEtwAll.man, src/coreclr/gc/gcevents.h
#pragma once

#include <optional>

#include "clr/raw_event.h"

namespace clrscope::clr {

inline constexpr int32_t kBackgroundGc = 1;

// GCStart V0–V2.
struct GcStart {
  uint32_t number = 0;
  int32_t generation = -1;  // condemned
  int32_t reason = -1;
  int32_t type = -1;  // 0 blocking, kBackgroundGc, 2 foreground; -1 before V1
  uint64_t client_sequence = 0;
};
bool Decode(const RawEvent& event, GcStart& out);

struct GcEnd {
  uint32_t number = 0;
  uint32_t generation = 0;
};
bool Decode(const RawEvent& event, GcEnd& out);

// GCHeapStats V1–V2. The pinned object heap is known from V2 on.
struct GcHeapStats {
  int64_t size[5] = {-1, -1, -1, -1, -1};  // gen0, gen1, gen2, LOH, POH; -1 = unknown
  int64_t promoted[5] = {-1, -1, -1, -1, -1};
  int64_t finalization_promoted_bytes = 0, finalization_promoted_count = 0;
  uint32_t pinned_objects = 0, sink_blocks = 0, handles = 0;
};
bool Decode(const RawEvent& event, GcHeapStats& out);

// Reasons of a suspension that are a GC's: to collect, and what a background GC needs stopped.
// Source: dotnet/runtime ClrEtwAll.man, GCSuspendEEReasonMap
inline constexpr uint32_t kForGc = 1, kForGcPrep = 6;
struct GcSuspendBegin {
  uint32_t reason = 0;
  uint32_t count = 0;
};
bool Decode(const RawEvent& event, GcSuspendBegin& out);

struct GcTriggered {
  uint32_t reason = 0;
};
bool Decode(const RawEvent& event, GcTriggered& out);

struct GcMarkWithType {
  uint32_t heap = 0, root_kind = 0;
  uint64_t bytes = 0;
};
// Inlined: it comes by the million. Its payload has a ClrInstanceID between the heap and the kind.
inline bool Decode(const RawEvent& event, GcMarkWithType& out) {
  if (event.payload.size() < 18) return false;
  const std::byte* at = event.payload.data();
  out = {LoadAt<uint32_t>(at), LoadAt<uint32_t>(at + 6), LoadAt<uint64_t>(at + 10)};
  return true;
}

struct GcJoin {
  uint32_t heap = 0, time = 0, type = 0, id = 0;
};
bool Decode(const RawEvent& event, GcJoin& out);

// One generation of GCPerHeapHistory V3, bytes, as it lies in the payload of a 64-bit process.
struct GcGenerationData {
  uint64_t size_before, free_list_before, free_objects_before;
  uint64_t size_after, free_list_after, free_objects_after;
  uint64_t in, pinned_survived, non_pinned_survived, budget;
};
struct GcPerHeapHistory {
  uint64_t free_list_allocated = 0, free_list_rejected = 0, end_of_segment_allocated = 0;
  uint64_t condemned_allocated = 0, pinned_allocated = 0, pinned_allocated_advance = 0;
  uint32_t running_free_list_efficiency = 0, condemn_reasons0 = 0, condemn_reasons1 = 0;
  uint32_t compact_mechanisms = 0, expand_mechanisms = 0, heap = 0;
  uint64_t extra_gen0_commit = 0;
  uint32_t generations = 0;        // how many of `generation` are filled
  GcGenerationData generation[5];  // the others are not set
};
// V3 only; older layouts are not decoded.
bool Decode(const RawEvent& event, GcPerHeapHistory& out);

// GCGlobalHeapHistory V2 and later.
struct GcGlobalHeapHistory {
  int64_t final_youngest_desired = 0;
  int32_t heaps = 0, condemned_generation = 0, gen0_reduction_count = 0;
  uint32_t reason = 0, mechanisms = 0, pause_mode = 0, memory_pressure = 0;
  uint32_t condemn_reasons0 = 0, condemn_reasons1 = 0;  // V3
  uint32_t phase_count = 0;                             // V4: how many of `phase_us` are set
  uint32_t phase_us[16];
};
bool Decode(const RawEvent& event, GcGlobalHeapHistory& out);

// GCCreateSegment and GCFreeSegment; the latter has the address only.
struct GcSegment {
  uint64_t address = 0, size = 0;
  uint32_t type = 0;  // 0 small objects, 1 large, 2 read only, 3 pinned
};
bool Decode(const RawEvent& event, GcSegment& out);

struct GcPinObject {
  uint64_t handle = 0, object = 0, size = 0;
  Utf16View type_name;
};
bool Decode(const RawEvent& event, GcPinObject& out);

struct GcFinalizeObject {
  uint64_t type_id = 0, object = 0;
};
bool Decode(const RawEvent& event, GcFinalizeObject& out);

struct GcHandle {
  uint64_t handle = 0, object = 0;
  uint32_t kind = 0, generation = 0;
};
bool Decode(const RawEvent& event, GcHandle& out);

// GCDynamicEvent: a named blob ("CommittedUsage", "SizeAdaptationTuning", …).
struct GcDynamic {
  Utf16View name;
  Bytes data;
};
bool Decode(const RawEvent& event, GcDynamic& out);

// The blob of "CommittedUsage", bytes, in the order of its payload.
struct GcCommittedUsage {
  uint64_t in_use = 0, global_decommit = 0, free = 0, global_free = 0, bookkeeping = 0;
};
bool Decode(const GcDynamic& event, GcCommittedUsage& out);

// The blobs by which DATAS tells how many heaps it wants from the next GC on: "HeapCountTuning"
// (.NET 8), "SizeAdaptationTuning" and "SizeAdaptationFullGCTuning" (since .NET 9).
struct GcHeapCountTuning {
  uint32_t heaps = 0;
};
bool Decode(const GcDynamic& event, GcHeapCountTuning& out);

// GCFinalizersEnd: how many finalizers ran.
struct GcFinalizersEnd {
  uint32_t count = 0;
};
bool Decode(const RawEvent& event, GcFinalizersEnd& out);

struct GcSettings {
  uint64_t hard_limit = 0, loh_threshold = 0, physical_memory = 0;
  uint64_t gen0_min_budget = 0, gen0_max_budget = 0;
  uint32_t high_memory_percent = 0, bits = 0;
};
bool Decode(const RawEvent& event, GcSettings& out);

}  // namespace clrscope::clr
