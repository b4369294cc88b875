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
    for (size_t i = 0; i < kWalkEnds; ++i) t.ends[i] += get(s.counts.ends[i]);
  });
  t.turned_away = ShardPool::Get().turned_away();
  t.events_lost += ShardPool::Get().turned_away(ShardPool::For::kEvent);
  return t;
}

}  // namespace clrscope::agent
