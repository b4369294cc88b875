// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/shard_pool.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <optional>

#include "agent/host/clock.h"
#include "agent/samples/lazy_memory.h"
#include "base/units.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kLooksApart = 100 * kMillisecond;
// Until a thread is looked for once more: what runs on fibers is never on its own stack, and a
// stack that the program made itself is never found.
constexpr int64_t kLookAgain = 10 * kSecond;

constinit ShardPool g_pool;  // in pages of zeros, until somebody comes

}  // namespace

ShardPool& ShardPool::Get() { return g_pool; }

Shard* ShardPool::TakeSpare() {
  for (std::atomic<Shard*>& spare : spare_) {
    if (spare.load(std::memory_order_relaxed) == nullptr) continue;
    if (Shard* s = spare.exchange(nullptr, std::memory_order_acq_rel)) {
      spare_count_.fetch_sub(1, std::memory_order_relaxed);
      return s;
    }
  }
  return nullptr;
}

Shard* ShardPool::Settle(Place* row, uintptr_t self) {
  for (size_t i = 0; i < kRow; ++i) {
    uintptr_t nobody = 0;
    if (row[i].thread.load(std::memory_order_relaxed) != 0 ||
        !row[i].thread.compare_exchange_strong(nobody, self, std::memory_order_acq_rel))
      continue;
    Shard* s = TakeSpare();
    if (s == nullptr) {
      row[i].thread.store(0, std::memory_order_release);
      return nullptr;
    }
    s->thread_id.store(static_cast<uint32_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);
    s->stack.Set({});
    s->stack_wanted.store(true, std::memory_order_relaxed);
    s->place.store(&row[i], std::memory_order_relaxed);
    s->Own(self);
    row[i].shard.store(s, std::memory_order_release);
    return s;
  }
  return nullptr;
}

Shard* ShardPool::Mine(uintptr_t self, For what) {
  Place* row = RowOf(self);
  for (size_t i = 0; i < kRow; ++i) {
    if (row[i].thread.load(std::memory_order_acquire) != self) continue;
    // None while that of a thread before, of the same identity, is being taken back.
    if (Shard* s = row[i].shard.load(std::memory_order_acquire)) return s;
    TurnAway(what);
    return nullptr;
  }
  Shard* s = Settle(row, self);
  if (s == nullptr) TurnAway(what);
  return s;
}

Shard* ShardPool::Make() {
  void* memory = LazyArray<unsigned char>(sizeof(Shard));
  if (memory == nullptr) return nullptr;
  auto* s = new (memory) Shard(static_cast<uint64_t>(MonotonicNs()) * 0x9E3779B97F4A7C15u ^ count_);
  if (!s->ok()) {
    s->~Shard();
    FreeLazy(static_cast<unsigned char*>(memory), sizeof(Shard));
    return nullptr;
  }
  ++count_;
  s->next = all_.load(std::memory_order_relaxed);
  all_.store(s, std::memory_order_release);
  return s;
}

void ShardPool::Refill() {
  for (std::atomic<Shard*>& spare : spare_) {
    if (spare.load(std::memory_order_relaxed) != nullptr) continue;
    Shard* s = idle_;
    if (s != nullptr) {
      idle_ = s->next_idle;
    } else if (s = Make(); s == nullptr) {
      return;
    }
    spare.store(s, std::memory_order_release);  // nobody else fills a place
    spare_count_.fetch_add(1, std::memory_order_relaxed);
  }
}

void ShardPool::Vacate(Shard& s) {
  auto* place = static_cast<Place*>(s.place.exchange(nullptr));
  place->shard.store(nullptr, std::memory_order_release);
  place->thread.store(0, std::memory_order_release);
  s.ReleasePages();
  // Nobody waits any more, and no end of it was told.
  for (OpenWait* wait : {&s.waits.contention, &s.waits.wait})
    if (wait->End()) Count(s.counts.unended);
  s.waits.inner = false;
  s.next_look_ns = 0;
  s.next_idle = idle_;
  idle_ = &s;
}

void ShardPool::FindStacks(int64_t now_ns) {
  if (now_ns < looked_ns_ + kLooksApart) return;
  std::optional<StackMap> map;
  ForEach([&](Shard& s) {
    if (!s.stack_wanted.load(std::memory_order_relaxed) || s.place.load() == nullptr) return;
    const StackBounds before = s.stack.Get();
    if (now_ns < s.next_look_ns) return;
    if (!map) map = StackMap::OfThisProcess();
    const auto* place = static_cast<const Place*>(s.place.load());
    const uintptr_t thread = place->thread.load(std::memory_order_relaxed);
    const bool main =
        s.thread_id.load(std::memory_order_relaxed) == static_cast<uint32_t>(::getpid());
    s.stack_wanted.store(false, std::memory_order_relaxed);
    const StackBounds found = map->Of(thread, main);
    s.next_look_ns = now_ns + kLookAgain;
    if (!(found == before)) s.stack.Set(found);
  });
  if (map) looked_ns_ = now_ns;
}

}  // namespace clrscope::agent
