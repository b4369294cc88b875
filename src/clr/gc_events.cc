// SPDX-License-Identifier: Apache-2.0
#include "clr/gc_events.h"

#include <algorithm>
#include <cstring>

namespace clrscope::clr {
namespace {

bool Is(Utf16View text, std::u16string_view name) {
  return text.units == name.size() && std::memcmp(text.data, name.data(), 2 * name.size()) == 0;
}

}  // namespace

bool Decode(const RawEvent& event, GcStart& out) {
  ByteReader r(event.payload);
  out = {};
  out.number = r.U32();
  if (event.kind->version == 0) {
    out.reason = r.I32();
    return r.ok();
  }
  out.generation = r.I32();
  out.reason = r.I32();
  out.type = r.I32();
  if (!r.ok()) return false;
  if (event.kind->version >= 2 && r.remaining() >= 10) {
    r.Skip(2);
    out.client_sequence = r.U64();
  }
  return true;
}

bool Decode(const RawEvent& event, GcEnd& out) {
  ByteReader r(event.payload);
  out.number = r.U32();
  out.generation = event.kind->version == 0 ? r.U16() : r.U32();
  return r.ok();
}

bool Decode(const RawEvent& event, GcHeapStats& out) {
  // As it lies in the payload, up to ClrInstanceID.
  struct [[gnu::packed]] V1 {
    struct [[gnu::packed]] {
      int64_t size, promoted;
    } generation[4];
    int64_t finalization_promoted_bytes, finalization_promoted_count;
    uint32_t pinned_objects, sink_blocks, handles;
  };
  static_assert(sizeof(V1) == 92);
  constexpr size_t kPohAt = sizeof(V1) + 2;
  const Bytes payload = event.payload;
  if (payload.size() < sizeof(V1)) return false;
  const V1 v1 = LoadAt<V1>(payload.data());
  for (size_t g = 0; g < 4; ++g) {
    out.size[g] = v1.generation[g].size;
    out.promoted[g] = v1.generation[g].promoted;
  }
  out.finalization_promoted_bytes = v1.finalization_promoted_bytes;
  out.finalization_promoted_count = v1.finalization_promoted_count;
  out.pinned_objects = v1.pinned_objects;
  out.sink_blocks = v1.sink_blocks;
  out.handles = v1.handles;
  out.size[4] = out.promoted[4] = -1;
  if (event.kind->version >= 2 && payload.size() >= kPohAt + 16) {
    out.size[4] = LoadAt<int64_t>(payload.data() + kPohAt);
    out.promoted[4] = LoadAt<int64_t>(payload.data() + kPohAt + 8);
  }
  return true;
}

bool Decode(const RawEvent& event, GcSuspendBegin& out) {
  ByteReader r(event.payload);
  out = {};
  out.reason = event.kind->version == 0 ? r.U16() : r.U32();
  if (event.kind->version >= 1) out.count = r.U32();
  return r.ok();
}

bool Decode(const RawEvent& event, GcTriggered& out) {
  ByteReader r(event.payload);
  out.reason = r.U32();
  return r.ok();
}

bool Decode(const RawEvent& event, GcJoin& out) {
  ByteReader r(event.payload);
  out = {};
  out.heap = r.U32();
  out.time = r.U32();
  out.type = r.U32();
  if (!r.ok()) return false;
  if (r.remaining() >= 6) {
    r.Skip(2);
    out.id = r.U32();
  }
  return true;
}

namespace {

constexpr size_t kPerHeapHistoryHead = 2 + 6 * 8 + 6 * 4 + 8 + 4;

// With pointers of eight bytes, of a payload that is long enough.
bool DecodeWide(Bytes payload, GcPerHeapHistory& out) {
  const std::byte* at = payload.data() + 2;
  const auto take = [&at](auto& field) {
    std::memcpy(&field, at, sizeof(field));
    at += sizeof(field);
  };
  take(out.free_list_allocated);
  take(out.free_list_rejected);
  take(out.end_of_segment_allocated);
  take(out.condemned_allocated);
  take(out.pinned_allocated);
  take(out.pinned_allocated_advance);
  take(out.running_free_list_efficiency);
  take(out.condemn_reasons0);
  take(out.condemn_reasons1);
  take(out.compact_mechanisms);
  take(out.expand_mechanisms);
  take(out.heap);
  take(out.extra_gen0_commit);
  uint32_t count = 0;
  take(count);
  const size_t there = (payload.size() - kPerHeapHistoryHead) / sizeof(GcGenerationData);
  out.generations =
      static_cast<uint32_t>(std::min({size_t{count}, there, std::size(out.generation)}));
  std::memcpy(out.generation, at, out.generations * sizeof(GcGenerationData));
  return true;
}

}  // namespace

bool Decode(const RawEvent& event, GcPerHeapHistory& out) {
  if (event.kind->version < 3) return false;
  const int p = event.pointer_size;
  if (p == 8 && event.payload.size() >= kPerHeapHistoryHead) return DecodeWide(event.payload, out);
  ByteReader r(event.payload);
  out.generations = 0;
  r.Skip(2);
  for (uint64_t* f :
       {&out.free_list_allocated, &out.free_list_rejected, &out.end_of_segment_allocated,
        &out.condemned_allocated, &out.pinned_allocated, &out.pinned_allocated_advance})
    *f = r.Pointer(p);
  for (uint32_t* f :
       {&out.running_free_list_efficiency, &out.condemn_reasons0, &out.condemn_reasons1,
        &out.compact_mechanisms, &out.expand_mechanisms, &out.heap})
    *f = r.U32();
  out.extra_gen0_commit = r.Pointer(p);
  const uint32_t count = r.U32();
  if (!r.ok()) return false;
  for (uint32_t g = 0; g < count && r.remaining() >= 10 * static_cast<size_t>(p); ++g) {
    GcGenerationData d{};
    for (uint64_t* f : {&d.size_before, &d.free_list_before, &d.free_objects_before, &d.size_after,
                        &d.free_list_after, &d.free_objects_after, &d.in, &d.pinned_survived,
                        &d.non_pinned_survived, &d.budget})
      *f = r.Pointer(p);
    if (g < 5) {
      out.generation[g] = d;
      out.generations = g + 1;
    }
  }
  return r.ok();
}

bool Decode(const RawEvent& event, GcGlobalHeapHistory& out) {
  // As it lies in the payload; each version ends where the next one's fields begin.
  struct [[gnu::packed]] V4 {
    int64_t final_youngest_desired;
    int32_t heaps, condemned_generation, gen0_reduction_count;
    uint32_t reason, mechanisms;  // V1
    uint16_t clr_instance;
    uint32_t pause_mode, memory_pressure;         // V2
    uint32_t condemn_reasons0, condemn_reasons1;  // V3
    uint32_t phase_count;                         // V4
  };
  constexpr size_t kV1 = 28, kV2 = 38, kV3 = 46, kV4 = sizeof(V4);
  static_assert(kV4 == 50);
  const Bytes payload = event.payload;
  if (payload.size() < kV1) return false;
  V4 v = {};
  if (payload.size() >= kV4) {
    v = LoadAt<V4>(payload.data());
  } else {
    std::memcpy(&v, payload.data(), payload.size());
  }
  const uint32_t version = event.kind->version;
  const auto has = [&](uint32_t since, size_t end) {
    return version >= since && payload.size() >= end;
  };
  out.final_youngest_desired = v.final_youngest_desired;
  out.heaps = v.heaps;
  out.condemned_generation = v.condemned_generation;
  out.gen0_reduction_count = v.gen0_reduction_count;
  out.reason = v.reason;
  out.mechanisms = v.mechanisms;
  out.pause_mode = has(2, kV2) ? v.pause_mode : 0;
  out.memory_pressure = has(2, kV2) ? v.memory_pressure : 0;
  out.condemn_reasons0 = has(3, kV3) ? v.condemn_reasons0 : 0;
  out.condemn_reasons1 = has(3, kV3) ? v.condemn_reasons1 : 0;
  out.phase_count = 0;
  if (has(4, kV4)) {
    const size_t there = (payload.size() - kV4) / sizeof(uint32_t);
    out.phase_count =
        static_cast<uint32_t>(std::min({size_t{v.phase_count}, there, std::size(out.phase_us)}));
    std::memcpy(out.phase_us, payload.data() + kV4, out.phase_count * sizeof(uint32_t));
  }
  return true;
}

bool Decode(const RawEvent& event, GcSegment& out) {
  ByteReader r(event.payload);
  out = {};
  out.address = r.U64();
  if (event.kind->tag == EventTag::kGcFreeSegment) return r.ok();
  out.size = r.U64();
  out.type = r.U32();
  return r.ok();
}

bool Decode(const RawEvent& event, GcPinObject& out) {
  ByteReader r(event.payload);
  out.handle = r.Pointer(event.pointer_size);
  out.object = r.Pointer(event.pointer_size);
  out.size = r.U64();
  out.type_name = r.Utf16Z();
  return r.ok();
}

bool Decode(const RawEvent& event, GcFinalizeObject& out) {
  ByteReader r(event.payload);
  out.type_id = r.Pointer(event.pointer_size);
  out.object = r.Pointer(event.pointer_size);
  return r.ok();
}

bool Decode(const RawEvent& event, GcHandle& out) {
  ByteReader r(event.payload);
  out = {};
  out.handle = r.Pointer(event.pointer_size);
  if (event.kind->tag == EventTag::kGcDestroyHandle) return r.ok();
  out.object = r.Pointer(event.pointer_size);
  out.kind = r.U32();
  out.generation = r.U32();
  return r.ok();
}

bool Decode(const RawEvent& event, GcDynamic& out) {
  ByteReader r(event.payload);
  out.name = r.Utf16Z();
  const uint32_t size = r.U32();
  out.data = r.Take(size);
  return r.ok();
}

bool Decode(const GcDynamic& event, GcCommittedUsage& out) {
  const std::byte* at = event.data.data();
  if (!Is(event.name, u"CommittedUsage") || event.data.size() < 2 + sizeof(out) ||
      LoadAt<uint16_t>(at) < 1)
    return false;
  out = LoadAt<GcCommittedUsage>(at + 2);
  return true;
}

bool Decode(const GcDynamic& event, GcHeapCountTuning& out) {
  ByteReader r(event.data);
  if (!Is(event.name, u"HeapCountTuning") && !Is(event.name, u"SizeAdaptationTuning") &&
      !Is(event.name, u"SizeAdaptationFullGCTuning"))
    return false;
  if (r.U16() < 1) return false;
  out.heaps = r.U16();
  return r.ok() && out.heaps > 0;
}

bool Decode(const RawEvent& event, GcFinalizersEnd& out) {
  ByteReader r(event.payload);
  out.count = r.U32();
  return r.ok();
}

bool Decode(const RawEvent& event, GcSettings& out) {
  ByteReader r(event.payload);
  out.hard_limit = r.U64();
  out.loh_threshold = r.U64();
  out.physical_memory = r.U64();
  out.gen0_min_budget = r.U64();
  out.gen0_max_budget = r.U64();
  out.high_memory_percent = r.U32();
  out.bits = r.U32();
  return r.ok();
}

}  // namespace clrscope::clr
