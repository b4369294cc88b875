// SPDX-License-Identifier: Apache-2.0
// Which request each thread ran for, in the last seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "analysis/families/requests/activity_path.h"

namespace clrscope::analysis {

class RunLog {
 public:
  // Runs that are kept; what has no room is not told.
  static constexpr size_t kMost = 200'000;

  // It runs for this request from now on.
  void Begin(uint64_t thread, const ActivityPath& request, int64_t time_ns) {
    Thread& t = threads_[thread];
    if (t.from_ns && t.request == request) return;
    Close(t, time_ns);
    t.from_ns = time_ns;
    t.request = request;
  }
  void End(uint64_t thread, int64_t time_ns) {
    if (const auto it = threads_.find(thread); it != threads_.end()) Close(it->second, time_ns);
  }
  // It has run for it, which is known afterwards.
  void Add(uint64_t thread, const ActivityPath& request, int64_t from_ns, int64_t to_ns) {
    Keep(threads_[thread], {from_ns, to_ns, request});
  }
  void EndAll(int64_t time_ns) {
    for (auto& [id, t] : threads_) Close(t, time_ns);
  }
  std::optional<ActivityPath> At(uint64_t thread, int64_t time_ns) const {
    const auto it = threads_.find(thread);
    if (it == threads_.end()) return std::nullopt;
    const Thread& t = it->second;
    if (t.from_ns && *t.from_ns <= time_ns) return t.request;
    const auto run = std::partition_point(t.runs.begin(), t.runs.end(),
                                          [&](const Run& r) { return r.to_ns < time_ns; });
    if (run == t.runs.end() || run->from_ns > time_ns) return std::nullopt;
    return run->request;
  }
  // What has ended before.
  void Forget(int64_t before_ns) {
    for (auto it = threads_.begin(); it != threads_.end();) {
      Thread& t = it->second;
      for (; !t.runs.empty() && t.runs.front().to_ns < before_ns; --kept_) t.runs.pop_front();
      it = t.runs.empty() && !t.from_ns ? threads_.erase(it) : std::next(it);
    }
  }
  void Shift(int64_t shift_ns) {
    for (auto& [id, t] : threads_) {
      if (t.from_ns) *t.from_ns -= shift_ns;
      for (Run& r : t.runs) {
        r.from_ns -= shift_ns;
        r.to_ns -= shift_ns;
      }
    }
  }

 private:
  struct Run {
    int64_t from_ns, to_ns;
    ActivityPath request;
  };
  struct Thread {
    std::optional<int64_t> from_ns{};  // of the run that goes on
    ActivityPath request{};
    std::deque<Run> runs{};  // in order of time
  };
  void Close(Thread& t, int64_t time_ns) {
    if (t.from_ns) Keep(t, {*t.from_ns, time_ns, t.request});
    t.from_ns.reset();
  }
  void Keep(Thread& t, const Run& run) {
    if (kept_ >= kMost || run.to_ns <= run.from_ns ||
        (!t.runs.empty() && run.from_ns < t.runs.back().to_ns))
      return;
    t.runs.push_back(run);
    ++kept_;
  }

  std::unordered_map<uint64_t, Thread> threads_{};
  size_t kept_ = 0;
};

}  // namespace clrscope::analysis
