// SPDX-License-Identifier: Apache-2.0
// A time slice: what one process allocated in a span of time, by series and by thread. Samples are
// kept by both (KeepsThreads()), what the runtime counts by each alone; events have their thread as
// a label of the series.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "base/large_vector.h"
#include "profile/tables/series.h"

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

// What of a row one thread did.
struct ThreadPart {
  uint32_t series = 0;
  uint32_t thread = 0;  // index into Slice::thread_ids
  Sums sums;
};
// In place of threads for which a slice has no room.
inline constexpr uint64_t kOtherThreads = ~uint64_t{0};

struct Slice {
  uint32_t process = 0;  // index
  int64_t start_ns = 0, end_ns = 0;
  std::vector<SliceRow> rows;       // ascending by series, each at most once
  std::vector<ThreadSums> threads;  // of counts; ascending by (thread, kind, source)
  // Of samples: ascending by (series, thread), each at most once. Rows of old captures have none.
  std::vector<ThreadPart> parts;
  std::vector<uint64_t> thread_ids;  // the OS thread ids, ascending
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

// Threads of a slice that was merged of others; the ones with the fewest samples become
// kOtherThreads.
inline constexpr size_t kMostSliceThreads = 4096;

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
  // What was added to `series`: who did it.
  void AddThread(uint64_t thread, uint32_t series, const SeriesKey& key, const Sums& sums);
  // As AddThread() for what the runtime counted itself: these come by the million, without an
  // error.
  void AddCountedThread(uint64_t thread, HeapKind kind, const Sums& sums) {
    Estimate& value = ThreadEstimate(thread, kind, Source::kCounted);
    value.samples += sums.samples;
    value.amount += static_cast<double>(sums.amount);
    value.count += static_cast<double>(sums.stands_for);
    value.seen_amount = value.amount;
    value.seen_count = value.count;
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

  void AddPart(uint32_t thread, uint32_t series, const Sums& sums);
  // Appends the parts of a row, sorted and added up.
  void TakeParts(uint32_t series, uint32_t first, std::vector<ThreadPart>& out);
  uint32_t ThreadIndex(uint64_t thread) {
    const size_t recent = recent_ids_[thread % recent_ids_.size()];
    if (recent < thread_ids_.size() && thread_ids_[recent] == thread)
      return static_cast<uint32_t>(recent);
    return FindThreadIndex(thread);
  }
  uint32_t FindThreadIndex(uint64_t thread);

  static constexpr uint32_t kNoPart = 0;
  struct Open {
    Sums sums;
    uint64_t note = 0;
  };
  // A row's parts are a list; the same thread may be in it again.
  struct OpenPart {
    uint32_t thread = 0;  // index into thread_ids_
    uint32_t next = kNoPart;
    Sums sums;
  };
  LargeVector<Open> open_;         // by series
  std::vector<uint64_t> touched_;  // a bit for each series that is not zero
  bool empty_ = true;
  std::vector<ThreadSums> threads_;
  std::array<size_t, 16> recent_threads_{};  // indexes, by thread
  FlatMap thread_index_;                     // (thread, kind, source) → index
  LargeVector<uint32_t> part_of_;            // by series: the row's last one in parts_, + 1
  std::vector<OpenPart> parts_;
  std::vector<uint64_t> thread_ids_;
  std::array<size_t, 16> recent_ids_{};  // indexes, by thread
  FlatMap id_index_;                     // thread → index
};

}  // namespace clrscope::profile
