// SPDX-License-Identifier: Apache-2.0
// Whose interval it is, and the names that its ids stand for.
#include "profile/interval/interval_sections.h"

namespace clrscope::profile::interval {

void Head(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.sequence);
  o.Signed(f.start_unix_ns);
  o.Signed(f.start_ns);
  o.Signed(f.end_ns);
  o.Unsigned(f.pid);
  o.Text(f.runtime);
  o.Unsigned(static_cast<uint64_t>(f.source));
  o.Unsigned((f.live ? 1u : 0u) | (f.last ? 2u : 0u));
  o.Unsigned(f.first_method);
  o.Unsigned(f.first_type);
  o.Unsigned(f.first_node);
}
void Head(In& in, IntervalFrame& f) {
  f.sequence = in.Unsigned();
  f.start_unix_ns = in.Time();
  f.start_ns = in.Time();
  f.end_ns = in.Time();
  f.pid = in.U32();
  f.runtime = in.Text();
  f.source = static_cast<Source>(in.Below(4));
  const uint64_t flags = in.Unsigned();
  f.live = (flags & 1) != 0;
  f.last = (flags & 2) != 0;
  f.first_method = in.U32();
  f.first_type = in.U32();
  f.first_node = in.U32();
}

void Methods(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.methods.size());
  for (const IntervalMethod& m : f.methods) {
    o.Text(m.module);
    o.Text(m.mvid);
    o.Text(m.method);
    o.Text(m.raw);
    o.Unsigned(m.token);
    o.Unsigned(m.flags);
  }
}
void Methods(In& in, IntervalFrame& f) {
  f.methods.resize(in.Rows(6));
  for (IntervalMethod& m : f.methods) {
    m.module = in.Text();
    m.mvid = in.Text();
    m.method = in.Text();
    m.raw = in.Text();
    m.token = in.U32();
    m.flags = static_cast<uint8_t>(in.Below(256));
    if (!in.ok()) return;
  }
}

void Types(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.types.size());
  for (const IntervalType& t : f.types) {
    o.Unsigned(t.id);
    o.Text(t.name);
    o.Text(t.raw);
  }
}
void Types(In& in, IntervalFrame& f) {
  f.types.resize(in.Rows(3));
  for (IntervalType& t : f.types) {
    t.id = in.Unsigned();
    t.name = in.Text();
    t.raw = in.Text();
    if (!in.ok()) return;
  }
}

void Nodes(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.nodes.size());
  for (const IntervalNode& n : f.nodes) {
    o.Unsigned(n.parent);
    o.Unsigned(n.method);
  }
}
void Nodes(In& in, IntervalFrame& f) {
  f.nodes.resize(in.Rows(2));
  uint64_t id = f.first_node;
  const uint64_t methods = uint64_t{f.first_method} + f.methods.size();
  for (IntervalNode& n : f.nodes) {
    n.parent = static_cast<uint32_t>(in.Below(id++));
    n.method = static_cast<uint32_t>(in.Below(methods));
    if (!in.ok()) return;
  }
}

void Places(const IntervalFrame& f, Out& o) {
  o.Unsigned(f.first_place);
  o.Unsigned(f.places.size());
  for (const IntervalPlace& p : f.places) {
    o.Unsigned(p.address);
    o.Signed(p.seen_ns);
  }
  size_t count = 0;
  for (const IntervalNode& n : f.nodes) count += n.place != 0 ? 1 : 0;
  o.Unsigned(count);
  size_t next = 0;
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    if (f.nodes[i].place == 0) continue;
    o.Unsigned(i - next);
    o.Unsigned(f.nodes[i].place);
    next = i + 1;
  }
}
void Places(In& in, IntervalFrame& f) {
  f.first_place = in.U32();
  f.places.resize(in.Rows(2));
  for (IntervalPlace& p : f.places) {
    p.address = in.Unsigned();
    p.seen_ns = in.Time();
    if (!in.ok()) return;
  }
  const uint64_t end =
      f.first_place == 0 ? uint64_t{1} << 32 : uint64_t{f.first_place} + f.places.size();
  size_t next = 0;
  for (size_t count = in.Rows(2); count != 0; --count) {
    next += static_cast<size_t>(in.Below(f.nodes.size() - next));
    const auto place = static_cast<uint32_t>(in.Below(end));
    if (!in.ok()) return;
    f.nodes[next++].place = place;
  }
}

}  // namespace clrscope::profile::interval
