// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/thread_samples.h"

#include <algorithm>

#include "profile/tables/thread_state.h"

namespace clrscope::analysis {

using profile::LabelKey;
using profile::LabelSet;
using profile::LabelTable;
using profile::SeriesKey;
using profile::Source;
using profile::ThreadState;

void ThreadSamples::NoteGap(uint64_t thread, int64_t time_ns) {
  if (last_ns_.size() >= kMostThreads && !last_ns_.contains(thread)) return;
  const auto [last, is_new] = last_ns_.try_emplace(thread, time_ns);
  if (is_new) return;
  const int64_t gap = time_ns - last->second;
  last->second = time_ns;
  if (gap <= 0) return;
  ++seen_gaps_;
  if (gaps_.size() < kMostGaps) return gaps_.push_back(gap);
  // Each of the second's gaps with the same chance (Vitter, algorithm R).
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  if (const uint64_t at = (random_ >> 33) % seen_gaps_; at < kMostGaps) gaps_[at] = gap;
}

void ThreadSamples::OnSample(uint64_t thread, int64_t time_ns, uint32_t node, Mode mode) {
  const int64_t slice_ns = slices_.home().slice_ns;
  if (const int64_t slice = std::max<int64_t>(0, time_ns) / slice_ns; slice != slice_) {
    Flush();
    slice_ = slice;
  }
  ++samples_;
  NoteGap(thread, time_ns);
  const RowKey key{thread, uint64_t{node} << 2 | static_cast<uint64_t>(mode)};
  const auto [row, is_new] = row_of_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (!is_new) {
    ++rows_[row->second].samples;
    return;
  }
  if (rows_.size() >= kMostRows) {
    row_of_.erase(row);
    return slices_.home().tables->losses.Add(Loss::kCpuSamplesDropped);
  }
  rows_.push_back({thread, node, mode, 1});
}

void ThreadSamples::Emit(const Row& row) {
  profile::ProcessTables& tables = *slices_.home().tables;
  const auto label = [&](const LabelSet& set) {
    const uint16_t id = tables.labels.Find(set);
    if (id == LabelTable::kOther) tables.losses.Add(Loss::kLabelsCapped, row.samples);
    return id;
  };
  const profile::Sums sums{row.samples, row.samples * static_cast<uint64_t>(period_ns_),
                           row.samples};
  const auto add = [&](Source source, uint16_t labels) {
    tables.source_samples[static_cast<size_t>(source)] += row.samples;
    slices_.Add(slice_ * slices_.home().slice_ns,
                SeriesKey::Make(row.node, 0, profile::HeapKind::kUnknown, source, 0), labels, 0, 0,
                sums);
  };
  const LabelSet thread = LabelSet().With(LabelKey::kThread, row.thread);
  const ThreadState state = row.mode == Mode::kManaged    ? ThreadState::kRunning
                            : row.mode == Mode::kExternal ? ThreadState::kBlockedUnknown
                                                          : ThreadState{};
  add(Source::kThreadWall, label(thread.With(LabelKey::kState, static_cast<uint64_t>(state))));
  if (row.mode == Mode::kManaged) add(Source::kThreadCpu, label(thread));
}

void ThreadSamples::Flush() {
  if (gaps_.size() >= kFewGaps) {
    const auto middle = gaps_.begin() + static_cast<std::ptrdiff_t>(gaps_.size() / 2);
    std::nth_element(gaps_.begin(), middle, gaps_.end());
    // Stops of the sampler or of the program, and threads that were away, are no gaps.
    constexpr int64_t kStop = 10;
    int64_t sum = 0, count = 0;
    for (const int64_t gap : gaps_) {
      if (gap / kStop > *middle) continue;
      sum += gap;
      ++count;
    }
    period_ns_ = sum / std::max<int64_t>(1, count);
  }
  for (const Row& row : rows_) Emit(row);
  rows_.clear();
  row_of_.clear();
  gaps_.clear();
  seen_gaps_ = 0;
  slices_.Flush();
}

void ThreadSamples::MoveTo(const LateSlices::Home& home) {
  slices_.MoveTo(home);
  last_ns_.clear();
  slice_ = -1;
}

}  // namespace clrscope::analysis
