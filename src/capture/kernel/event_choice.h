// SPDX-License-Identifier: Apache-2.0
// Which samples of a thread count where it has several events of one CPU. A thread inherits the
// events of the one that makes it. One that was opened although it may have inherited some has its
// own beside them, and so has every thread that it makes from then on.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace clrscope::capture {

class EventChoice {
 public:
  // Of two events that a thread has on a CPU the one that was opened later has the greater id
  // (Linux kernel/events/core.c, perf_event_id), and whoever has that one has the other
  // one too, by its birth: so the later one counts no more once a thread has shown both. Until then
  // it does, as the thread that it was opened for may have inherited none.
  bool Counts(pid_t tid, size_t cpu, uint64_t id) {
    if (second_.contains(id)) return false;
    std::vector<uint64_t>& chosen = chosen_[tid];
    if (chosen.size() <= cpu) chosen.resize(cpu + 1);
    const uint64_t before = chosen[cpu];
    if (before != 0 && before != id) second_.insert(std::max(before, id));
    chosen[cpu] = before == 0 ? id : std::min(before, id);
    return chosen[cpu] == id;
  }
  void OnThreadEnd(pid_t tid) { chosen_.erase(tid); }

 private:
  std::unordered_map<pid_t, std::vector<uint64_t>> chosen_;  // ids by CPU; 0: none yet
  std::unordered_set<uint64_t> second_;
};

}  // namespace clrscope::capture
