// SPDX-License-Identifier: Apache-2.0
// What happened, what it cost, and how the agent fares.
#include "profile/interval/interval_sections.h"

namespace clrscope::profile::interval {

void Gcs(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.gcs.size());
  for (const IntervalGc& g : f.gcs) {
    o.Unsigned(g.number);
    o.Signed(g.generation);
    o.Signed(g.type);
    o.Signed(g.reason);
    o.Signed(g.start_ns);
    o.Signed(g.end_ns);
    o.Signed(g.pause_ns);
    for (const int64_t size : g.size_after) o.Signed(size);
  }
}
void Gcs(In& in, IntervalFrame& f) {
  f.gcs.resize(in.Rows(12));
  for (IntervalGc& g : f.gcs) {
    g.number = in.U32();
    g.generation = in.Small(-1, 4);
    g.type = in.Small(-1, 127);
    g.reason = in.Small(-1, 127);
    g.start_ns = in.Time();
    g.end_ns = in.Time();
    g.pause_ns = in.Time();
    for (int64_t& size : g.size_after) size = in.Signed();
    if (!in.ok()) return;
  }
}

void Events(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.measures);
  o.Unsigned(f.events.size());
  for (const IntervalEvent& r : f.events) {
    o.Unsigned(static_cast<uint64_t>(r.source) << 1 | (r.unfinished ? 1 : 0));
    o.Unsigned(r.node);
    o.Unsigned(r.type);
    o.Unsigned(r.thread);
    o.Unsigned(r.owner);
    o.Unsigned(r.sums.samples);
    o.Unsigned(r.sums.amount);
    o.Unsigned(r.sums.stands_for);
  }
}
void Events(In& in, IntervalFrame& f) {
  const IdLimits most(f);
  // Sums of hostile frames can be added up as well.
  constexpr uint64_t kMost = uint64_t{1} << 62;
  f.measures = static_cast<uint32_t>(in.Below(uint64_t{1} << kMeasures));
  f.events.resize(in.Rows(8));
  for (IntervalEvent& r : f.events) {
    const uint64_t head = in.Below(2 * kSources);
    r.source = static_cast<Source>(head >> 1);
    r.unfinished = (head & 1) != 0;
    if (!IsEvent(r.source)) in.Fail();
    r.node = static_cast<uint32_t>(in.Below(most.nodes));
    r.type = static_cast<uint32_t>(in.Below(most.types));
    r.thread = in.Unsigned();
    r.owner = in.Unsigned();
    for (uint64_t* v : {&r.sums.samples, &r.sums.amount, &r.sums.stands_for}) *v = in.Below(kMost);
    if (!in.ok()) return;
  }
}

void Cpu(const IntervalFrame& f, Out& o) {
  for (const int64_t ns :
       {f.cpu.process_ns, f.cpu.server_gc_ns, f.cpu.background_gc_ns, f.cpu.workstation_gc_ns})
    o.Signed(ns);
}
void Cpu(In& in, IntervalFrame& f) {
  for (int64_t* ns :
       {&f.cpu.process_ns, &f.cpu.server_gc_ns, &f.cpu.background_gc_ns, &f.cpu.workstation_gc_ns})
    *ns = in.Cpu();
}

void Meter(const IntervalFrame& f, Out& o) {
  const IntervalMeter& m = f.meter;
  for (const uint64_t v : {m.samples, m.sample_ns, m.walk_fallbacks, m.agent_cpu_ns, m.agent_bytes,
                           m.handles, m.handle_scan_ns})
    o.Unsigned(v);
  o.Number(m.live_mean_bytes);
}
void Meter(In& in, IntervalFrame& f) {
  IntervalMeter& m = f.meter;
  for (uint64_t* v : {&m.samples, &m.sample_ns, &m.walk_fallbacks, &m.agent_cpu_ns, &m.agent_bytes,
                      &m.handles, &m.handle_scan_ns})
    *v = in.Unsigned();
  m.live_mean_bytes = in.Number();
}

void Losses(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.losses.size());
  for (const auto& [name, count] : f.losses) {
    o.Text(name);
    o.Unsigned(count);
  }
}
void Losses(In& in, IntervalFrame& f) {
  f.losses.resize(in.Rows(2));
  for (auto& [name, count] : f.losses) {
    name = in.Text();
    count = in.Unsigned();
    if (!in.ok()) return;
  }
}

void Trouble(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.dictionary);
  o.Text(f.trouble);
  o.Signed(f.trouble_since_ns);
}
void Trouble(In& in, IntervalFrame& f) {
  f.dictionary = in.U32();
  f.trouble = in.Text();
  f.trouble_since_ns = in.Time();
}

}  // namespace clrscope::profile::interval
