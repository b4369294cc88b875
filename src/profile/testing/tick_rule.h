// SPDX-License-Identifier: Apache-2.0
// Which objects AllocationTick names, by the rule of the workstation GC.
//
// A thread allocates from its context. An object that does not fit asks the heap for more: for
// 8,200 bytes, or for its own size when that is larger. Where the heap's last grant went to the
// same context, the new bytes lie behind the old ones and what was left is used; otherwise the rest
// is lost. Large and pinned objects ask for themselves. Each kind of heap adds up what it granted,
// lost rests included; past 100 KB it names the object that asked, and begins anew from zero. A GC
// takes all contexts away. Source: dotnet/runtime src/coreclr/gc/allocation.cpp (gc.cpp before .NET
// 11): adjust_limit_clr, limit_from_size, update_alloc_info; CLR_SIZE in gcpriv.h
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "profile/testing/program.h"

namespace clrscope::profile::testing {

inline constexpr uint64_t kTickStride = 100 * 1024;
inline constexpr uint64_t kGrant = 8 * 1024 + 32 - 24;  // less a minimal object that ends it

struct SimTick {
  uint32_t object = 0;  // its place in the program
  HeapKind kind = HeapKind::kSoh;
  double size = 0, amount = 0;
};

class TickRule {
 public:
  // `random`: how full contexts and strides are when one begins to look.
  TickRule(size_t threads, uint64_t gen0_budget, std::mt19937_64& random)
      : left_(threads), budget_(gen0_budget) {
    for (uint64_t& l : left_) l = random() % kGrant;
    for (uint64_t& r : running_) r = random() % kTickStride;
  }
  // The bytes that the tick tells, or 0 when `o` makes none.
  uint64_t Allocate(const SimObject& o) {
    const auto heap = static_cast<size_t>(o.kind);
    if (o.kind != HeapKind::kSoh) return Grant(heap, o.size);
    uint64_t& left = left_[o.thread];
    if (o.size <= left) {
      left -= o.size;
      return 0;
    }
    if (since_gc_ > budget_) {
      std::fill(left_.begin(), left_.end(), 0);
      since_gc_ = 0;
    }
    const uint64_t grant = std::max<uint64_t>(o.size, kGrant);
    left = (last_ == o.thread ? left : 0) + grant - o.size;
    last_ = o.thread;
    since_gc_ += grant;
    return Grant(heap, grant);
  }

 private:
  uint64_t Grant(size_t heap, uint64_t bytes) {
    running_[heap] += bytes;
    return running_[heap] > kTickStride ? std::exchange(running_[heap], 0) : 0;
  }
  std::vector<uint64_t> left_;
  uint64_t budget_, since_gc_ = 0;
  uint32_t last_ = ~0u;  // the thread of the last grant
  uint64_t running_[3] = {};
};

inline std::vector<SimTick> TicksOf(const Program& program, std::mt19937_64& random) {
  TickRule rule(program.threads, program.gen0_budget, random);
  std::vector<SimTick> ticks;
  for (uint32_t i = 0; i < program.objects.size(); ++i) {
    const SimObject& o = program.objects[i];
    if (const uint64_t amount = rule.Allocate(o))
      ticks.push_back({i, o.kind, static_cast<double>(o.size), static_cast<double>(amount)});
  }
  return ticks;
}

}  // namespace clrscope::profile::testing
