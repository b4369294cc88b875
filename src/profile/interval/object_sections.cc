// SPDX-License-Identifier: Apache-2.0
// What was allocated, what lives, who was born and died.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/interval/interval_sections.h"

namespace clrscope::profile::interval {
namespace {

// Which part of a flow a thread did is told in 1/65536, as a difference to its part of the samples:
// where all objects are of one size it is nothing.
constexpr double kShares = 65536;
int64_t ShareOf(double part, double flow, double samples) {
  if (flow <= 0) return 0;
  const double share = (part / flow - samples) * kShares;
  return static_cast<int64_t>(share + (share < 0 ? -0.5 : 0.5));  // the agent has no libm
}
double PartOfShare(int64_t share, double flow, double samples) {
  return std::clamp(samples + static_cast<double>(share) / kShares, 0.0, 1.0) * flow;
}
double SampleShare(const Estimate& part, const Estimate& flow) {
  return flow.samples == 0 ? 0
                           : static_cast<double>(part.samples) / static_cast<double>(flow.samples);
}

void PartsOfFlow(const IntervalFlow& flow, const std::vector<const IntervalPart*>& parts,
                 const std::vector<uint64_t>& threads, Out& o) {
  uint64_t samples = 0;
  for (const IntervalPart* p : parts) samples += p->value.samples;
  // Then the last one is what is left.
  const bool whole = samples == flow.value.samples;
  o.Unsigned(parts.size() << 1 | (whole ? 1 : 0));
  for (size_t i = 0; i < parts.size(); ++i) {
    const Estimate& e = parts[i]->value;
    o.Unsigned(static_cast<uint64_t>(
        std::lower_bound(threads.begin(), threads.end(), parts[i]->thread) - threads.begin()));
    if (whole && i + 1 == parts.size()) break;
    const double share = SampleShare(e, flow.value);
    o.Unsigned(e.samples);
    o.Signed(ShareOf(e.amount, flow.value.amount, share));
    o.Signed(ShareOf(e.count, flow.value.count, share));
  }
}

void PartsOfFlow(In& in, const IntervalFlow& flow, const std::vector<uint64_t>& threads,
                 std::vector<IntervalPart>& out) {
  const uint64_t head = in.Unsigned();
  const bool whole = (head & 1) != 0;
  Estimate left = flow.value;
  for (uint64_t n = head >> 1; n > 0 && in.ok(); --n) {
    IntervalPart p{flow.node, flow.type, flow.kind, 0, {}, flow.window};
    const uint64_t index = in.Below(threads.size());
    if (!in.ok()) return;
    p.thread = threads[index];
    if (whole && n == 1) {
      p.value.samples = left.samples;
      p.value.amount = std::max(left.amount, 0.0);
      p.value.count = std::max(left.count, 0.0);
    } else {
      p.value.samples = in.Below(left.samples + 1);
      const double share = SampleShare(p.value, flow.value);
      p.value.amount = PartOfShare(in.Signed(), flow.value.amount, share);
      p.value.count = PartOfShare(in.Signed(), flow.value.count, share);
      left.samples -= p.value.samples;
      left.amount -= p.value.amount;
      left.count -= p.value.count;
    }
    out.push_back(p);
  }
}

}  // namespace

void Flows(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.flows.size());
  for (const IntervalFlow& r : f.flows) {
    o.Unsigned(r.node);
    o.Unsigned(r.type);
    o.Unsigned(static_cast<uint64_t>(r.kind));
    o.Value(r.value);
  }
}
void Flows(In& in, IntervalFrame& f) {
  const IdLimits most(f);
  f.flows.resize(in.Rows(4));
  for (IntervalFlow& r : f.flows) {
    r.node = static_cast<uint32_t>(in.Below(most.nodes));
    r.type = static_cast<uint32_t>(in.Below(most.types));
    r.kind = static_cast<HeapKind>(in.Below(4));
    r.value = in.Value();
    if (!in.ok()) return;
  }
}

// By flow, with threads by number: most flows of an interval are of one thread.
void Parts(const IntervalFrame& f, Out& o) {
  std::vector<uint64_t> threads;
  for (const IntervalPart& p : f.parts) threads.push_back(p.thread);
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  o.Unsigned(threads.size());
  uint64_t last = 0;
  for (const uint64_t t : threads) o.Unsigned(t - std::exchange(last, t));
  std::map<std::tuple<uint32_t, uint32_t, HeapKind, uint8_t>, std::vector<const IntervalPart*>> of;
  for (const IntervalPart& p : f.parts) of[{p.node, p.type, p.kind, p.window}].push_back(&p);
  for (const IntervalFlow& r : f.flows) {
    const auto it = of.find({r.node, r.type, r.kind, r.window});
    if (it == of.end()) {
      o.Unsigned(0);
      continue;
    }
    PartsOfFlow(r, it->second, threads, o);
    of.erase(it);
  }
}

void Parts(In& in, IntervalFrame& f) {
  std::vector<uint64_t> threads(in.Rows(1));
  uint64_t last = 0;
  for (uint64_t& t : threads) t = last += in.Unsigned();
  for (const IntervalFlow& r : f.flows) {
    if (!in.ok()) return;
    PartsOfFlow(in, r, threads, f.parts);
  }
}

void Lives(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.lives.size());
  for (const IntervalLive& r : f.lives) {
    o.Unsigned(r.node);
    o.Unsigned(r.type);
    o.Unsigned(static_cast<uint64_t>(r.kind));
    o.Signed(r.generation);
    o.Unsigned(r.young ? 1 : 0);
    o.Unsigned(r.age_bucket);
    o.Unsigned(r.birth_bucket);
    o.Unsigned(r.gcs_survived_min);
    o.Unsigned(r.gcs_survived_max);
    o.Unsigned(r.gen2_survived_min);
    o.Unsigned(r.gen2_survived_max);
    o.Value(r.value);
  }
}
void Lives(In& in, IntervalFrame& f) {
  const IdLimits most(f);
  f.lives.resize(in.Rows(12));
  for (IntervalLive& r : f.lives) {
    r.node = static_cast<uint32_t>(in.Below(most.nodes));
    r.type = static_cast<uint32_t>(in.Below(most.types));
    r.kind = static_cast<HeapKind>(in.Below(4));
    r.generation = in.Small(-1, 4);
    r.young = in.Below(2) != 0;
    r.age_bucket = static_cast<uint8_t>(in.Below(kAgeStarts.size()));
    r.birth_bucket = static_cast<uint8_t>(in.Below(kBirthStarts.size()));
    r.gcs_survived_min = in.U32();
    r.gcs_survived_max = in.U32();
    r.gen2_survived_min = in.U32();
    r.gen2_survived_max = in.U32();
    r.value = in.Value();
    if (!in.ok()) return;
  }
}

void Turnover(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.turnover.size());
  for (const IntervalTurnover& r : f.turnover) {
    o.Unsigned(r.node);
    o.Unsigned(r.type);
    o.Unsigned(r.birth_bucket);
    o.Value(r.births);
    o.Value(r.deaths);
    o.Number(r.deaths_age_s);
  }
}
void Turnover(In& in, IntervalFrame& f) {
  const IdLimits most(f);
  f.turnover.resize(in.Rows(6));
  for (IntervalTurnover& r : f.turnover) {
    r.node = static_cast<uint32_t>(in.Below(most.nodes));
    r.type = static_cast<uint32_t>(in.Below(most.types));
    r.birth_bucket = static_cast<uint8_t>(in.Below(kBirthStarts.size()));
    r.births = in.Value();
    r.deaths = in.Value();
    r.deaths_age_s = in.Number();
    if (!in.ok()) return;
  }
}

// What it says of rows is by their order: a reader that does not know it has the same sums.
void Requests(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.activities.size());
  uint32_t last = 0;
  for (const IntervalActivity& a : f.activities) {
    o.Signed(int64_t{a.number} - std::exchange(last, a.number));
    o.Signed(a.first_ns);
    for (const std::byte b : a.id) o.Fixed(static_cast<uint8_t>(b));
  }
  o.Unsigned(f.ended_activities.size());
  for (const uint32_t number : f.ended_activities) o.Unsigned(number);
  const auto of_rows = [&o](const auto& rows) {
    o.Unsigned(rows.size());
    for (const auto& r : rows) o.Unsigned(r.request);
  };
  of_rows(f.lives);
  of_rows(f.turnover);
}
void Requests(In& in, IntervalFrame& f) {
  f.requests = true;
  f.activities.resize(in.Rows(18));
  int64_t last = 0;
  for (IntervalActivity& a : f.activities) {
    last += in.Signed();
    if (last < 0 || last > int64_t{UINT32_MAX}) in.Fail();
    a.first_ns = in.Time();
    for (std::byte& b : a.id) b = static_cast<std::byte>(in.Byte());
    if (!in.ok()) return;
    a.number = static_cast<uint32_t>(last);
  }
  f.ended_activities.resize(in.Rows(1));
  for (uint32_t& number : f.ended_activities) number = in.U32();
  const auto of_rows = [&in](auto& rows) {
    if (in.Rows(1) != rows.size()) in.Fail();
    for (auto& r : rows) {
      if (!in.ok()) return;
      r.request = in.U32();
    }
  };
  of_rows(f.lives);
  of_rows(f.turnover);
}

}  // namespace clrscope::profile::interval
