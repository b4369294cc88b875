// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/shard_totals.h"

#include "agent/samples/shard_pool.h"

namespace clrscope::agent {

ShardTotals SumShards() {
  ShardTotals t;
  ShardPool::Get().ForEach([&](const Shard& s) {
    const auto get = [](const std::atomic<uint64_t>& v) {
      return v.load(std::memory_order_relaxed);
    };
    t.samples += get(s.counts.samples);
    t.nanoseconds += get(s.counts.nanoseconds);
    t.snapshots += get(s.counts.snapshots);
    t.snapshot_failed += get(s.counts.snapshot_failed);
    t.full += get(s.counts.full);
    t.paused += get(s.counts.paused);
    t.births_lost += get(s.counts.births_lost);
    t.handle_failed += get(s.counts.handle_failed);
    t.equal += get(s.counts.selftest_equal);
    t.different += get(s.counts.selftest_different);
    t.shallow += get(s.counts.shallow);
    t.skipped += get(s.counts.selftest_skipped);
    t.events += get(s.counts.events);
    t.event_ns += get(s.counts.event_ns);
    t.events_lost += get(s.counts.events_lost);
    t.types_capped += get(s.counts.types_capped);
    t.unended += get(s.counts.unended);
    t.frames += get(s.counts.frames);
    t.outside += get(s.counts.outside);
    t.throws += get(s.counts.throws);
    t.throw_ns += get(s.counts.throw_ns);
    t.throw_frames += get(s.counts.throw_frames);
    t.throws_outside += get(s.counts.throws_outside);
    for (size_t i = 0; i < kAsyncEnds; ++i) t.async_ends[i] += get(s.counts.async_ends[i]);
    t.async_ns += get(s.counts.async_ns);
    t.async_several += get(s.counts.async_several);
    for (size_t i = 0; i < kWalkEnds; ++i) t.ends[i] += get(s.counts.ends[i]);
  });
  t.turned_away = ShardPool::Get().turned_away();
  t.events_lost += ShardPool::Get().turned_away(ShardPool::For::kEvent);
  return t;
}

ShardTotals operator-(ShardTotals now, const ShardTotals& before) {
  constexpr uint64_t ShardTotals::*kCosts[] = {
      &ShardTotals::samples,       &ShardTotals::nanoseconds, &ShardTotals::frames,
      &ShardTotals::outside,       &ShardTotals::events,      &ShardTotals::event_ns,
      &ShardTotals::throws,        &ShardTotals::throw_ns,    &ShardTotals::throw_frames,
      &ShardTotals::throws_outside};
  for (uint64_t ShardTotals::*const cost : kCosts) now.*cost -= before.*cost;
  return now;
}

}  // namespace clrscope::agent
