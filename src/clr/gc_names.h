// SPDX-License-Identifier: Apache-2.0
// Names for the numbers in GC events: those that TraceEvent and PerfView made familiar.
// Source: dotnet/runtime src/coreclr/gc/gc.h (gc_reason), gcrecord.h (gc_condemn_reason_*),
// src/coreclr/vm/ClrEtwAll.man (maps)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace clrscope::clr {

// "AllocSmall", "Induced", …; "" for a number that has no name yet.
std::string_view GcReasonName(int32_t reason);
// The program (or somebody in it) asked for the GC: GC.Collect in all of its modes.
bool IsInduced(int32_t reason);
// An allocation found no room.
bool IsCausedByAllocation(int32_t reason);
// "blocking", "background", "foreground"
std::string_view GcTypeName(int32_t type);
// "gen0", "gen1", "gen2", "loh", "poh"
std::string_view GcGenerationName(int index);
// "stack", "finalizer_queue", "handles", "older_generation", …; "" = unknown
std::string_view GcRootKindName(int kind);
// "mark_roots", "plan", … by the index of profile::GcPhase
std::string_view GcPhaseName(int phase);
// "Interactive", …
std::string_view GcPauseModeName(int32_t mode);

// Why a heap's generation was condemned: GCPerHeapHistory's CondemnReasons0 and 1.
struct CondemnedReasons {
  uint32_t initial = 0;    // generation that was asked for
  uint32_t final = 0;      // generation that this heap wanted in the end
  uint32_t by_budget = 0;  // the oldest generation whose budget was used up
  uint32_t by_time = 0;    // the oldest generation that was not collected for long
  std::vector<std::string_view> conditions;  // "fragmented_gen2", "low_ephemeral", …
};
CondemnedReasons DecodeCondemned(uint32_t reasons0, uint32_t reasons1);

}  // namespace clrscope::clr
