// SPDX-License-Identifier: Apache-2.0
#include "agent/host/unload_desk.h"

#include <time.h>

#include "agent/host/clock.h"
#include "base/units.h"

namespace clrscope::agent {

bool UnloadDesk::CloseGate() {
  gate_.Close();
  closed_.fetch_add(1, std::memory_order_relaxed);
  wake_(context_);
  return false;
}

bool UnloadDesk::Await(const Unload& what) {
  const int64_t deadline =
      MonotonicNs() + (what.dynamic ? kDynamicPatience : kModulePatience) * kMillisecond;
  const auto may_wait = [&] {
    if (!open_.load() || missed_.load()) return false;
    if (MonotonicNs() >= deadline) {
      missed_.store(true);
      return false;
    }
    const timespec pause{0, 50'000};
    (void)::nanosleep(&pause, nullptr);
    return true;
  };
  for (State free = State::kFree;
       !open_.load() ||
       !state_.compare_exchange_strong(free, State::kFilling, std::memory_order_acquire);
       free = State::kFree)
    if (!may_wait()) return CloseGate();
  what_ = what;
  state_.store(State::kAsked, std::memory_order_release);
  wake_(context_);
  for (;;) {
    const State now = state_.load(std::memory_order_acquire);
    if (now == State::kAll || now == State::kPart) {
      state_.store(State::kFree, std::memory_order_release);
      return now == State::kAll || CloseGate();
    }
    if (may_wait()) continue;
    State asked = State::kAsked;
    State serving = State::kServing;
    // Withdrawn, or left to the one who serves it. Else the answer has just come.
    if (state_.compare_exchange_strong(asked, State::kFree) ||
        state_.compare_exchange_strong(serving, State::kLeft))
      return CloseGate();
  }
}

}  // namespace clrscope::agent
