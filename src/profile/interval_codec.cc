// SPDX-License-Identifier: Apache-2.0
#include "profile/interval_codec.h"

#include <utility>

#include "base/varint_writer.h"

namespace clrscope::profile {
namespace {

enum Tag : uint32_t {
  kHead = 1,
  kMethods = 2,
  kTypes = 3,
  kNodes = 4,
  kFlows = 5,
  kLives = 6,
  kTurnover = 7,
  kGcs = 8,
  kCpu = 9,
  kMeter = 10,
  kLosses = 11,
};

constexpr uint64_t kMostNameBytes = 64 << 10;

class Out : public VarintWriter {
 public:
  void Text(std::string_view s) {
    s = s.substr(0, kMostNameBytes);
    Unsigned(s.size());
    Append(s);
  }
  void Value(const Estimate& e) {
    Unsigned(e.samples << 1 | (e.biased ? 1 : 0));
    if (e.samples == 0) return;
    Number(e.bytes);
    Number(e.objects);
    Number(e.seen_bytes);
    Number(e.seen_objects);
    if (e.biased) return;
    for (const double v : {e.var_bytes, e.var_objects, e.max_bytes, e.max_objects})
      Fixed(static_cast<float>(v));
  }
  void Section(uint32_t tag, const Out& body) {
    Unsigned(tag);
    Unsigned(body.bytes().size());
    Append(body.bytes());
  }
};

// One section. Errors are sticky, and the whole frame's.
class In {
 public:
  explicit In(Bytes bytes) : reader_(bytes) {}

  uint64_t Unsigned() {
    if (reader_.ok()) at_ = reader_.position();
    return reader_.VarU64();
  }
  uint32_t U32() { return static_cast<uint32_t>(Below(uint64_t{1} << 32)); }
  int64_t Signed() {
    const uint64_t v = Unsigned();
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  // Times that can be added up: nothing real is larger.
  int64_t Time() {
    constexpr int64_t kFar = int64_t{1} << 61;
    const int64_t v = Signed();
    if (v < -kFar || v > kFar) reader_.Fail();
    return reader_.ok() ? v : 0;
  }
  // CPU time of an interval, at most 13 days; -1 = unknown.
  int64_t Cpu() {
    const int64_t v = Signed();
    if (v < -1 || v > int64_t{1} << 50) reader_.Fail();
    return reader_.ok() ? v : -1;
  }
  // An unsigned number below `end`.
  uint64_t Below(uint64_t end) {
    const uint64_t v = Unsigned();
    if (v >= end) reader_.Fail();
    return reader_.ok() ? v : 0;
  }
  int8_t Small(int64_t low, int64_t high) {
    const int64_t v = Signed();
    if (v < low || v > high) reader_.Fail();
    return reader_.ok() ? static_cast<int8_t>(v) : int8_t{-1};
  }
  std::string Text() {
    const uint64_t n = Below(kMostNameBytes + 1);
    return std::string(AsText(reader_.Take(static_cast<size_t>(n))));
  }
  // Finite and not below 0, as all that is summed here.
  double Number() {
    const uint64_t v = Unsigned();
    return v & 1 ? Sound(reader_.F64()) : static_cast<double>(v >> 1);
  }
  double Float() { return Sound(static_cast<double>(reader_.Read<float>())); }
  Estimate Value() {
    Estimate e;
    const uint64_t head = Unsigned();
    e.samples = head >> 1;
    e.biased = (head & 1) != 0;
    if (e.samples == 0) return e;
    e.bytes = Number();
    e.objects = Number();
    e.seen_bytes = Number();
    e.seen_objects = Number();
    if (e.biased) return e;
    for (double* v : {&e.var_bytes, &e.var_objects, &e.max_bytes, &e.max_objects}) *v = Float();
    return e;
  }
  // The number of rows that follow, each of `least` bytes or more.
  size_t Rows(size_t least) {
    const uint64_t n = Unsigned();
    if (n > reader_.remaining() / least) reader_.Fail();
    return reader_.ok() ? static_cast<size_t>(n) : 0;
  }
  bool ok() const { return reader_.ok(); }
  // Where the last value that was read begins: the one that failed.
  size_t position() const { return at_; }

 private:
  double Sound(double v) {
    if (!(v >= 0 && v <= 1e300)) reader_.Fail();
    return reader_.ok() ? v : 0;
  }
  ByteReader reader_;
  size_t at_ = 0;
};

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

// How far node and type ids may go.
struct Limits {
  explicit Limits(const IntervalFrame& f)
      : nodes(uint64_t{f.first_node} + f.nodes.size()),
        types(uint64_t{f.first_type} + f.types.size()) {}
  uint64_t nodes, types;
};

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
  const Limits most(f);
  f.flows.resize(in.Rows(4));
  for (IntervalFlow& r : f.flows) {
    r.node = static_cast<uint32_t>(in.Below(most.nodes));
    r.type = static_cast<uint32_t>(in.Below(most.types));
    r.kind = static_cast<HeapKind>(in.Below(4));
    r.value = in.Value();
    if (!in.ok()) return;
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
  const Limits most(f);
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
  const Limits most(f);
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

struct Codec {
  Tag tag;
  void (*encode)(const IntervalFrame&, Out&);
  void (*decode)(In&, IntervalFrame&);
};
// In the order in which they are written: ids are checked against what came before.
constexpr Codec kSections[] = {
    {kHead, Head, Head},    {kMethods, Methods, Methods},    {kTypes, Types, Types},
    {kNodes, Nodes, Nodes}, {kFlows, Flows, Flows},          {kLives, Lives, Lives},
    {kCpu, Cpu, Cpu},       {kTurnover, Turnover, Turnover}, {kGcs, Gcs, Gcs},
    {kMeter, Meter, Meter}, {kLosses, Losses, Losses},
};

}  // namespace

std::string EncodeInterval(const IntervalFrame& frame) {
  Out out;
  out.Fixed(kIntervalMagic);
  out.Fixed(kIntervalFrameVersion);
  out.Fixed(uint16_t{0});
  for (const Codec& codec : kSections) {
    Out body;
    codec.encode(frame, body);
    out.Section(codec.tag, body);
  }
  return out.Take();
}

Result<IntervalFrame> DecodeInterval(Bytes bytes) {
  ByteReader reader(bytes);
  const uint32_t magic = reader.U32();
  const uint16_t version = reader.U16();
  reader.Skip(2);
  if (!reader.ok())
    return Error::At(ErrorCode::kTruncated, bytes.size(), "the agent's frame has no head");
  if (magic != kIntervalMagic)
    return Error::At(ErrorCode::kCorrupt, 0, "these bytes are not a frame of the agent");
  if (version != kIntervalFrameVersion)
    return Error::At(ErrorCode::kFailed, 4,
                     "the agent's frames are of version " + std::to_string(version) +
                         ", this clrscope reads " + std::to_string(kIntervalFrameVersion) +
                         ": use the clrscope that loaded it");
  IntervalFrame frame;
  uint32_t seen = 0;
  while (reader.remaining() > 0) {
    const size_t at = reader.position();
    const uint64_t tag = reader.VarU64();
    const uint64_t length = reader.VarU64();
    if (!reader.ok() || length > reader.remaining())
      return Error::At(ErrorCode::kTruncated, at, "the agent's frame ends within a section");
    const size_t start = reader.position();
    const Bytes body = reader.Take(static_cast<size_t>(length));
    for (const Codec& codec : kSections) {
      if (codec.tag != tag) continue;
      // Each at most once; all others rest on the head.
      const uint32_t bit = 1u << tag;
      const bool ordered = tag == kHead ? seen == 0 : (seen & 1u << kHead) != 0;
      if ((seen & bit) != 0 || !ordered)
        return Error::At(ErrorCode::kCorrupt, at, "the agent's frame has its sections in disorder");
      seen |= bit;
      In in(body);
      codec.decode(in, frame);
      if (!in.ok())
        return Error::At(ErrorCode::kCorrupt, start + in.position(),
                         "section " + std::to_string(tag) + " of the agent's frame is damaged");
    }
  }
  if ((seen & 1u << kHead) == 0)
    return Error::At(ErrorCode::kTruncated, bytes.size(), "the agent's frame has no head");
  return frame;
}

}  // namespace clrscope::profile
