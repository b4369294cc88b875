// SPDX-License-Identifier: Apache-2.0
// Wall time of threads that did not run, by looks at them from outside (capture/kernel/
// wall_sampler.h); what ran is CPU time (CpuFold). Why a thread was blocked its stack tells, once
// it has names (state_rule.h); but for who waits for a collection, which the suspensions tell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/families/gc/collecting_threads.h"
#include "analysis/families/late_slices.h"
#include "profile/tables/thread_state.h"

namespace clrscope::analysis {

class WallFold {
 public:
  // What waits for the events of collections; more is counted as dropped.
  static constexpr size_t kMostSpans = 1'000'000;

  // Both must outlive it.
  WallFold(const LateSlices::Home& home, const CollectingThreads* collecting)
      : slices_(home), collecting_(*collecting) {}

  struct Span {
    uint64_t thread = 0;
    int64_t ns = 0;
    int64_t first_ns = 0, last_ns = 0;  // when it was seen there
    uint32_t looks = 0;
    profile::ThreadState state{};
    std::span<const uint64_t> addresses{};  // leaf first; empty: not known
  };
  void OnSpan(const Span& span);
  // Of a thread that ran.
  void OnRunning(uint64_t thread, int64_t time_ns, uint32_t node, const profile::Sums& sums) {
    Add(thread, time_ns, node, profile::ThreadState::kRunning, sums);
  }
  // Time passes.
  void Advance(int64_t now_ns) { Settle(now_ns - kSettleNs); }
  // Nothing more comes for now: what waits is told.
  void Flush() { Settle(INT64_MAX); }
  // Goes on in another recording; after Flush().
  void MoveTo(const LateSlices::Home& home) { slices_.MoveTo(home); }

 private:
  static constexpr int64_t kSettleNs = 1'500'000'000;  // as CpuFold's

  struct Waiting {
    uint64_t thread;
    int64_t ns, first_ns, last_ns;
    uint32_t looks, node;
    profile::ThreadState state;
  };
  void Settle(int64_t to_ns);
  void Add(uint64_t thread, int64_t time_ns, uint32_t node, profile::ThreadState state,
           const profile::Sums& sums);

  LateSlices slices_;
  const CollectingThreads& collecting_;
  std::vector<Waiting> waiting_;
};

}  // namespace clrscope::analysis
