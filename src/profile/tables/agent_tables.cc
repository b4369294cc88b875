// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/agent_tables.h"

#include <algorithm>
#include <tuple>

namespace clrscope::profile {
namespace {

auto KeyOf(const IntervalFlow& f) { return std::tie(f.node, f.type, f.kind, f.window); }
void AddUp(IntervalFlow& a, const IntervalFlow& b) { a.value += b.value; }
void AddUp(IntervalPart& a, const IntervalPart& b) { a.value += b.value; }
void AddUp(IntervalTurnover& a, const IntervalTurnover& b) {
  a.births += b.births;
  a.deaths += b.deaths;
  a.deaths_age_s += b.deaths_age_s;
}

void AddUp(IntervalEvent& a, const IntervalEvent& b) { a.sums += b.sums; }

template <class Row>
void MergeRows(std::vector<Row>& into, std::vector<Row>& from) {
  into.insert(into.end(), from.begin(), from.end());
  std::sort(into.begin(), into.end(),
            [](const Row& a, const Row& b) { return KeyOf(a) < KeyOf(b); });
  size_t kept = 0;
  for (size_t i = 1; i < into.size(); ++i) {
    if (KeyOf(into[kept]) == KeyOf(into[i])) {
      AddUp(into[kept], into[i]);
    } else {
      into[++kept] = into[i];
    }
  }
  if (!into.empty()) into.resize(kept + 1);
}

void AddKnown(int64_t& into, int64_t ns) {
  // Sums of hostile captures stay whole too, and can be read back.
  constexpr int64_t kMost = int64_t{1} << 50;
  if (ns >= 0) into = std::min(kMost, into < 0 ? ns : into + ns);
}

}  // namespace

void MergeInterval(AgentInterval& into, AgentInterval&& next) {
  IntervalFrame& a = into.frame;
  IntervalFrame& b = next.frame;
  a.end_ns = b.end_ns;
  a.first_method = std::max(a.first_method, b.first_method);
  a.first_type = std::max(a.first_type, b.first_type);
  a.first_node = std::max(a.first_node, b.first_node);
  a.sequence = b.sequence;
  a.live = a.live || b.live;
  a.last = b.last;
  MergeRows(a.flows, b.flows);
  MergeRows(a.parts, b.parts);
  MergeRows(a.turnover, b.turnover);
  MergeRows(a.events, b.events);
  a.measures |= b.measures;
  a.lives = std::move(b.lives);
  a.requests = b.requests;
  AddKnown(a.cpu.process_ns, b.cpu.process_ns);
  AddKnown(a.cpu.server_gc_ns, b.cpu.server_gc_ns);
  AddKnown(a.cpu.background_gc_ns, b.cpu.background_gc_ns);
  AddKnown(a.cpu.workstation_gc_ns, b.cpu.workstation_gc_ns);
  a.overhead += b.overhead;
  a.windows += b.windows;
  a.all_windows = b.all_windows;
  IntervalMeter& m = a.meter;
  m.samples += b.meter.samples;
  m.sample_ns += b.meter.sample_ns;
  m.walk_fallbacks += b.meter.walk_fallbacks;
  m.agent_cpu_ns += b.meter.agent_cpu_ns;
  m.handle_scan_ns += b.meter.handle_scan_ns;
  m.agent_bytes = b.meter.agent_bytes;
  m.handles = b.meter.handles;
  m.live_mean_bytes = b.meter.live_mean_bytes;
}

}  // namespace clrscope::profile
