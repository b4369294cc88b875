// SPDX-License-Identifier: Apache-2.0
#include "nettrace/testing/gc_payloads.h"

#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::nettrace::testing {

std::string SuspendBeginPayload(uint32_t version, uint32_t reason, uint32_t count) {
  if (version == 0) return ByteWriter().U16(static_cast<uint16_t>(reason)).Take();
  return ByteWriter().U32(reason).U32(count).U16(0).Take();
}

std::string GcTriggeredPayload(uint32_t reason) { return ByteWriter().U32(reason).U16(0).Take(); }

std::string GlobalHistoryPayload(uint32_t version, const GlobalHistoryFields& f) {
  ByteWriter w;
  w.I64(f.final_youngest_desired).U32(f.heaps).U32(f.generation).U32(f.gen0_reduction);
  w.U32(f.reason).U32(f.mechanisms);
  if (version >= 1) w.U16(0);
  if (version >= 2) w.U32(f.pause_mode).U32(f.memory_load);
  if (version >= 3) w.U32(f.condemn0).U32(f.condemn1);
  if (version >= 4) {
    w.U32(static_cast<uint32_t>(f.phases.size()));
    for (const uint32_t us : f.phases) w.U32(us);
  }
  return w.Take();
}

std::string PerHeapHistoryPayload(const PerHeapHistoryFields& f, uint32_t p) {
  ByteWriter w;
  w.U16(0).Pointer(f.free_list_allocated, p);
  for (uint64_t i = 1; i < 6; ++i) w.Pointer(i, p);
  w.U32(7).U32(f.condemn0).U32(f.condemn1).U32(0).U32(0).U32(f.heap).Pointer(8, p);
  w.U32(static_cast<uint32_t>(f.generations.size()));
  for (const GenerationFields& g : f.generations)
    for (const uint64_t v : g) w.Pointer(v, p);
  return w.Take();
}

std::string MarkWithTypePayload(uint32_t heap, uint32_t kind, uint64_t bytes) {
  return ByteWriter().U32(heap).U16(0).U32(kind).U64(bytes).Take();
}

std::string GcDynamicPayload(std::string_view name, std::string_view data) {
  return ByteWriter().Z16(name).U32(static_cast<uint32_t>(data.size())).Raw(data).U16(0).Take();
}

std::string CommittedUsagePayload(const std::array<uint64_t, 5>& bytes) {
  ByteWriter w;
  w.U16(1);
  for (const uint64_t b : bytes) w.U64(b);
  return GcDynamicPayload("CommittedUsage", w.str());
}

std::string HeapCountTuningPayload(std::string_view name, uint16_t heaps) {
  return GcDynamicPayload(name, ByteWriter().U16(1).U16(heaps).U16(8).U16(1).U64(5).Take());
}

std::string PinObjectPayload(uint64_t object, uint64_t size, std::string_view type, uint32_t p) {
  return ByteWriter().Pointer(0x10, p).Pointer(object, p).U64(size).Z16(type).U16(0).Take();
}

std::string FinalizeObjectPayload(uint64_t type_id, uint64_t object, uint32_t p) {
  return ByteWriter().Pointer(type_id, p).Pointer(object, p).U16(0).Take();
}

std::string GcSettingsPayload(uint64_t hard_limit, uint32_t bits) {
  return ByteWriter()
      .U64(hard_limit)
      .U64(85'000)
      .U64(3)
      .U64(4)
      .U64(5)
      .U32(6)
      .U32(bits)
      .U16(0)
      .Take();
}

}  // namespace clrscope::nettrace::testing
