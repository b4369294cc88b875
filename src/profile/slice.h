// SPDX-License-Identifier: Apache-2.0
// A time slice: what one process allocated in a span of time, by series and by thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "base/large_vector.h"
#include "profile/series.h"

namespace clrscope::profile {

struct SliceRow {
  uint32_t series = 0;
  Sums sums;
};

struct ThreadSums {
  uint64_t thread = 0;
  HeapKind kind = HeapKind::kSoh;
  Source source = Source::kSampled;
  Estimate value;
  bool Is(uint64_t t, HeapKind k, Source s) const {
    return thread == t && kind == k && source == s;
  }
};

struct Slice {
  uint32_t process = 0;  // index
  int64_t start_ns = 0, end_ns = 0;
  std::vector<SliceRow> rows;       // ascending by series, each at most once
  std::vector<ThreadSums> threads;  // ascending by (thread, kind, source)
};

// Takes finished slices, oldest first per process.
class SliceSink {
 public:
  virtual ~SliceSink() = default;
  virtual void OnSlice(Slice&& slice) = 0;
};

// For who wants what else a fold finds.
class NoSlices final : public SliceSink {
 public:
  void OnSlice(Slice&&) override {}
};

// Adds `from` to `into`; the span becomes the hull of both.
void MergeSlice(Slice& into, const Slice& from);

// Counts the samples of the slice that is open.
class SliceBuilder {
 public:
  void Add(uint32_t series, const Sums& sums) {
    if (series >= open_.size()) Grow(series);
    Sums& s = open_[series].sums;
    if (s.samples == 0) touched_[series / 64] |= uint64_t{1} << (series % 64);
    s += sums;
    empty_ = false;
  }
  // A word that the caller keeps beside a series' sums, where it looks anyway; 0 = none.
  uint64_t note(uint32_t series) const { return series < open_.size() ? open_[series].note : 0; }
  void SetNote(uint32_t series, uint64_t note) {
    if (series >= open_.size()) Grow(series);
    open_[series].note = note;
  }
  void ForgetNotes();
  void AddThread(uint64_t thread, const SeriesKey& key, const Sums& sums);
  // As AddThread() for what the runtime counted itself: these come by the million, without an
  // error.
  void AddCountedThread(uint64_t thread, HeapKind kind, const Sums& sums) {
    Estimate& value = ThreadEstimate(thread, kind, Source::kCounted);
    value.samples += sums.samples;
    value.bytes += static_cast<double>(sums.size_sum);
    value.objects += static_cast<double>(sums.amount_sum);
    value.seen_bytes = value.bytes;
    value.seen_objects = value.objects;
  }
  bool empty() const { return empty_; }
  // Moves what was counted into a slice and starts over.
  Slice Take(uint32_t process, int64_t start_ns, int64_t end_ns);

 private:
  void Grow(uint32_t series);
  Estimate& ThreadEstimate(uint64_t thread, HeapKind kind, Source source) {
    const size_t recent = recent_threads_[thread % recent_threads_.size()];
    if (recent < threads_.size() && threads_[recent].Is(thread, kind, source))
      return threads_[recent].value;
    return FindThread(thread, kind, source);
  }
  Estimate& FindThread(uint64_t thread, HeapKind kind, Source source);

  struct Open {
    Sums sums;
    uint64_t note = 0;
  };
  LargeVector<Open> open_;         // by series
  std::vector<uint64_t> touched_;  // a bit for each series that is not zero
  bool empty_ = true;
  std::vector<ThreadSums> threads_;
  std::array<size_t, 16> recent_threads_{};  // indexes, by thread
  FlatMap thread_index_;                     // (thread, kind, source) → index
};

}  // namespace clrscope::profile
