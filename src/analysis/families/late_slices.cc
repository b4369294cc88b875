// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/late_slices.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace clrscope::analysis {

void LateSlices::Add(int64_t time_ns, profile::SeriesKey key, uint16_t label, uint64_t nominal_size,
                     uint64_t thread, const profile::Sums& sums) {
  key.labels = label;
  bool capped = false;
  const uint32_t series =
      home_.tables->series.Find(key, nominal_size, profile::StackTree::kOther, &capped);
  if (capped) home_.tables->losses.Add(Loss::kSeriesCapped, sums.samples);
  const bool by_thread = profile::KeepsThreads(key.source());
  rows_.push_back({std::max<int64_t>(0, time_ns) / home_.slice_ns, series, by_thread,
                   by_thread ? thread : 0, sums});
}

void LateSlices::Flush() {
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return std::tie(a.slice, a.series, a.thread) < std::tie(b.slice, b.series, b.thread);
  });
  for (size_t i = 0; i < rows_.size();) {
    size_t end = i;
    while (end < rows_.size() && rows_[end].slice == rows_[i].slice) ++end;
    Emit(rows_.data() + i, rows_.data() + end);
    i = end;
  }
  rows_.clear();
}

void LateSlices::Emit(const Row* from, const Row* to) {
  profile::Slice slice;
  slice.process = home_.index;
  slice.start_ns = from->slice * home_.slice_ns;
  slice.end_ns = slice.start_ns + home_.slice_ns;
  for (const Row* r = from; r != to; ++r)
    if (r->by_thread) slice.thread_ids.push_back(r->thread);
  std::sort(slice.thread_ids.begin(), slice.thread_ids.end());
  slice.thread_ids.erase(std::unique(slice.thread_ids.begin(), slice.thread_ids.end()),
                         slice.thread_ids.end());
  for (const Row* r = from; r != to; ++r) {
    if (slice.rows.empty() || slice.rows.back().series != r->series)
      slice.rows.push_back({r->series, {}});
    slice.rows.back().sums += r->sums;
    if (!r->by_thread) continue;
    const auto at = std::lower_bound(slice.thread_ids.begin(), slice.thread_ids.end(), r->thread);
    const auto thread = static_cast<uint32_t>(at - slice.thread_ids.begin());
    if (slice.parts.empty() || slice.parts.back().series != r->series ||
        slice.parts.back().thread != thread)
      slice.parts.push_back({r->series, thread, {}});
    slice.parts.back().sums += r->sums;
  }
  home_.sink->OnSlice(std::move(slice));
}

}  // namespace clrscope::analysis
