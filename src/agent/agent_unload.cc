// SPDX-License-Identifier: Apache-2.0
// Code and types that are unloaded: their thread waits until the agent's is done with them.
#include <time.h>

#include "agent/agent.h"

namespace clrscope::agent {
namespace {

constexpr int kUnloadPatience = 1000;  // ms that an unloading waits for us at most

}  // namespace

void Agent::OnModuleUnload(ModuleId module) { AwaitUnload({/*dynamic=*/false, module}); }

void Agent::OnDynamicUnload(FunctionId function) {
  // Most of them were never seen on a stack, nor are about to be looked up.
  if (resolved_.load() == code_.frame_count() && !seen_dynamic_.Maybe(function)) return;
  AwaitUnload({/*dynamic=*/true, function});
}

// The agent's thread may be asking the runtime about the very code that is to go: it has to be done
// with it first.
void Agent::AwaitUnload(const Unload& what) {
  if (!ready_.load() || ended_.load()) return;
  const timespec pause{0, 50'000};
  int waited = 0;
  for (; unload_taken_.exchange(true, std::memory_order_acquire); ++waited) {
    if (waited == kUnloadPatience * 20 || ended_.load()) {
      unload_missed_.store(true);
      return;
    }
    (void)::nanosleep(&pause, nullptr);
  }
  unload_ = what;
  unload_state_.store(UnloadState::kAsked, std::memory_order_release);
  waker_.Wake();
  while (unload_state_.load(std::memory_order_acquire) == UnloadState::kAsked && !ended_.load()) {
    if (waited++ == kUnloadPatience * 20) {
      UnloadState asked = UnloadState::kAsked;
      unload_missed_.store(true);
      // From now on it is for the one who serves it to make room for the next.
      if (unload_state_.compare_exchange_strong(asked, UnloadState::kAbandoned)) return;
      break;
    }
    (void)::nanosleep(&pause, nullptr);
  }
  unload_state_.store(UnloadState::kNone);
  unload_taken_.store(false, std::memory_order_release);
}

void Agent::ServeUnload() {
  const bool missed = unload_missed_.exchange(false);
  if (missed) {
    // Somebody did not wait: code that is not looked up yet may be half gone. Nobody asks about it.
    for (const uint32_t id : waiting_) code_.Retire(id);
    waiting_.clear();
    for (const uint32_t end = code_.frame_count(); resolved_ < end; ++resolved_)
      code_.Retire(resolved_);
    names_.Forget(0);
  }
  const UnloadState state = unload_state_.load(std::memory_order_acquire);
  if (state != UnloadState::kAsked && state != UnloadState::kAbandoned) return;
  const Unload what = unload_;
  if (what.dynamic) {
    names_.ForgetFunction(what.id);
    for (size_t i = 0; i < dynamic_frames_.size();) {
      const CodeTable::Frame* f = code_.frame(dynamic_frames_[i]);
      if (f == nullptr || f->function.load() != what.id) {
        ++i;
        continue;
      }
      code_.Retire(dynamic_frames_[i]);
      ++retired_;
      dynamic_frames_[i] = dynamic_frames_.back();
      dynamic_frames_.pop_back();
    }
  } else {
    // What was seen of it so far gets its names now. Which of the code that can be unloaded it is,
    // nobody says: all of it is looked up again when it is seen again.
    if (!missed) (void)ResolveFrames(~uint32_t{0});
    for (int i = 0; i < 10 && !Drain(); ++i) {
    }
    names_.Forget(what.id);
    for (const uint32_t id : collectible_frames_) code_.Retire(id);
    retired_ += collectible_frames_.size();
    collectible_frames_.clear();
  }
  UnloadState asked = UnloadState::kAsked;
  if (unload_state_.compare_exchange_strong(asked, UnloadState::kDone)) return;
  unload_state_.store(UnloadState::kNone);
  unload_taken_.store(false, std::memory_order_release);
}

}  // namespace clrscope::agent
