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
  ByteReader r(event.payload);
  out = {};
  for (int g = 0; g < 4; ++g) {
    out.size[g] = r.I64();
    out.promoted[g] = r.I64();
  }
  out.finalization_promoted_bytes = r.I64();
  out.finalization_promoted_count = r.I64();
  out.pinned_objects = r.U32();
  out.sink_blocks = r.U32();
  out.handles = r.U32();
  if (!r.ok()) return false;
  if (event.kind->version >= 2 && r.remaining() >= 18) {
    r.Skip(2);
    out.size[4] = r.I64();
    out.promoted[4] = r.I64();
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
  out = {};
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
  ByteReader r(event.payload);
  out = {};
  out.final_youngest_desired = r.I64();
  out.heaps = r.I32();
  out.condemned_generation = r.I32();
  out.gen0_reduction_count = r.I32();
  out.reason = r.U32();
  out.mechanisms = r.U32();
  if (!r.ok()) return false;
  if (event.kind->version >= 2 && r.remaining() >= 10) {
    r.Skip(2);
    out.pause_mode = r.U32();
    out.memory_pressure = r.U32();
  }
  if (event.kind->version >= 3 && r.remaining() >= 8) {
    out.condemn_reasons0 = r.U32();
    out.condemn_reasons1 = r.U32();
  }
  if (event.kind->version >= 4 && r.remaining() >= 4) {
    const size_t wanted = r.U32();
    const size_t count = std::min(wanted, r.remaining() / 4);
    for (size_t i = 0; i < count && i < std::size(out.phase_us); ++i) {
      out.phase_us[i] = r.U32();
      out.phase_count = static_cast<uint32_t>(i + 1);
    }
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
