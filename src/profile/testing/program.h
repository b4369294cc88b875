// SPDX-License-Identifier: Apache-2.0
// Simulated programs: a fixed sequence of allocations of which everything is known, so that what an
// estimator makes of its samples can be held against the truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/estimate/estimate.h"

namespace clrscope::profile::testing {

// The time is the number of objects that were allocated before.
struct SimObject {
  uint32_t size = 0;  // bytes, a multiple of 8
  uint32_t death = 0;
  uint32_t site = 0;
  uint16_t thread = 0;
  uint16_t type = 0;
  HeapKind kind = HeapKind::kSoh;
};
inline constexpr uint32_t kForever = ~0u;

struct SimTruth {
  double bytes = 0, objects = 0;
  SimTruth& operator+=(const SimTruth& o) {
    bytes += o.bytes;
    objects += o.objects;
    return *this;
  }
};

struct Program {
  Program(std::string its_name, size_t its_types, size_t its_threads)
      : name(std::move(its_name)), types(its_types), threads(its_threads) {}

  std::string name;
  size_t types, threads;
  size_t sites = 0;
  uint64_t gen0_budget = 16 << 20;  // bytes between two GCs
  std::vector<SimObject> objects;

  std::vector<SimTruth> allocated, live;  // by type; live: at the end
  // Objects of one size, in order: they have the same chance to be sampled.
  std::map<uint32_t, std::vector<uint32_t>> by_size;

  void Add(uint32_t type, double size, uint32_t lives_for, HeapKind kind = HeapKind::kSoh) {
    SimObject o;
    o.size = (std::max(24u, static_cast<uint32_t>(size)) + 7) & ~7u;
    const auto now = static_cast<uint32_t>(objects.size());
    o.site = type * kSitesPerType + static_cast<uint32_t>(SiteOf(now));
    o.death = lives_for == kForever ? kForever : now + lives_for;
    o.type = static_cast<uint16_t>(type);
    o.thread = static_cast<uint16_t>(Mixed(now / kObjectsInARow, Random()) % threads);
    o.kind = kind;
    objects.push_back(o);
  }
  void Finish() {
    for (const SimObject& o : objects) sites = std::max<size_t>(sites, o.site + size_t{1});
    allocated.assign(types, {});
    live.assign(types, {});
    for (uint32_t i = 0; i < objects.size(); ++i) {
      const SimObject& o = objects[i];
      const SimTruth one{static_cast<double>(o.size), 1};
      allocated[o.type] += one;
      if (o.death > objects.size()) live[o.type] += one;
      by_size[o.size].push_back(i);
    }
  }
  // Of the program itself, not of who looks at it: the same in every run.
  uint64_t Random() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
  double Pick(uint64_t n) { return static_cast<double>(Random() % n); }
  double Unit() { return static_cast<double>(Random()) / 0x1p31; }
  uint64_t state = 88172645463325252u;

 private:
  // Three sites for each type: of 5 in 8 objects, 1 in 4 and 1 in 8, in no order.
  static constexpr uint32_t kSitesPerType = 3;
  // What a thread allocates before another one does: 7 to 14 objects in recorded programs.
  static constexpr uint32_t kObjectsInARow = 10;
  // `random` keeps the program's random numbers in step.
  static uint32_t Mixed(uint32_t row, uint64_t /*random*/) {
    uint64_t h = (row + uint64_t{1}) * 0x9E3779B97F4A7C15u;
    h ^= h >> 31;
    return static_cast<uint32_t>((h * 0xD6E8FEB86659FD93u) >> 33);
  }
  static int SiteOf(uint32_t object) {
    const uint32_t r = (object * 2654435761u) >> 29;
    return r < 5 ? 0 : r < 7 ? 1 : 2;
  }
};

// Bounded Pareto with exponent 1.1, in steps of a twelfth of a power of two.
inline double HeavyTailed(double u, double low, double high) {
  const double x = low * std::pow(1 - u * (1 - std::pow(low / high, 1.1)), -1 / 1.1);
  return std::exp2(std::round(std::log2(x) * 12) / 12);
}

// 32, 8,152 and 64 bytes in turn: each context of 8 KB is asked for by one of two types only.
inline Program Periodic() {
  Program p("periodic", 3, 2);
  for (int i = 0; i < 60'000; ++i) {
    p.Add(0, 32, i % 2 == 0 ? kForever : 50);
    p.Add(1, 8152, i % 5 == 0 ? kForever : 500);
    p.Add(2, 64, i % 3 != 0 ? kForever : 5'000);
  }
  p.Finish();
  return p;
}

// Long stretches of one type, now and then a burst of another, of which some stay.
inline Program Bursty() {
  Program p("bursty", 4, 4);
  for (int burst = 0; burst < 40; ++burst) {
    for (int i = 0; i < 15'000; ++i) p.Add(0, 40, i % 20 == 0 ? 300'000 : 200);
    for (int i = 0; i < 3'000; ++i) p.Add(1, 1'024, i % 2 == 0 ? kForever : 3'000);
    for (int i = 0; i < 500; ++i) p.Add(2, 4'096 + 8 * (i % 100), burst % 4 == 0 ? kForever : 900);
    for (int i = 0; i < 3; ++i) p.Add(3, 90'000, i == 0 ? kForever : 30'000, HeapKind::kLoh);
  }
  p.Finish();
  return p;
}

// Most objects are small and die young, most bytes are neither.
inline Program HeavyTails() {
  Program p("heavy-tailed", 4, 3);
  for (int i = 0; i < 400'000; ++i) {
    const double size = HeavyTailed(p.Unit(), 24, 2e6);
    const double life = HeavyTailed(p.Unit(), 20, 4e7);
    p.Add(static_cast<uint32_t>(p.Random() % 4), size,
          p.Unit() < 0.2 ? kForever : static_cast<uint32_t>(life),
          size >= 85'000 ? HeapKind::kLoh : HeapKind::kSoh);
  }
  p.Finish();
  return p;
}

// Two types that are never let go of, a large and a small one, among a lot of garbage.
inline Program Leaking() {
  Program p("leaking", 4, 2);
  for (int i = 0; i < 900'000; ++i) {
    p.Add(0, 24 + 8 * p.Pick(64), static_cast<uint32_t>(p.Random() % 2'000));
    if (i % 30 == 0) p.Add(1, 2'000, kForever);
    if (i % 4 == 0) p.Add(2, 56, kForever);
    if (i % 300 == 0) p.Add(3, 96, kForever);
  }
  p.Finish();
  return p;
}

// Caches of a fixed number of entries: one replaces its oldest, one is thrown away as a whole.
inline Program Cached() {
  Program p("cached", 4, 4);
  constexpr int kObjects = 500'000;
  for (int i = 0; i < kObjects; ++i) {
    p.Add(0, 32 + 8 * p.Pick(16), 700);
    if (i % 4 == 0) p.Add(1, 1'500 + 8 * (i % 64), 150'000);  // the oldest goes
    if (i % 5 == 0) p.Add(2, 400, i < kObjects - kObjects / 8 ? 40'000 : kForever);
    if (i % 100 == 0) p.Add(3, 20'000, i % 400 == 0 ? kForever : 60'000);
  }
  p.Finish();
  return p;
}

inline Program ManyThreads() {
  Program p("many threads", 6, 64);
  static constexpr double kSizes[] = {24, 48, 200, 1'000, 4'000, 40'000};
  static constexpr int kEach[] = {4, 4, 4, 2, 3, 5};
  for (int i = 0; i < 600'000; ++i) {
    const auto r = static_cast<uint32_t>(p.Random() % 1000);
    const uint32_t type = r < 400 ? 0 : r < 700 ? 1 : r < 900 ? 2 : r < 970 ? 3 : r < 997 ? 4 : 5;
    p.Add(type, kSizes[type],
          static_cast<int>(p.Random() % 10) < kEach[type] ? kForever : 1'000 + r);
  }
  p.Finish();
  return p;
}

// Arrays of the large object heap and buffers of the pinned one.
inline Program LargeAndPinned() {
  Program p("LOH and POH", 4, 2);
  for (int i = 0; i < 200'000; ++i) {
    p.Add(0, 64, 100);
    if (i % 200 == 0)
      p.Add(1, HeavyTailed(p.Unit(), 85'000, 4e6), i % 600 == 0 ? kForever : 3'000, HeapKind::kLoh);
    if (i % 25 == 0) p.Add(2, 4'096, i % 50 == 0 ? kForever : 20'000, HeapKind::kPoh);
    if (i % 400 == 0) p.Add(3, 65'536, i % 800 == 0 ? kForever : 9'000, HeapKind::kPoh);
  }
  p.Finish();
  return p;
}

inline std::vector<Program (*)()> AllPrograms() {
  return {Periodic, Bursty, HeavyTails, Leaking, Cached, ManyThreads, LargeAndPinned};
}

}  // namespace clrscope::profile::testing
