// SPDX-License-Identifier: Apache-2.0
// One run of a simulated program under the eyes of the agent: AllocationSampled picks objects, the
// live sample follows them through GCs, the last of which is full and blocking.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "profile/estimate/reservoir.h"
#include "profile/estimate/type_sizes.h"
#include "profile/tables/series.h"
#include "profile/testing/program.h"

namespace clrscope::profile::testing {

struct LiveRun {
  std::vector<Estimate> allocated, live;  // by type
  // The same by object, for who adds up by something else.
  std::vector<std::pair<uint32_t, Estimate>> sampled, followed;
  double live_mean_bytes = 0;
  size_t most_followed = 0;
};

// Which objects the runtime samples: each by itself with the chance of its size. (Contexts and
// threads do not matter: trials have no memory, see SamplingSimulator.)
inline std::vector<uint32_t> SampledObjects(const Program& program, std::mt19937_64& random) {
  std::vector<uint32_t> sampled;
  for (const auto& [size, objects] : program.by_size) {
    const double log_miss = static_cast<double>(size) * std::log1p(-1 / kSamplingMeanBytes);
    double at = 0;
    for (;;) {
      const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
      const double p = -std::expm1(log_miss);
      at += std::floor(std::log(u) / std::log1p(-p));
      if (at >= static_cast<double>(objects.size())) break;
      sampled.push_back(objects[static_cast<size_t>(at)]);
      at += 1;
    }
  }
  std::sort(sampled.begin(), sampled.end());
  return sampled;
}

// An AllocationTick: the object that it names, and the bytes that it stands for.
struct TickedObject {
  uint32_t index = 0;
  double amount = 0;
};

// By AllocationSampled, or by AllocationTick when there are `ticks`.
inline LiveRun RunLive(const Program& program, size_t cap, uint64_t seed,
                       const std::vector<TickedObject>& ticks = {}) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> sampled;
  if (ticks.empty()) sampled = SampledObjects(program, random);
  for (const TickedObject& t : ticks) sampled.push_back(t.index);
  LiveRun run;
  run.allocated.resize(program.types);
  run.live.resize(program.types);

  std::vector<std::map<uint16_t, Sums>> flows(program.types);
  LiveSample::Options options;
  options.cap = cap;
  options.seed = seed;
  options.source = ticks.empty() ? Source::kSampled : Source::kTick;
  LiveSample live(options);
  constexpr uint32_t kGcs = 150;
  const auto end = static_cast<uint32_t>(program.objects.size());
  size_t next = 0;
  for (uint32_t gc = 0; gc <= kGcs; ++gc) {
    const uint32_t now = gc == kGcs ? end : end / kGcs * gc;
    for (; next < sampled.size() && sampled[next] < now; ++next) {
      const SimObject& o = program.objects[sampled[next]];
      flows[o.type][SizeClass(o.size)] += Sums{1, o.size, 0};
      LiveObject object;
      object.handle = sampled[next];
      object.size = o.size;
      if (!ticks.empty()) object.amount = ticks[next].amount;
      object.type = o.type;
      object.kind = o.kind;
      object.alloc_gc = gc;
      live.Add(object);
      run.most_followed = std::max(run.most_followed, live.size());
    }
    const GcPass pass{gc,
                      static_cast<int8_t>(gc == kGcs || gc % 30 == 0 ? 2
                                          : gc % 6 == 0              ? 1
                                                                     : 0),
                      false};
    live.AfterGcs({&pass, 1}, now, [&](uint64_t handle, int8_t* generation) {
      // A full GC finds everything of the end that is reachable at the end.
      return program.objects[handle].death > now + (gc == kGcs ? 0 : 1) && *generation >= 0;
    });
  }
  for (const uint32_t i : sampled)
    run.sampled.push_back({i, EstimateSampled(1, program.objects[i].size)});
  for (const LiveObject& o : live.objects())
    run.followed.push_back({static_cast<uint32_t>(o.handle), live.ValueOf(o)});
  // As MarkTypeSizes does for a recording.
  TypeSizes sizes;
  for (const auto& [i, value] : run.sampled) sizes.Add(program.objects[i].type, value);
  const auto mark = [&](uint32_t i, Estimate& value) {
    value.many_sizes = sizes.many(program.objects[i].type);
  };
  for (auto& [i, value] : run.sampled) mark(i, value);
  for (auto& [i, value] : run.followed) {
    mark(i, value);
    run.live[program.objects[i].type] += value;
  }
  run.live_mean_bytes = live.live_mean_bytes();
  for (uint32_t type = 0; type < program.types; ++type) {
    for (const auto& [size_class, sums] : flows[type])
      run.allocated[type] +=
          EstimateOf(SeriesKey::Make(4, type, HeapKind::kSoh, Source::kSampled, size_class), sums);
    run.allocated[type].many_sizes = sizes.many(type);
  }
  return run;
}

}  // namespace clrscope::profile::testing
