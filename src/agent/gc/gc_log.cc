// SPDX-License-Identifier: Apache-2.0
#include "agent/gc/gc_log.h"

#include <algorithm>

#include "clr/gc_events.h"

namespace clrscope::agent {
namespace {

constexpr size_t kMaxOpen = 64;
constexpr size_t kMaxDone = 100'000;  // of one interval

}  // namespace

bool GcRing::Push(const GcNote& note) {
  uint64_t at = head_.load(std::memory_order_relaxed);
  for (;;) {
    Slot& s = slots_[at % kSize];
    const uint64_t turn = s.turn.load(std::memory_order_acquire);
    if (turn == at / kSize * 2) {
      if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
      s.note = note;
      s.turn.store(turn + 1, std::memory_order_release);
      return true;
    }
    if (turn < at / kSize * 2) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    at = head_.load(std::memory_order_relaxed);
  }
}

bool GcRing::Pop(GcNote& out) {
  Slot& s = slots_[tail_ % kSize];
  if (s.turn.load(std::memory_order_acquire) != tail_ / kSize * 2 + 1) return false;
  out = s.note;
  s.turn.store((tail_ / kSize + 1) * 2, std::memory_order_release);
  ++tail_;
  return true;
}

void GcHistory::Add(const GcNote& n) {
  switch (n.kind) {
    case GcNote::Kind::kSuspend:
      suspended_at_ = n.time_ns;
      break;
    case GcNote::Kind::kStart: {
      Open o;
      o.gc.number = n.number;
      o.gc.generation = n.generation;
      o.gc.type = n.type;
      o.gc.reason = n.reason;
      o.gc.start_ns = n.time_ns;
      o.index = begun_++;
      o.thread = n.thread;
      o.thread_ns = n.thread_ns;
      if (open_.size() == kMaxOpen) open_.pop_front();  // its end was lost
      open_.push_back(o);
      break;
    }
    case GcNote::Kind::kEnd:
      for (Open& o : open_) {
        if (o.gc.number != n.number || o.ended) continue;
        o.ended = true;
        o.gc.end_ns = n.time_ns;
        passes_.push_back({o.index, o.gc.generation, o.gc.type == clr::kBackgroundGc});
        if (o.thread == n.thread && o.gc.type != clr::kBackgroundGc)
          work_.emplace_back(n.thread, std::max<int64_t>(0, n.thread_ns - o.thread_ns));
      }
      break;
    case GcNote::Kind::kHeapStats:
      // It follows the end of the GC that it is about.
      for (auto o = open_.rbegin(); o != open_.rend(); ++o) {
        if (!o->ended || o->gc.size_after[0] >= 0) continue;
        o->gc.size_after = n.sizes;
        break;
      }
      break;
    case GcNote::Kind::kRestart:
      for (auto o = open_.begin(); o != open_.end();) {
        if (suspended_at_ >= 0 && o->gc.start_ns >= suspended_at_)
          o->gc.pause_ns = std::max<int64_t>(o->gc.pause_ns, 0) + n.time_ns - suspended_at_;
        if (o->ended) {
          if (done_.size() < kMaxDone) done_.push_back(o->gc);
          o = open_.erase(o);
        } else {
          ++o;
        }
      }
      suspended_at_ = -1;
      break;
  }
}

std::vector<profile::GcPass> GcHistory::TakePasses() { return std::exchange(passes_, {}); }

std::vector<profile::IntervalGc> GcHistory::TakeGcs() { return std::exchange(done_, {}); }

}  // namespace clrscope::agent
