// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/wall_fold.h"

namespace clrscope::analysis {

using profile::LabelKey;
using profile::LabelSet;
using profile::LabelTable;
using profile::SeriesKey;
using profile::Source;
using profile::StackTree;
using profile::ThreadState;

void WallFold::OnSpan(const Span& s) {
  profile::ProcessTables& tables = *slices_.home().tables;
  if (waiting_.size() >= kMostSpans) return tables.losses.Add(Loss::kCpuSamplesDropped);
  uint32_t node = StackTree::kNoStack;
  if (!s.addresses.empty()) {
    node = tables.stacks.Fold(reinterpret_cast<const std::byte*>(s.addresses.data()),
                              static_cast<uint32_t>(s.addresses.size()), sizeof(uint64_t), s.thread,
                              s.last_ns);
    if (node == StackTree::kOther) tables.losses.Add(Loss::kStackNodesCapped);
    if (StackTree::IsCut(static_cast<uint32_t>(s.addresses.size())))
      tables.losses.Add(Loss::kTruncatedStack);
  }
  waiting_.push_back({s.thread, s.ns, s.first_ns, s.last_ns, s.looks, node, s.state});
}

void WallFold::Settle(int64_t to_ns) {
  size_t kept = 0;
  for (const Waiting& w : waiting_) {
    if (w.last_ns > to_ns) {
      waiting_[kept++] = w;
      continue;
    }
    // Managed code that is stopped begins no other wait.
    const bool collected =
        w.state != ThreadState::kRunnable && collecting_.Suspended(w.first_ns, w.last_ns);
    Add(w.thread, w.last_ns, w.node, collected ? ThreadState::kGc : w.state,
        {w.looks, static_cast<uint64_t>(std::max<int64_t>(0, w.ns)), w.looks});
  }
  waiting_.resize(kept);
  slices_.Flush();
}

void WallFold::Add(uint64_t thread, int64_t time_ns, uint32_t node, ThreadState state,
                   const profile::Sums& sums) {
  profile::ProcessTables& tables = *slices_.home().tables;
  const uint16_t label =
      tables.labels.Find(LabelSet()
                             .With(LabelKey::kThread, thread)
                             .With(LabelKey::kState, static_cast<uint64_t>(state)));
  if (label == LabelTable::kOther) tables.losses.Add(Loss::kLabelsCapped, sums.samples);
  tables.source_samples[static_cast<size_t>(Source::kWallClock)] += sums.samples;
  slices_.Add(time_ns, SeriesKey::Make(node, 0, profile::HeapKind::kUnknown, Source::kWallClock, 0),
              label, 0, 0, sums);
}

}  // namespace clrscope::analysis
