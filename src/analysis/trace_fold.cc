// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace_fold.h"

#include <algorithm>

#include "clr/process_name.h"

namespace clrscope::analysis {

void TraceFold::OnStream(uint32_t pid, uint32_t pointer_size, int64_t start_unix_ns,
                         const UniversalClock& clock) {
  clock_ = clock;
  pointer_size_ = pointer_size;
  recording_->start_unix_ns = start_unix_ns;
  if (pid != 0) SelectSlow(pid);
}

void TraceFold::SelectSlow(uint32_t pid) {
  // A machine has some hundreds; a damaged trace may name a new one with every event. Those past
  // the cap are counted under pid 0.
  constexpr size_t kMaxProcesses = 4096;
  const uint32_t asked = pid;
  if (folds_.size() >= kMaxProcesses && pid != 0 && !by_pid_.contains(pid)) pid = 0;
  const auto [it, is_new] = by_pid_.try_emplace(pid, folds_.size());
  if (is_new) {
    auto tables = std::make_unique<profile::ProcessTables>(options_.max_nodes, options_.max_series,
                                                           recording_->methods);
    tables->info.pid = pid;
    tables->pointer_size = pointer_size_;
    const auto index = static_cast<uint32_t>(recording_->processes.size());
    folds_.push_back(
        std::make_unique<ProcessFold>(&recording_->strings, tables.get(), index, sink_, options_));
    folds_.back()->universal().SetClock(clock_);
    recording_->processes.push_back(std::move(tables));
  }
  last_pid_ = asked;
  last_ = folds_[it->second].get();
}

void TraceFold::Finish(bool complete) {
  recording_->complete = complete;
  for (const auto& fold : folds_) {
    fold->Finish();
    profile::Process& info = fold->tables().info;
    info.end_ns = fold->last_ns();
    info.complete = complete;
    if (info.name.value == 0)
      info.name = recording_->strings.Intern(
          clr::ProcessNameOf(recording_->strings.Get(info.command_line)));
    recording_->end_ns = std::max(recording_->end_ns, info.end_ns);
  }
}

}  // namespace clrscope::analysis
