// SPDX-License-Identifier: Apache-2.0
// Payloads of the GC's events, in every version and for both pointer sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clrscope::nettrace::testing {

std::string SuspendBeginPayload(uint32_t version, uint32_t reason, uint32_t count = 0);
std::string GcTriggeredPayload(uint32_t reason);

struct GlobalHistoryFields {
  int64_t final_youngest_desired = 0;
  uint32_t heaps = 1, generation = 0, gen0_reduction = 0, reason = 0;
  uint32_t mechanisms = 0;  // 1 concurrent, 2 compaction, 4 promotion, 8 demotion
  uint32_t pause_mode = 1, memory_load = 10;
  uint32_t condemn0 = 0, condemn1 = 0;
  std::vector<uint32_t> phases;
};
std::string GlobalHistoryPayload(uint32_t version, const GlobalHistoryFields& f);

// size before, free list, free objects; after: size, free list, free objects; in; survived pinned,
// not pinned; budget
using GenerationFields = std::array<uint64_t, 10>;
struct PerHeapHistoryFields {
  uint32_t heap = 0, condemn0 = 0, condemn1 = 0;
  uint64_t free_list_allocated = 0;
  std::vector<GenerationFields> generations;
};
std::string PerHeapHistoryPayload(const PerHeapHistoryFields& f, uint32_t pointer_size = 8);

std::string MarkWithTypePayload(uint32_t heap, uint32_t kind, uint64_t bytes);
std::string GcDynamicPayload(std::string_view name, std::string_view data);
// in use, global decommit, free, global free, bookkeeping
std::string CommittedUsagePayload(const std::array<uint64_t, 5>& bytes);
// "SizeAdaptationTuning" or "HeapCountTuning", as far as it is read.
std::string HeapCountTuningPayload(std::string_view name, uint16_t heaps);
std::string PinObjectPayload(uint64_t object, uint64_t size, std::string_view type,
                             uint32_t pointer_size = 8);
std::string FinalizeObjectPayload(uint64_t type_id, uint64_t object, uint32_t pointer_size = 8);
std::string GcSettingsPayload(uint64_t hard_limit, uint32_t bits);

}  // namespace clrscope::nettrace::testing
