// SPDX-License-Identifier: Apache-2.0
// What happens on a thread of the program when an allocation is sampled, an exception is thrown or
// a wait begins or ends: walk the stack, fold it into the thread's shard, take a weak handle. No
// lock, no allocation, no thread-local variable.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/async/async_types.h"
#include "agent/com/corprof.h"
#include "agent/host/lookup_gate.h"
#include "agent/samples/sample_window.h"
#include "agent/samples/shard_pool.h"
#include "agent/samples/thrown_names.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/native_map.h"
#include "agent/stacks/stack_walk.h"
#include "profile/estimate/reservoir.h"

namespace clrscope::agent {

// Frames that one way to walk a stack shows and the other does not.
bool IsLeftOut(CodeTable& code, uint32_t frame);

struct Allocation {
  profile::HeapKind kind = profile::HeapKind::kSoh;
  uint64_t type = 0;
  uint64_t size = 0;
  uint64_t amount = 0;  // AllocationTick: bytes that it stands for
  uint64_t address = 0;
  const Guid* activity = nullptr;  // of the thread; null = none, or nobody asks
};

class Sampler {
 public:
  struct Options {
    profile::Source source = profile::Source::kSampled;
    bool selftest = false;
    bool snapshots = false;
    bool native = false;  // each frame of native code between methods is told
  };
  // Wakes the agent's thread; called on the program's threads.
  using Wake = void (*)(void* context);

  Sampler(ICorProfilerInfo* info, CodeTable& code, const LookupGate& gate, ThrownNames& thrown,
          const Options& options, Wake wake, void* context)
      : info_(info),
        code_(code),
        gate_(gate),
        thrown_(thrown),
        options_(options),
        wake_(wake),
        wake_context_(context) {}

  // On the allocating thread, from within the runtime's callback.
  void OnAllocation(const Allocation& a, Registers from);

  // On the thread that throws. `again`: the runtime says that it is a `throw;`.
  void OnThrow(Utf16View type, bool again, Registers from);
  // On the thread that waits. `source`: kContention or kWait.
  void OnWaitStart(profile::Source source, uint64_t owner, Registers from);
  // `told_ns`: how long the runtime says that it took; negative: it does not say.
  void OnWaitStop(profile::Source source, double told_ns);

  // nullptr: objects are not followed.
  void Follow(const profile::LiveSample* live) { live_.store(live, std::memory_order_release); }
  // Some of the handles that are to be destroyed; only inside an allocation's callback, and while
  // the runtime is suspended (GivenUpHandles). False: there were none.
  bool DestroyGivenUp();
  // nullptr: the callers of async methods are not followed. Before the first sample.
  void FollowAsync(const AsyncTypes* types) { async_ = types; }
  void SetNativeMap(const NativeMap* map) { native_.store(map, std::memory_order_release); }
  // Why samples are only counted. Tables: they are made anew. Unload: something was unloaded, and
  // addresses may mean something else until the agent's thread has seen to it.
  static constexpr uint32_t kForTables = 1, kForUnload = 2;
  void Pause(uint32_t why) { paused_.fetch_or(why, std::memory_order_seq_cst); }
  bool paused(uint32_t why) const { return (paused_.load(std::memory_order_seq_cst) & why) != 0; }
  void Resume(uint32_t why) { paused_.fetch_and(~why, std::memory_order_seq_cst); }
  // Frames are numbered anew from now on; while it is paused.
  void NumberAnew() { numbering_.fetch_add(1, std::memory_order_acq_rel); }
  uint32_t numbering() const { return numbering_.load(std::memory_order_acquire); }
  // When they are sampled at all: words of SampleWindow.
  std::atomic<uint64_t> allocation_window{SampleWindow::kAlways},
      throw_window{SampleWindow::kAlways};
  std::atomic<uint32_t> gcs_begun{0};
  int64_t start_ns = 0;  // CLOCK_MONOTONIC at the agent's start

 private:
  // `async`: the thread is in cooperative mode, so that no object moves.
  size_t Walk(Shard& shard, Registers from, bool async = false);
  void AddAsyncCallers(Shard& shard, const StackBounds& own, size_t* count);
  bool Snapshot(uint32_t (&frames)[kMaxDepth], size_t* count);
  void Compare(Shard& shard, size_t count);
  void Fold(Shard& shard, ShardTable& table, const Allocation& a, Registers from, int64_t now_ns,
            uint32_t window);
  template <class TakeIn>
  void OnOwnShard(TakeIn&& take_in);
  void FoldEvent(Shard& shard, ShardTable& table, std::span<const uint32_t> stack, ShardKey key,
                 const profile::Sums& sums);
  void TakeHandle(Shard& shard, ShardTable& table, uint32_t entry, const Allocation& a,
                  int64_t now_ns);

  ICorProfilerInfo* info_;
  CodeTable& code_;
  const LookupGate& gate_;
  ThrownNames& thrown_;
  const Options options_;
  Wake wake_;
  void* wake_context_;
  std::atomic<const profile::LiveSample*> live_{nullptr};
  std::atomic<const NativeMap*> native_{nullptr};
  const AsyncTypes* async_ = nullptr;
  std::atomic<uint32_t> paused_{0}, numbering_{0};
};

}  // namespace clrscope::agent
