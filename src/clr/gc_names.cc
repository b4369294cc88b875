// SPDX-License-Identifier: Apache-2.0
#include "clr/gc_names.h"

#include <cstddef>
#include <iterator>

namespace clrscope::clr {
namespace {

constexpr std::string_view kReasons[] = {
    "AllocSmall",        "Induced",
    "LowMemory",         "Empty",
    "AllocLarge",        "OutOfSpaceSOH",
    "OutOfSpaceLOH",     "InducedNotForced",
    "Internal",          "InducedLowMemory",
    "InducedCompacting", "LowMemoryHost",
    "PMFullGC",          "LowMemoryHostBlocking",
    "BgcTuningSOH",      "BgcTuningLOH",
    "BgcStepping",       "InducedAggressive",
};
constexpr std::string_view kTypes[] = {"blocking", "background", "foreground"};
constexpr std::string_view kGenerations[] = {"gen0", "gen1", "gen2", "loh", "poh"};
constexpr std::string_view kRoots[] = {
    "stack",      "finalizer_queue",  "handles",           "older_generation",
    "sized_refs", "mark_overflow",    "dependent_handles", "newly_finalizable",
    "stolen",     "background_roots",
};
constexpr std::string_view kPhases[] = {
    "mark_sized_refs",   "mark_roots",     "mark_short_weak",
    "mark_finalization", "mark_long_weak", "plan",
    "relocate",          "compact",        "sweep",
};
constexpr std::string_view kPauseModes[] = {"Batch", "Interactive", "LowLatency",
                                            "SustainedLowLatency", "NoGC"};
// By bit of CondemnReasons1.
constexpr std::string_view kConditions[] = {
    "induced",
    "expand_heap",
    "high_memory",
    "very_high_memory",
    "low_ephemeral",
    "low_card_efficiency",
    "fragmented_ephemeral",
    "fragmented_gen2",
    "fragmented_gen1_to_gen2",
    "fragmented_gen2_high_memory",
    "fragmented_gen2_very_high_memory",
    "gen1_budget_made_gen2",
    "before_out_of_memory",
    "gen2_too_small_for_background",
    "induced_not_forced",
    "ephemeral_before_background",
    "almost_max_allocation",
    "avoid_unproductive",
    "provisional_mode_induced_full",
    "provisional_mode_loh",
    "gen1_in_provisional_mode",
    "limit_before_out_of_memory",
    "limit_loh_fragmentation",
    "limit_loh_reclaim",
    "servo_initial",
    "servo_blocking",
    "servo_background",
    "servo_postponed",
    "stress_mix",
    "stress",
    "aggressive",
};

template <size_t N>
std::string_view At(const std::string_view (&table)[N], int64_t i) {
  return i >= 0 && i < static_cast<int64_t>(N) ? table[i] : std::string_view{};
}

}  // namespace

std::string_view GcReasonName(int32_t reason) { return At(kReasons, reason); }
bool IsInduced(int32_t reason) {
  return reason == 1 || reason == 7 || reason == 9 || reason == 10 || reason == 17;
}
bool IsCausedByAllocation(int32_t reason) { return reason == 0 || (reason >= 4 && reason <= 6); }
std::string_view GcTypeName(int32_t type) { return At(kTypes, type); }
std::string_view GcGenerationName(int index) { return At(kGenerations, index); }
std::string_view GcRootKindName(int kind) { return At(kRoots, kind); }
std::string_view GcPhaseName(int phase) { return At(kPhases, phase); }
std::string_view GcPauseModeName(int32_t mode) { return At(kPauseModes, mode); }

CondemnedReasons DecodeCondemned(uint32_t reasons0, uint32_t reasons1) {
  CondemnedReasons out;
  out.initial = reasons0 & 3;
  out.final = reasons0 >> 2 & 3;
  out.by_budget = reasons0 >> 4 & 3;
  out.by_time = reasons0 >> 6 & 3;
  for (size_t i = 0; i < std::size(kConditions); ++i)
    if ((reasons1 >> i & 1) != 0) out.conditions.push_back(kConditions[i]);
  return out;
}

}  // namespace clrscope::clr
