// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler.h"

#include <span>

#include "agent/clock.h"

namespace clrscope::agent {
namespace {

HResult CollectFrame(FunctionId function, uintptr_t ip, FrameInfo, uint32_t, uint8_t*,
                     void* context) {
  return static_cast<SnapshotCollector*>(context)->Add(function, ip) ? kOk : kAbort;
}

bool IsLeftOut(CodeTable& code, uint32_t id) {
  if (id == kNativeFrame) return true;
  const CodeTable::Frame* f = code.frame(id);
  return f != nullptr && f->dynamic.load(std::memory_order_relaxed);
}

}  // namespace

bool Sampler::Snapshot(uint32_t (&frames)[kMaxDepth], size_t* count) {
  SnapshotCollector collector(code_, frames);
  // Its result is of no use: cutting a walk short is an "error", too.
  (void)info_->DoStackSnapshot(0, CollectFrame, 0, &collector, nullptr, 0);
  *count = collector.count();
  return *count != 0;
}

// The runtime's walk has the last word in a self-test; but it leaves dynamic methods out.
void Sampler::Compare(Shard& shard, const uint32_t* frames, size_t count) {
  uint32_t other[kMaxDepth];
  size_t others = 0;
  Snapshot(other, &others);
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

size_t Sampler::Walk(Shard& shard, Registers from, uint32_t (&frames)[kMaxDepth]) {
  size_t count = 0;
  if (!options_.snapshots) {
    if (shard.stack_top == 0 || from.sp >= shard.stack_top) shard.stack_top = StackTop(from.sp);
    const WalkEnd end = WalkStack(code_, native_.load(std::memory_order_acquire), from,
                                  shard.stack_top, frames, &count);
    Count(shard.counts.ends[static_cast<size_t>(end)]);
    if (end == WalkEnd::kDone) {
      if (options_.selftest) Compare(shard, frames, count);
      return count;
    }
  }
  Count(shard.counts.snapshots);
  if (!Snapshot(frames, &count)) Count(shard.counts.snapshot_failed);
  wake_(wake_context_);  // there may be new addresses
  return count;
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
  if (table.AddBirth(birth)) return;
  (void)info_->DestroyHandle(handle);
  Count(shard.counts.births_lost);
}

void Sampler::OnAllocation(const Allocation& a, Registers from) {
  const int64_t begin_ns = MonotonicNs();
  Shard* shard = ShardPool::Mine();
  if (shard == nullptr) return;
  ShardTable* table = shard->Enter();
  if (table == nullptr) return;
  if (paused.load(std::memory_order_seq_cst)) {
    Count(shard->counts.paused);
    shard->Leave();
    return;
  }
  uint32_t frames[kMaxDepth];
  const size_t count = Walk(*shard, from, frames);
  const uint32_t entry = table->Fold({frames, count}, a.type, a.kind);
  if (entry == ShardTable::kNone) {
    Count(shard->counts.full);
    wake_(wake_context_);
  } else {
    const auto size = static_cast<double>(a.size);
    profile::Estimate& value = table->entry(entry).value;
    if (options_.source == profile::Source::kSampled) {
      value += profile::EstimateSampled(1, size);
    } else if (options_.source == profile::Source::kTick) {
      value += profile::EstimateTick(1, static_cast<double>(a.amount), size);
    } else {
      profile::Estimate one;
      one.samples = 1;
      one.objects = one.seen_objects = 1;
      one.bytes = one.seen_bytes = size;
      value += one;
    }
    TakeHandle(*shard, *table, entry, a, begin_ns);
    if (table->filling()) wake_(wake_context_);
  }
  Count(shard->counts.samples);
  Count(shard->counts.nanoseconds, static_cast<uint64_t>(MonotonicNs() - begin_ns));
  shard->Leave();
}

}  // namespace clrscope::agent
