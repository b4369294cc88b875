// SPDX-License-Identifier: Apache-2.0
// What happens on a thread of the program when an allocation is sampled: walk the stack, fold it
// into the thread's shard, take a weak handle. No lock, and no allocation but a thread's first.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/code_table.h"
#include "agent/com/corprof.h"
#include "agent/native_map.h"
#include "agent/shard.h"
#include "agent/stack_walk.h"
#include "profile/reservoir.h"

namespace clrscope::agent {

struct Allocation {
  profile::HeapKind kind = profile::HeapKind::kSoh;
  uint64_t type = 0;
  uint64_t size = 0;
  uint64_t amount = 0;  // AllocationTick: bytes that it stands for
  uint64_t address = 0;
};

class Sampler {
 public:
  struct Options {
    profile::Source source = profile::Source::kSampled;
    bool selftest = false;
    bool snapshots = false;
  };
  // Wakes the agent's thread; called on the program's threads.
  using Wake = void (*)(void* context);

  Sampler(ICorProfilerInfo* info, CodeTable& code, const Options& options, Wake wake, void* context)
      : info_(info), code_(code), options_(options), wake_(wake), wake_context_(context) {}

  // On the allocating thread, from within the runtime's callback.
  void OnAllocation(const Allocation& a, Registers from);

  // nullptr: objects are not followed.
  void Follow(const profile::LiveSample* live) { live_.store(live, std::memory_order_release); }
  void SetNativeMap(const NativeMap* map) { native_.store(map, std::memory_order_release); }
  std::atomic<bool> paused{false};  // nobody may be in the code table
  std::atomic<uint32_t> gcs_begun{0};
  int64_t start_ns = 0;  // CLOCK_MONOTONIC at the agent's start

 private:
  size_t Walk(Shard& shard, Registers from, uint32_t (&frames)[kMaxDepth]);
  bool Snapshot(uint32_t (&frames)[kMaxDepth], size_t* count);
  void Compare(Shard& shard, const uint32_t* frames, size_t count);
  void TakeHandle(Shard& shard, ShardTable& table, uint32_t entry, const Allocation& a,
                  int64_t now_ns);

  ICorProfilerInfo* info_;
  CodeTable& code_;
  const Options options_;
  Wake wake_;
  void* wake_context_;
  std::atomic<const profile::LiveSample*> live_{nullptr};
  std::atomic<const NativeMap*> native_{nullptr};
};

}  // namespace clrscope::agent
