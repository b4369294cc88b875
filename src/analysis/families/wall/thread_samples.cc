// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/thread_samples.h"

#include <algorithm>
#include <numeric>

#include "profile/tables/thread_state.h"

namespace clrscope::analysis {

using profile::LabelKey;
using profile::LabelSet;
using profile::LabelTable;
using profile::SeriesKey;
using profile::Source;
using profile::ThreadState;

void ThreadSamples::NoteRound(uint64_t thread, int64_t time_ns) {
  // A damaged clock must not overflow sums; nobody looks so rarely.
  constexpr int64_t kLongestNs = int64_t{3600} * 1'000'000'000, kFarNs = int64_t{1} << 61;
  time_ns = std::clamp(time_ns, -kFarNs, kFarNs);
  if (!round_ns_) round_ns_ = time_ns;
  if (round_of_.size() >= kMostThreads && !round_of_.contains(thread)) round_of_.clear();
  uint64_t& last = round_of_[thread];
  if (last == round_) {
    ++round_;
    gap_ns_ = std::clamp<int64_t>(time_ns - *round_ns_, 0, kLongestNs);
    round_ns_ = time_ns;
    gaps_.push_back(gap_ns_);
  }
  last = round_;
  if (gaps_.empty()) gaps_.push_back(gap_ns_);
}

void ThreadSamples::OnSample(uint64_t thread, int64_t time_ns, uint32_t node, Mode mode) {
  const int64_t slice_ns = slices_.home().slice_ns;
  if (const int64_t slice = std::max<int64_t>(0, time_ns) / slice_ns;
      slice != slice_ || waiting_.size() >= kMostWaiting) {
    Flush();
    slice_ = slice;
  }
  ++samples_;
  NoteRound(thread, time_ns);
  const RowKey key{thread, uint64_t{node} << 2 | static_cast<uint64_t>(mode)};
  const auto [row, is_new] = row_of_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (is_new) rows_.push_back({thread, node, mode, 0, 0});
  ++rows_[row->second].samples;
  waiting_.push_back({row->second, static_cast<uint32_t>(gaps_.size() - 1)});
}

void ThreadSamples::Emit(const Row& row) {
  profile::ProcessTables& tables = *slices_.home().tables;
  const auto label = [&](const LabelSet& set) {
    const uint16_t id = tables.labels.Find(set);
    if (id == LabelTable::kOther) tables.losses.Add(Loss::kLabelsCapped, row.samples);
    return id;
  };
  const profile::Sums sums{row.samples, static_cast<uint64_t>(row.ns), row.samples};
  const auto add = [&](Source source, uint16_t labels) {
    tables.source_samples[static_cast<size_t>(source)] += row.samples;
    slices_.Add(slice_ * slices_.home().slice_ns,
                SeriesKey::Make(row.node, 0, profile::HeapKind::kUnknown, source, 0), labels, 0, 0,
                sums);
  };
  const LabelSet thread = LabelSet().With(LabelKey::kThread, row.thread);
  const ThreadState state = row.mode == Mode::kManaged    ? ThreadState::kRunning
                            : row.mode == Mode::kExternal ? ThreadState::kBlockedUnknown
                                                          : ThreadState::kUnknown;
  add(Source::kThreadWall, label(thread.With(LabelKey::kState, static_cast<uint64_t>(state))));
  if (row.mode == Mode::kManaged) add(Source::kThreadCpu, label(thread));
}

void ThreadSamples::SettleGaps() {
  constexpr int64_t kStop = 10;
  sorted_.clear();
  for (const int64_t gap : gaps_)
    if (gap > 0) sorted_.push_back(gap);
  const size_t fresh = sorted_.size();
  if (fresh < kFewRounds) sorted_.insert(sorted_.end(), recent_.begin(), recent_.end());
  recent_.insert(recent_.end(), sorted_.begin(),
                 sorted_.begin() + static_cast<std::ptrdiff_t>(fresh));
  if (recent_.size() > kFewRounds)
    recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(kFewRounds));
  int64_t usual = period_ns_;
  if (!sorted_.empty()) {
    const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(sorted_.size() / 2);
    std::nth_element(sorted_.begin(), middle, sorted_.end());
    usual = *middle;
    const auto last = std::partition(sorted_.begin(), sorted_.end(),
                                     [usual](int64_t gap) { return gap / kStop <= usual; });
    period_ns_ = std::accumulate(sorted_.begin(), last, int64_t{0}) / (last - sorted_.begin());
  }
  for (int64_t& gap : gaps_)
    if (gap <= 0 || gap / kStop > usual) gap = period_ns_;
}

void ThreadSamples::Flush() {
  SettleGaps();
  for (const Waiting& w : waiting_) rows_[w.row].ns += gaps_[w.round];
  for (const Row& row : rows_) Emit(row);
  rows_.clear();
  row_of_.clear();
  waiting_.clear();
  gaps_.clear();
  slices_.Flush();
}

void ThreadSamples::MoveTo(const LateSlices::Home& home) {
  slices_.MoveTo(home);
  round_of_.clear();
  round_ns_.reset();
  gap_ns_ = 0;
  slice_ = -1;
}

}  // namespace clrscope::analysis
