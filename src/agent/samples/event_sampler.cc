// SPDX-License-Identifier: Apache-2.0
// Exceptions and waits, on the threads that they are of.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/host/clock.h"
#include "agent/samples/sampler.h"

namespace clrscope::agent {
namespace {

using profile::Source;

// Goes over a stack, leaf first, without what one way to walk it shows and the other does not.
class Called {
 public:
  Called(CodeTable& code, std::span<const uint32_t> frames) : code_(code), rest_(frames) { Skip(); }
  bool empty() const { return rest_.empty(); }
  void Next() {
    rest_ = rest_.subspan(1);
    Skip();
  }
  // Whether two stacks are the same from here on. An address may have got another id between them.
  static bool Equal(Called a, Called b) {
    for (; !a.empty() && !b.empty(); a.Next(), b.Next())
      if (a.rest_[0] != b.rest_[0] && a.Address() != b.Address()) return false;
    return a.empty() && b.empty();
  }

 private:
  uint64_t Address() const {
    const CodeTable::Frame* f = code_.frame(rest_[0]);
    return f == nullptr ? ~uint64_t{rest_[0]} : f->ip;
  }
  void Skip() {
    while (!rest_.empty() && IsLeftOut(code_, rest_[0])) rest_ = rest_.subspan(1);
  }
  CodeTable& code_;
  std::span<const uint32_t> rest_;
};

// Whether a wait begins within a contention: both stacks end in the same call, up to what the lock
// itself calls, as in analysis/families/locks/wait_pairs.cc.
bool IsWithin(CodeTable& code, std::span<const uint32_t> wait,
              std::span<const uint32_t> contention) {
  constexpr int kOfTheLock = 2;
  Called a(code, contention);
  for (int i = 0; i <= kOfTheLock && !a.empty(); ++i, a.Next()) {
    Called b(code, wait);
    for (int j = 0; j <= kOfTheLock && !b.empty(); ++j, b.Next())
      if (Called::Equal(a, b)) return true;
  }
  return false;
}

// The thread that had the shard has ended, and this one has its identity.
void TakeOver(Shard& shard, uint32_t thread) {
  for (OpenWait* wait : {&shard.waits.contention, &shard.waits.wait})
    if (wait->End()) Count(shard.counts.unended);
  shard.waits.inner = false;
  shard.thread_id.store(thread, std::memory_order_relaxed);
}

}  // namespace

template <class TakeIn>
void Sampler::OnOwnShard(TakeIn&& take_in) {
  const int64_t begin_ns = MonotonicNs();
  ShardPool& pool = ShardPool::Get();
  const uintptr_t self = ShardPool::ThisThread();
  Shard* shard = pool.Mine(self, ShardPool::For::kEvent);
  if (shard == nullptr) {
    wake_(wake_context_);  // there are to be more
    return;
  }
  ShardTable* table = shard->Enter(self);
  if (table == nullptr) {
    pool.TurnAway(ShardPool::For::kEvent);
    return;
  }
  const auto thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  if (shard->thread_id.load(std::memory_order_relaxed) != thread) TakeOver(*shard, thread);
  take_in(*shard, *table, begin_ns);
  Count(shard->counts.event_ns, static_cast<uint64_t>(MonotonicNs() - begin_ns));
  shard->Leave();
}

void Sampler::FoldEvent(Shard& shard, ShardTable& table, std::span<const uint32_t> stack,
                        ShardKey key, const profile::Sums& sums) {
  key.thread = shard.thread_id.load(std::memory_order_relaxed);
  const uint32_t entry = table.Fold(stack, key);
  if (entry == ShardTable::kNone) {
    Count(shard.counts.events_lost);
  } else {
    table.entry(entry).sums += sums;
    Count(shard.counts.events);
  }
  if (entry != ShardTable::kNone && !table.filling()) return;
  shard.filling.store(true, std::memory_order_relaxed);
  wake_(wake_context_);
}

void Sampler::OnThrow(Utf16View type, bool again, Registers from) {
  OnOwnShard([&](Shard& shard, ShardTable& table, int64_t now_ns) {
    if (paused_.load(std::memory_order_seq_cst) != 0) return Count(shard.counts.events_lost);
    const uint64_t window = throw_window.load(std::memory_order_relaxed);
    if (!SampleWindow::Holds(window, now_ns - start_ns)) return Count(shard.counts.throws_outside);
    ShardKey key;
    key.window = SampleWindow::TagOf(window);
    key.event = Source::kException;
    key.type = thrown_.FindOrAdd(type);
    if (key.type == ThrownNames::kOther) Count(shard.counts.types_capped);
    const size_t count = Walk(shard, from);
    Count(shard.counts.throw_frames, count);
    const uint64_t rethrown = again ? 1 : 0;
    FoldEvent(shard, table, {shard.frames, count}, key, {1, rethrown, 1 - rethrown});
    Count(shard.counts.throws);
    Count(shard.counts.throw_ns, static_cast<uint64_t>(MonotonicNs() - now_ns));
  });
}

void Sampler::OnWaitStart(Source source, uint64_t owner, Registers from) {
  OnOwnShard([&](Shard& shard, ShardTable&, int64_t now_ns) {
    if (paused_.load(std::memory_order_seq_cst) != 0) return Count(shard.counts.events_lost);
    const std::span<const uint32_t> stack(shard.frames, Walk(shard, from));
    OpenWaits& w = shard.waits;
    const bool contends = source == Source::kContention;
    w.inner = !contends && w.contention.is_open() && IsWithin(code_, stack, w.contention.stack());
    if (w.inner) return;
    // System.Threading.Lock writes no end when TryEnter gives up.
    if (w.contention.End()) Count(shard.counts.unended);
    OpenWait& open = contends ? w.contention : w.wait;
    if (!contends && open.End()) Count(shard.counts.unended);
    if (!open.Begin(stack, now_ns - start_ns, owner, numbering_.load(std::memory_order_acquire)))
      Count(shard.counts.events_lost);
  });
}

void Sampler::OnWaitStop(Source source, double told_ns) {
  OnOwnShard([&](Shard& shard, ShardTable& table, int64_t now_ns) {
    OpenWaits& w = shard.waits;
    if (source == Source::kWait && std::exchange(w.inner, false)) return;
    OpenWait& open = source == Source::kContention ? w.contention : w.wait;
    if (!open.End()) return;
    if (paused_.load(std::memory_order_seq_cst) != 0) return Count(shard.counts.events_lost);
    constexpr double kLongest = 1e18;  // 30 years
    const double ns =
        told_ns >= 0 ? told_ns : static_cast<double>(now_ns - start_ns - open.start_ns());
    ShardKey key;
    key.event = source;
    key.owner = open.owner();
    // The numbers of frames may mean others by now.
    const bool known = open.code() == numbering_.load(std::memory_order_acquire);
    if (!known) Count(shard.counts.snapshot_failed);
    const auto whole = static_cast<uint64_t>(std::clamp(ns, 0.0, kLongest));
    FoldEvent(shard, table, known ? open.stack() : std::span<const uint32_t>(), key, {1, whole, 1});
  });
}

}  // namespace clrscope::agent
