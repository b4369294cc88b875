// SPDX-License-Identifier: Apache-2.0
// What follows from a collection's record and those around it. Bytes and nanoseconds; -1 (and NaN
// for percentages) = unknown: a figure is never guessed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "profile/gc/gc_records.h"

namespace clrscope::analysis {

inline constexpr double kUnknownPercent = std::numeric_limits<double>::quiet_NaN();

// What sums over many collections need: kept for each.
struct GcFlow {
  // Allocated by the program since the GC before it: SOH, LOH, POH, and all. What objects took
  // before this GC less what they took after the one before; across a background sweep, which frees
  // beside the program, AllocationTick's bytes.
  std::array<int64_t, 3> allocated = {-1, -1, -1};
  int64_t allocated_bytes = -1;
  int64_t ran_ns = -1;  // the program ran since the last pause; not for a GC inside another's pause
  // The largest heap while it ran: `before_bytes`, and of GCs inside a background one.
  int64_t peak_bytes = -1;
  int64_t promoted_bytes = -1;  // GCHeapStats; without POH where that is unknown

  double allocated_per_second() const {
    return allocated_bytes >= 0 && ran_ns > 0
               ? static_cast<double>(allocated_bytes) * 1e9 / static_cast<double>(ran_ns)
               : kUnknownPercent;
  }
};

// All of them, of one collection.
struct GcFigures : GcFlow {
  // GCPerHeapHistory, over all heaps.
  profile::GcBytes size_before = profile::kGcBytesUnknown;
  profile::GcBytes fragmentation = profile::kGcBytesUnknown;  // free space after it
  profile::GcBytes budget = profile::kGcBytesUnknown;
  profile::GcBytes promoted_in = profile::kGcBytesUnknown;  // from the generation below
  int64_t before_bytes = -1;
  int64_t after_bytes = -1;  // GCHeapStats; without POH where that is unknown
  // Survived of what was there, weighted by bytes over the heaps; of collected generations only.
  std::array<double, profile::kGcGenerations> survival_percent = {
      kUnknownPercent, kUnknownPercent, kUnknownPercent, kUnknownPercent, kUnknownPercent};
  std::array<double, profile::kGcGenerations> fragmentation_percent = survival_percent;

  double pause_percent = kUnknownPercent;  // pause ÷ (pause + ran_ns)

  // Of heaps of server GC: the largest part that survived on one ÷ the mean; 1 = even.
  double survived_imbalance = kUnknownPercent, mark_imbalance = kUnknownPercent;
  bool demoted = false, compacted = false, promoted = false, concurrent = false;
};

// What the heap held after a collection.
int64_t BytesAfter(const profile::GcSizes& sizes);

// Of `gc`, whose flow is known.
GcFigures FiguresOf(const profile::GcRecord& gc, const GcFlow& flow);

// The figures of one process's collections, in order: flows are kept, the others worked out anew
// whenever they are asked for.
class GcFigureList {
 public:
  GcFigureList() = default;
  GcFigureList(std::span<const profile::PackedGc> gcs, LargeVector<GcFlow> flows)
      : gcs_(gcs), flows_(std::move(flows)) {}

  size_t size() const { return flows_.size(); }
  std::span<const GcFlow> flows() const { return flows_; }
  GcFigures operator[](size_t i) const { return FiguresOf(gcs_[i].Unpack(), flows_[i]); }

 private:
  std::span<const profile::PackedGc> gcs_;
  LargeVector<GcFlow> flows_;
};

// `gcs`: of one process, sorted by start; must outlive what is returned.
GcFigureList FiguresOf(std::span<const profile::PackedGc> gcs);

// A stretch of time in which the program stood still for a GC.
struct GcPause {
  int64_t start_ns = 0, end_ns = 0;
};
class GcPauses {
 public:
  const GcPause* begin() const { return pauses_.data(); }
  const GcPause* end() const { return pauses_.data() + size_; }
  size_t size() const { return size_; }
  const GcPause& operator[](size_t i) const { return pauses_[i]; }
  void Add(const GcPause& pause) { pauses_[size_++] = pause; }

 private:
  std::array<GcPause, 2> pauses_;
  size_t size_ = 0;
};
// A collection's pauses. Only those whose both ends are known.
GcPauses PausesOf(const profile::GcBrief& gc);

}  // namespace clrscope::analysis
