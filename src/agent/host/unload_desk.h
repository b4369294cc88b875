// SPDX-License-Identifier: Apache-2.0
// Hands what the runtime is about to unload to the agent's thread, which then looks up the names of
// what was sampled of it. The unloading thread waits for that, not for long; where it does not get
// its answer, it closes the gate and goes on: what was not looked up by then stays without a name.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/host/lookup_gate.h"

namespace clrscope::agent {

struct Unload {
  bool dynamic = false;
  uintptr_t id = 0;  // FunctionId of a dynamic method, else ModuleId
};

class UnloadDesk {
 public:
  // How long an unloading waits at most. The runtime tells of dynamic methods in cooperative mode:
  // a GC waits for the finalizer's thread, and everybody for the GC. Of modules it tells in
  // preemptive mode. Source: dotnet/runtime src/coreclr/vm/dynamicmethod.cpp, loaderallocator.cpp
  static constexpr int kDynamicPatience = 20, kModulePatience = 500;  // ms

  // `wake` brings the agent's thread to ServeNext(); called on the unloading thread.
  using Wake = void (*)(void* context);
  UnloadDesk(LookupGate& gate, Wake wake, void* context)
      : gate_(gate), wake_(wake), context_(context) {}

  // The agent's thread comes by from now on, or does not: then nobody waits for it.
  void Open() { open_.store(true); }
  void Shut() { open_.store(false); }
  // Around what the agent's thread does that may wait for the runtime, which may be waiting for a
  // thread that unloads.
  class Closed {
   public:
    explicit Closed(UnloadDesk& desk) : desk_(desk), was_open_(desk.open_.exchange(false)) {}
    ~Closed() {
      if (was_open_) desk_.Open();
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    UnloadDesk& desk_;
    const bool was_open_;
  };

  // On the unloading thread. What was seen before is not asked about once it has returned.
  // False: the gate had to be closed for it.
  bool Await(const Unload& what);

  // On the agent's thread, as often as it can. `serve(what)` looks up what was sampled so far, and
  // says whether that was all.
  template <class Serve>
  void ServeNext(Serve&& serve) {
    State asked = State::kAsked;
    missed_.store(false);
    if (!state_.compare_exchange_strong(asked, State::kServing, std::memory_order_acq_rel)) return;
    const State answer = serve(what_) ? State::kAll : State::kPart;
    State serving = State::kServing;
    if (!state_.compare_exchange_strong(serving, answer, std::memory_order_acq_rel))
      state_.store(State::kFree, std::memory_order_release);  // nobody waits for the answer
  }

  uint64_t closed() const { return closed_.load(std::memory_order_relaxed); }  // times

 private:
  // kFree → kFilling → kAsked → kServing → kAll or kPart → kFree; from kServing to kLeft when the
  // unloading thread does not wait any longer.
  enum class State : uint8_t { kFree, kFilling, kAsked, kServing, kAll, kPart, kLeft };
  bool CloseGate();

  LookupGate& gate_;
  Wake wake_;
  void* context_;
  std::atomic<State> state_{State::kFree};
  std::atomic<bool> open_{false};
  std::atomic<bool> missed_{false};  // by one that waited: the next does not wait as well
  std::atomic<uint64_t> closed_{0};
  Unload what_;
};

}  // namespace clrscope::agent
