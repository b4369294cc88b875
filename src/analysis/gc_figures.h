// SPDX-License-Identifier: Apache-2.0
// What follows from a collection's record and those around it. Bytes and nanoseconds; -1 (and NaN
// for percentages) = unknown: a figure is never guessed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "profile/gc_record.h"

namespace clrscope::analysis {

inline constexpr double kUnknownPercent = std::numeric_limits<double>::quiet_NaN();

struct GcFigures {
  // GCPerHeapHistory, over all heaps.
  profile::GcBytes size_before = profile::kGcBytesUnknown;
  profile::GcBytes fragmentation = profile::kGcBytesUnknown;  // free space after it
  profile::GcBytes budget = profile::kGcBytesUnknown;
  profile::GcBytes promoted_in = profile::kGcBytesUnknown;  // from the generation below
  int64_t before_bytes = -1;
  // The largest heap while it ran: `before_bytes`, and of GCs inside a background one.
  int64_t peak_bytes = -1;
  int64_t after_bytes = -1, promoted_bytes = -1;  // GCHeapStats; without POH where that is unknown
  // Survived of what was there, weighted by bytes over the heaps; of collected generations only.
  std::array<double, profile::kGcGenerations> survival_percent = {
      kUnknownPercent, kUnknownPercent, kUnknownPercent, kUnknownPercent, kUnknownPercent};
  std::array<double, profile::kGcGenerations> fragmentation_percent = survival_percent;

  // Allocated by the program since the GC before it: SOH, LOH, POH, and all. What objects took
  // before this GC less what they took after the one before; across a background sweep, which frees
  // beside the program, AllocationTick's bytes.
  std::array<int64_t, 3> allocated = {-1, -1, -1};
  int64_t allocated_bytes = -1;
  int64_t ran_ns = -1;  // the program ran since the last pause; not for a GC inside another's pause
  double allocated_per_second = kUnknownPercent;
  double pause_percent = kUnknownPercent;  // pause ÷ (pause + ran_ns)

  // Of heaps of server GC: the largest part that survived on one ÷ the mean; 1 = even.
  double survived_imbalance = kUnknownPercent, mark_imbalance = kUnknownPercent;
  bool demoted = false, compacted = false, promoted = false, concurrent = false;
};

// One per record, in order. `gcs`: of one process, sorted by start.
LargeVector<GcFigures> FiguresOf(std::span<const profile::GcRecord> gcs);

// A stretch of time in which the program stood still for a GC.
struct GcPause {
  int64_t start_ns = 0, end_ns = 0;
};
// The record's pauses, at most two. Only those whose both ends are known.
std::vector<GcPause> PausesOf(const profile::GcRecord& gc);

}  // namespace clrscope::analysis
