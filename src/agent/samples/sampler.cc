// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/sampler.h"

#include "agent/async/async_callers.h"
#include "agent/host/clock.h"
#include "agent/samples/given_up_handles.h"

namespace clrscope::agent {
namespace {

// Below it the runtime's own walk, which puts whole contexts on the stack, is not called.
constexpr uintptr_t kShallow = 48 * 1024;

HResult CollectFrame(FunctionId function, uintptr_t ip, FrameInfo, uint32_t, uint8_t*,
                     void* context) {
  return static_cast<SnapshotCollector*>(context)->Add(function, ip) ? kOk : kAbort;
}

}  // namespace

bool IsLeftOut(CodeTable& code, uint32_t frame) {
  if (frame == kNativeFrame) return true;
  const CodeTable::Frame* f = code.frame(frame);
  return f != nullptr && (f->dynamic.load(std::memory_order_relaxed) || code.is_native(frame));
}

bool Sampler::Snapshot(uint32_t (&frames)[kMaxDepth], size_t* count) {
  SnapshotCollector collector(code_, frames);
  // Its result is of no use: cutting a walk short is an "error", too.
  (void)info_->DoStackSnapshot(0, CollectFrame, 0, &collector, nullptr, 0);
  *count = collector.count();
  return *count != 0;
}

// The runtime's walk has the last word in a self-test; but it leaves dynamic methods out.
void Sampler::Compare(Shard& shard, size_t count) {
  const uint32_t* frames = shard.frames;
  const uint32_t* other = shard.other_frames;
  size_t others = 0;
  Snapshot(shard.other_frames, &others);
  size_t i = 0, j = 0;
  for (;; ++i, ++j) {
    while (i < count && IsLeftOut(code_, frames[i])) ++i;
    while (j < others && IsLeftOut(code_, other[j])) ++j;
    if (i == count || j == others) break;
    if (frames[i] == other[j]) continue;
    const CodeTable::Frame* a = code_.frame(frames[i]);
    const CodeTable::Frame* b = code_.frame(other[j]);
    if (a == nullptr || b == nullptr) break;
    const uintptr_t fa = a->function.load(std::memory_order_acquire);
    const uintptr_t fb = b->function.load(std::memory_order_acquire);
    if (fb == 0) {  // not looked at yet: the next time
      Count(shard.counts.selftest_skipped);
      return;
    }
    if (fa != fb) break;
  }
  Count(i == count && j == others ? shard.counts.selftest_equal : shard.counts.selftest_different);
}

// Who awaits takes the place of the frames by which the thread pool resumed the method.
void Sampler::AddAsyncCallers(Shard& shard, const StackBounds& own, size_t* count) {
  const int64_t begin_ns = MonotonicNs();
  const AsyncFollowed followed = FollowAsyncCallers(
      code_, *async_, own, {shard.frames, shard.window, shard.spans, shard.frame_words}, count);
  if (followed.end == AsyncEnd::kNotResumed) return;
  Count(shard.counts.async_ends[static_cast<size_t>(followed.end)]);
  if (followed.several) Count(shard.counts.async_several);
  if (followed.new_type) wake_(wake_context_);
  Count(shard.counts.async_ns, static_cast<uint64_t>(MonotonicNs() - begin_ns));
}

// Frame ids go to shard.frames.
size_t Sampler::Walk(Shard& shard, Registers from, bool async) {
  size_t count = 0;
  const StackBounds own = shard.stack.Get();
  const bool on_own = own.Holds(from.sp);
  const uint32_t known = code_.frame_count();
  uint32_t fresh = 0;
  if (!on_own && !shard.stack_wanted.load(std::memory_order_relaxed)) {
    shard.stack_wanted.store(true, std::memory_order_relaxed);
    wake_(wake_context_);
  }
  if (!options_.snapshots) {
    const WalkEnd end =
        WalkStack(code_, native_.load(std::memory_order_acquire), from, own,
                  {shard.frames, shard.window, shard.spans, shard.frame_words}, &count,
                  options_.native ? NativeRuns::kEach : NativeRuns::kOne, &fresh);
    Count(shard.counts.ends[static_cast<size_t>(end)]);
    if (end == WalkEnd::kDone) {
      if (options_.selftest) Compare(shard, count);
      if (async && async_ != nullptr) AddAsyncCallers(shard, own, &count);
      return count;
    }
  }
  bool unnamed = false;
  if (on_own && from.sp - own.low < kShallow) {
    Count(shard.counts.shallow);
  } else {
    Count(shard.counts.snapshots);
    if (!Snapshot(shard.frames, &count)) Count(shard.counts.snapshot_failed);
    unnamed = code_.LeaveUnnamed(fresh);
  }
  // Not before: the snapshot says whose code the new addresses are in.
  if (unnamed || code_.frame_count() != known) wake_(wake_context_);
  return count;
}

bool Sampler::DestroyGivenUp() {
  const auto destroy = [this](uint64_t handle) {
    (void)info_->DestroyHandle(
        reinterpret_cast<ObjectHandle>(handle));  // NOLINT(performance-no-int-to-ptr)
  };
  return GivenUpHandles::Get().DestroySome(destroy) != 0;
}

void Sampler::TakeHandle(Shard& shard, ShardTable& table, uint32_t entry, const Allocation& a,
                         int64_t now_ns) {
  const profile::LiveSample* live = live_.load(std::memory_order_acquire);
  if (live == nullptr || a.address == 0) return;
  ShardBirth birth;
  if (!live->Admit(a.size, shard.random, &birth.level)) return;
  // The object is not initialised yet: nothing but its address may be used. The handle holds that.
  ObjectHandle handle = nullptr;
  if (!Succeeded(info_->CreateHandle(a.address, kWeakHandle, &handle)) || handle == nullptr) {
    Count(shard.counts.handle_failed);
    return;
  }
  birth.handle = reinterpret_cast<uint64_t>(handle);
  birth.size = a.size;
  birth.amount = static_cast<double>(a.amount);
  birth.alloc_ns = now_ns - start_ns;
  birth.alloc_gc = gcs_begun.load(std::memory_order_acquire);
  birth.entry = entry;
  if (a.activity != nullptr) birth.activity = *a.activity;
  if (table.AddBirth(birth)) return;
  (void)info_->DestroyHandle(handle);
  Count(shard.counts.births_lost);
}

void Sampler::Fold(Shard& shard, ShardTable& table, const Allocation& a, Registers from,
                   int64_t now_ns, uint32_t window) {
  const size_t count = Walk(shard, from, /*async=*/true);
  Count(shard.counts.frames, count);
  // The type is there, as an object of it is being made.
  ShardKey key{a.type, a.kind, gate_.epoch()};
  key.window = window;
  const uint32_t entry = table.Fold({shard.frames, count}, key);
  if (entry == ShardTable::kNone) {
    Count(shard.counts.full);
    shard.filling.store(true, std::memory_order_relaxed);
    wake_(wake_context_);
    return;
  }
  const auto size = static_cast<double>(a.size);
  profile::Estimate& value = table.entry(entry).value;
  if (options_.source == profile::Source::kSampled) {
    value += profile::EstimateSampled(1, size);
  } else if (options_.source == profile::Source::kTick) {
    value += profile::EstimateTick(1, static_cast<double>(a.amount), size);
  } else {
    profile::Estimate one;
    one.samples = 1;
    one.count = one.seen_count = 1;
    one.amount = one.seen_amount = size;
    value += one;
  }
  TakeHandle(shard, table, entry, a, now_ns);
  if (!table.filling()) return;
  shard.filling.store(true, std::memory_order_relaxed);
  wake_(wake_context_);
}

void Sampler::OnAllocation(const Allocation& a, Registers from) {
  const int64_t begin_ns = MonotonicNs();
  ShardPool& pool = ShardPool::Get();
  const uintptr_t self = ShardPool::ThisThread();
  Shard* shard = pool.Mine(self);
  if (shard == nullptr) {
    wake_(wake_context_);  // there are to be more
    return;
  }
  ShardTable* table = shard->Enter(self);
  if (table == nullptr) {
    pool.TurnAway();
    return;
  }
  if (paused_.load(std::memory_order_seq_cst) != 0) {
    Count(shard->counts.paused);
  } else if (const uint64_t window = allocation_window.load(std::memory_order_relaxed);
             !SampleWindow::Holds(window, begin_ns - start_ns)) {
    Count(shard->counts.outside);
  } else {
    Fold(*shard, *table, a, from, begin_ns, SampleWindow::TagOf(window));
    (void)DestroyGivenUp();
    Count(shard->counts.samples);
    Count(shard->counts.nanoseconds, static_cast<uint64_t>(MonotonicNs() - begin_ns));
  }
  shard->Leave();
}

}  // namespace clrscope::agent
