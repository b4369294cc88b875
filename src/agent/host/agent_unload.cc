// SPDX-License-Identifier: Apache-2.0
// Code and types that are unloaded: what was sampled of them gets its names before they go.
#include "agent/host/agent.h"

namespace clrscope::agent {
namespace {

constexpr int kDrains = 10;

}  // namespace

void Agent::OnModuleUnload(ModuleId module) { AwaitUnload({/*dynamic=*/false, module}); }

void Agent::OnDynamicUnload(FunctionId function) {
  // Most of them were never seen on a stack, nor are about to be looked up.
  const bool all_resolved =
      resolved_.load() == code_.frame_count() && waiting_count_.load() == 0 && unnamed_.size() == 0;
  if (all_resolved && !seen_dynamic_.Maybe(function)) return;
  AwaitUnload({/*dynamic=*/true, function});
}

void Agent::AwaitUnload(const Unload& what) {
  if (!ready_.load() || ended_.load()) return;
  // While all of it is there. This is a thread of the runtime's: no range is freed meanwhile.
  if (unnamed_.size() != 0) unnamed_.LookUp(info_);
  if (desk_.Await(what)) return;
  // The agent's thread knows nothing of it yet, and the next code may lie at the same addresses.
  sampler_->Pause(Sampler::kForUnload);
  waker_.Wake();
}

void Agent::ServeUnload() {
  // Somebody did not wait.
  while (unloads_taken_ != desk_.closed() || sampler_->paused(Sampler::kForUnload)) {
    unloads_taken_ = desk_.closed();
    RetireUnloadable();
    // Should another one have come meanwhile, its addresses are next.
    sampler_->Resume(Sampler::kForUnload);
  }
  if (seen_dynamic_.full()) RetireUnloadable();
  desk_.ServeNext([this](const Unload& what) { return TakeUnloaded(what); });
}

// Which of the code that can be unloaded it was, nobody says: all of it is looked up again when it
// is seen again.
void Agent::RetireUnloadable() {
  for (std::vector<uint32_t>* frames : {&collectible_frames_, &dynamic_frames_}) {
    for (const uint32_t id : *frames) code_.Retire(id);
    retired_ += frames->size();
    frames->clear();
  }
  seen_dynamic_.Clear();
  ResolveUnnamed();
}

// What a thread still walks over is on its stack: it is not what goes.
bool Agent::TakeUnloaded(const Unload& what) {
  if (what.dynamic) {
    // Its name was read when its address was resolved.
    const bool all = ResolveFrames(~uint32_t{0});
    ResolveUnnamed();
    names_.ForgetFunction(what.id);
    seen_dynamic_.Remove(what.id);
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
    return all;
  }
  // What was seen of it so far gets its names now.
  bool all = false;
  for (int i = 0; i < kDrains && !all; ++i) all = ResolveFrames(~uint32_t{0}) && Drain();
  ResolveUnnamed();
  names_.Forget();
  for (const uint32_t id : collectible_frames_) code_.Retire(id);
  retired_ += collectible_frames_.size();
  collectible_frames_.clear();
  return all;
}

}  // namespace clrscope::agent
