// SPDX-License-Identifier: Apache-2.0
// Folds a whole trace, of one or of many processes, into a recording.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/process_fold.h"

namespace clrscope::analysis {

class TraceFold {
 public:
  TraceFold(profile::Recording* recording, profile::SliceSink* sink,
            const FoldOptions& options = {})
      : recording_(recording), sink_(sink), options_(options) {}

  // `pid` names the process of events that do not name theirs; `start_unix_ns` is the trace's time
  // 0.
  void OnStream(uint32_t pid, uint32_t pointer_size, int64_t start_unix_ns,
                const UniversalClock& clock = {});
  // Whether anything is made of events of this kind.
  bool Wants(const clr::EventKind& kind) const { return ProcessFold::Uses(kind, options_); }
  void OnEvent(const clr::RawEvent& event) { Select(event.process).OnEvent(event); }
  // Of the process whose events came last: others, which were not wanted, came until then.
  void OnSkippedUntil(int64_t time_ns) {
    if (last_ != nullptr) last_->NoteTime(time_ns);
  }
  // Events of one thread were lost between two times; of which process is not known.
  void OnGap(int64_t after_ns, int64_t before_ns) {
    for (const auto& fold : folds_) fold->OnGap(after_ns, before_ns);
  }
  // The trace is over: closes all slices, notes where it ended and whether it was complete.
  void Finish(bool complete);

 private:
  ProcessFold& Select(uint32_t pid) {
    if (last_ == nullptr || pid != last_pid_) SelectSlow(pid);
    return *last_;
  }
  void SelectSlow(uint32_t pid);

  profile::Recording* recording_;
  profile::SliceSink* sink_;
  FoldOptions options_;
  uint32_t pointer_size_ = 8;
  UniversalClock clock_;
  std::vector<std::unique_ptr<ProcessFold>> folds_;
  std::unordered_map<uint32_t, size_t> by_pid_;
  uint32_t last_pid_ = 0;
  ProcessFold* last_ = nullptr;
};

}  // namespace clrscope::analysis
