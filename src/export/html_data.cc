// SPDX-License-Identifier: Apache-2.0
#include "export/html_data.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace clrscope::exporter {
namespace {

using profile::Cell;
using profile::Estimate;
using profile::Profile;
using Json = nlohmann::json;

constexpr uint32_t kNone = ~uint32_t{0};
constexpr size_t kMaxTimeBins = 1000;
constexpr size_t kMaxGcs = 20'000;

// The strings, frames and types that a page needs, renumbered from 0.
class Names {
 public:
  explicit Names(const Profile& p) : profile_(p) { Add(""); }

  uint32_t Id(StringId id) { return Add(profile_.str(id)); }
  uint32_t Add(std::string_view text) {
    const auto [it, fresh] = ids_.try_emplace(text, static_cast<uint32_t>(list_.size()));
    if (fresh) list_.push_back(text);
    return it->second;
  }
  const std::vector<std::string_view>& list() const { return list_; }

 private:
  const Profile& profile_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::vector<std::string_view> list_;
};

// The columns behind the JSON, each as byte planes.
class Columns {
 public:
  template <class T>
  void Add(std::string_view name, std::string_view type, const std::vector<T>& values) {
    index_.push_back({{"name", name}, {"type", type}, {"count", values.size()}});
    const size_t n = values.size(), base = bytes_.size();
    bytes_.resize(base + n * sizeof(T));
    for (size_t i = 0; i < n; ++i) {
      char raw[sizeof(T)];
      std::memcpy(raw, &values[i], sizeof(T));
      for (size_t b = 0; b < sizeof(T); ++b) bytes_[base + b * n + i] = raw[b];
    }
  }
  void U8(std::string_view name, const std::vector<uint8_t>& v) { Add(name, "u8", v); }
  void U32(std::string_view name, const std::vector<uint32_t>& v) { Add(name, "u32", v); }
  void F32(std::string_view name, const std::vector<float>& v) { Add(name, "f32", v); }
  void F64(std::string_view name, const std::vector<double>& v) { Add(name, "f64", v); }
  const Json& index() const { return index_; }
  const std::string& bytes() const { return bytes_; }

 private:
  Json index_ = Json::array();
  std::string bytes_;
};

void PackNodes(const Profile& p, const PageTree& page, Names& names, Columns& out) {
  std::vector<uint32_t> back, node_frame, folded, name, module, raw;
  std::vector<uint8_t> flags;
  std::unordered_map<uint32_t, uint32_t> frame_ids;
  for (uint32_t i = 0; i < page.nodes.size(); ++i) {
    const PageNode& node = page.nodes[i];
    back.push_back(i - node.parent);
    folded.push_back(node.folded);
    if (i == 0) {
      node_frame.push_back(0);
      continue;
    }
    const auto [it, fresh] =
        frame_ids.try_emplace(node.frame, static_cast<uint32_t>(frame_ids.size()));
    node_frame.push_back(it->second);
    if (!fresh) continue;
    if (node.frame == kOtherFrame) {
      name.push_back(names.Add("(other)"));
      module.push_back(0);
      raw.push_back(0);
      flags.push_back(profile::kPseudo);
      continue;
    }
    const profile::Frame& frame = p.frames[node.frame];
    name.push_back(names.Id(frame.method));
    module.push_back(names.Id(frame.module));
    raw.push_back(frame.raw == frame.method ? 0 : names.Id(frame.raw));
    flags.push_back(frame.flags);
  }
  out.U32("node_back", back);
  out.U32("node_frame", node_frame);
  out.U32("node_folded", folded);
  out.U32("frame_name", name);
  out.U32("frame_module", module);
  out.U32("frame_raw", raw);
  out.U8("frame_flags", flags);
}

// Types of one name are one row across processes, but the second one of the same name within a
// process stays a type of its own: `dup` counts them from 0.
std::vector<uint32_t> PackTypes(const Profile& p, const PageTree& page, Names& names,
                                Columns& out) {
  std::vector<uint32_t> ids(p.types.size(), kNone), name, raw, dup;
  std::vector<char> used(p.types.size(), 0);
  for (const Cell& c : page.cells) {
    if (c.type != kOtherType) used[c.type] = 1;
  }
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> seen;  // (process, name) → how many
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> rows;  // (name, raw, dup) → row
  for (size_t i = 0; i < p.types.size(); ++i) {
    if (!used[i]) continue;
    const profile::Type& type = p.types[i];
    const uint32_t name_id = names.Id(type.name);
    const uint32_t raw_id = type.raw == type.name ? 0 : names.Id(type.raw);
    const uint32_t nth = seen[{type.process, name_id}]++;
    const auto [it, fresh] =
        rows.try_emplace({name_id, raw_id, nth}, static_cast<uint32_t>(rows.size()));
    ids[i] = it->second;
    if (!fresh) continue;
    name.push_back(name_id);
    raw.push_back(raw_id);
    dup.push_back(nth);
  }
  if (page.folded_types > 0) {
    ids.push_back(static_cast<uint32_t>(name.size()));
    name.push_back(names.Add("(other types)"));
    raw.push_back(0);
    dup.push_back(0);
  }
  out.U32("type_name", name);
  out.U32("type_raw", raw);
  out.U32("type_dup", dup);
  return ids;
}

auto EstimateKey(const Estimate& e) {
  return std::tuple(e.samples, e.bytes, e.objects, e.seen_bytes, e.seen_objects, e.var_bytes,
                    e.var_objects, e.max_bytes, e.max_objects);
}

// Cells refer to a table of distinct estimates: most cells are one or two samples of few sizes.
// Bytes and objects keep all their digits, so that totals agree; what only feeds the intervals
// (seen, variance, largest weight) is rounded to 24 bits.
void PackCells(const PageTree& page, const std::vector<uint32_t>& type_ids, Columns& out) {
  std::vector<uint32_t> step, type, process, value;
  std::vector<uint8_t> kind;
  std::vector<const Estimate*> rows;
  std::map<decltype(EstimateKey({})), uint32_t> ids;
  uint32_t last = 0;
  for (const Cell& c : page.cells) {
    step.push_back(c.node - last);
    last = c.node;
    type.push_back(c.type == kOtherType ? type_ids.back() : type_ids[c.type]);
    process.push_back(c.process);
    kind.push_back(static_cast<uint8_t>(c.kind));
    const auto [it, fresh] =
        ids.try_emplace(EstimateKey(c.value), static_cast<uint32_t>(rows.size()));
    if (fresh) rows.push_back(&c.value);
    value.push_back(it->second);
  }
  out.U32("cell_step", step);
  out.U32("cell_type", type);
  out.U32("cell_process", process);
  out.U8("cell_kind", kind);
  out.U32("cell_value", value);
  const auto exact = [&](std::string_view name, auto field) {
    std::vector<double> v;
    for (const Estimate* e : rows) v.push_back(static_cast<double>(e->*field));
    out.F64(name, v);
  };
  const auto rounded = [&](std::string_view name, auto field) {
    std::vector<float> v;
    for (const Estimate* e : rows) v.push_back(static_cast<float>(e->*field));
    out.F32(name, v);
  };
  exact("value_samples", &Estimate::samples);
  exact("value_bytes", &Estimate::bytes);
  exact("value_objects", &Estimate::objects);
  rounded("value_seen_bytes", &Estimate::seen_bytes);
  rounded("value_seen_objects", &Estimate::seen_objects);
  rounded("value_var_bytes", &Estimate::var_bytes);
  rounded("value_var_objects", &Estimate::var_objects);
  rounded("value_max_bytes", &Estimate::max_bytes);
  rounded("value_max_objects", &Estimate::max_objects);
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// The allocation rate over time, in at most kMaxTimeBins steps per process and heap kind.
void PackTimes(const Profile& p, Columns& out) {
  int64_t begin = 0, end = 1;
  if (!p.times.empty()) begin = p.times.front().start_ns;
  for (const profile::TimeRow& row : p.times) {
    begin = std::min(begin, row.start_ns);
    end = std::max(end, row.end_ns);
  }
  const int64_t width = std::max<int64_t>(1, (end - begin) / static_cast<int64_t>(kMaxTimeBins));
  std::map<std::tuple<int64_t, uint32_t, profile::HeapKind>, profile::TimeRow> bins;
  for (const profile::TimeRow& row : p.times) {
    const auto key = std::tuple((row.start_ns - begin) / width, row.process, row.kind);
    const auto [it, fresh] = bins.try_emplace(key, row);
    if (fresh) continue;
    it->second.start_ns = std::min(it->second.start_ns, row.start_ns);
    it->second.end_ns = std::max(it->second.end_ns, row.end_ns);
    it->second.value += row.value;
  }
  std::vector<double> start, stop, bytes, objects, samples;
  std::vector<uint32_t> process;
  std::vector<uint8_t> kind;
  for (const auto& [key, row] : bins) {
    start.push_back(Seconds(row.start_ns));
    stop.push_back(Seconds(row.end_ns));
    process.push_back(row.process);
    kind.push_back(static_cast<uint8_t>(row.kind));
    bytes.push_back(row.value.bytes);
    objects.push_back(row.value.objects);
    samples.push_back(static_cast<double>(row.value.samples));
  }
  out.F64("time_start", start);
  out.F64("time_end", stop);
  out.U32("time_process", process);
  out.U8("time_kind", kind);
  out.F64("time_bytes", bytes);
  out.F64("time_objects", objects);
  out.F64("time_samples", samples);
}

// Marks of garbage collections; of too many, the older generations stay.
void PackGcs(const Profile& p, Columns& out) {
  std::vector<const profile::GcRecord*> rows;
  for (const profile::GcRecord& gc : p.gcs) {
    if (gc.start_ns >= 0) rows.push_back(&gc);
  }
  if (rows.size() > kMaxGcs) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return a->generation > b->generation; });
    rows.resize(kMaxGcs);
  }
  std::vector<double> start, end;
  std::vector<uint32_t> process, number;
  std::vector<uint8_t> generation;  // 255 = unknown
  for (const profile::GcRecord* gc : rows) {
    start.push_back(Seconds(gc->start_ns));
    end.push_back(gc->end_ns < gc->start_ns ? Seconds(gc->start_ns) : Seconds(gc->end_ns));
    process.push_back(gc->process);
    number.push_back(gc->number);
    generation.push_back(
        static_cast<uint8_t>(gc->generation < 0 || gc->generation > 254 ? 255 : gc->generation));
  }
  out.F64("gc_start", start);
  out.F64("gc_end", end);
  out.U32("gc_process", process);
  out.U32("gc_number", number);
  out.U8("gc_generation", generation);
}

std::string_view SourceName(profile::Source source) {
  switch (source) {
    case profile::Source::kForeign:
      return "pprof";
    case profile::Source::kTick:
      return "tick";
    case profile::Source::kSampled:
      return "sampled";
    case profile::Source::kCounted:
      return "counted";
  }
  return "unknown";
}

Json Describe(const Profile& p, const PageTree& page) {
  Json processes = Json::array(), losses = Json::array(), also = Json::array();
  for (const profile::Process& process : p.processes) {
    processes.push_back({{"pid", process.pid},
                         {"name", p.str(process.name)},
                         {"commandLine", p.str(process.command_line)},
                         {"runtime", p.str(process.runtime)},
                         {"os", p.str(process.os)},
                         {"arch", p.str(process.arch)},
                         {"mainModule", p.str(process.main_module)},
                         {"start", Seconds(process.start_ns)},
                         {"end", Seconds(process.end_ns)},
                         {"complete", process.complete}});
  }
  p.losses.ForEach([&](Loss loss, uint64_t count) {
    const LossInfo& info = clrscope::Describe(loss);
    losses.push_back({{"name", info.name}, {"count", count}, {"sentence", info.sentence}});
  });
  for (const profile::Source source : p.also) also.push_back(SourceName(source));
  const Estimate total = p.Total();
  int64_t live_at_ns = 0;
  for (const profile::Process& process : p.processes)
    live_at_ns = std::max(live_at_ns, process.live_at_ns);
  return {
      {"shows", p.shows == profile::Shows::kLive ? "live" : "allocated"},
      {"liveAt", Seconds(live_at_ns)},
      {"source", SourceName(p.source)},
      {"also", also},
      {"biased", p.biased() || p.mixed},
      {"hasInterval", p.has_interval() && !p.mixed},
      {"exact", p.exact()},
      {"objectsKnown", p.objects_known},
      {"startUnixMs", static_cast<double>(p.start_unix_ns) / 1e6},
      {"duration", Seconds(p.duration_ns)},
      {"complete", p.complete},
      {"origin", p.origin},
      {"processes", processes},
      {"losses", losses},
      {"foldedNodes", page.folded_nodes},
      {"foldedTypes", page.folded_types},
      {"gcs", p.gcs.size()},
      {"total", {{"samples", total.samples}, {"bytes", total.bytes}, {"objects", total.objects}}}};
}

void AppendU32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xFF);
}

}  // namespace

std::string PackPage(const Profile& p, const PageTree& page) {
  Names names(p);
  Columns columns;
  PackNodes(p, page, names, columns);
  const std::vector<uint32_t> type_ids = PackTypes(p, page, names, columns);
  PackCells(page, type_ids, columns);
  PackTimes(p, columns);
  PackGcs(p, columns);

  Json json = Describe(p, page);
  json["strings"] = names.list();
  json["columns"] = columns.index();
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);

  std::string out = "CLRP";
  AppendU32(out, 1);
  AppendU32(out, static_cast<uint32_t>(text.size()));
  out += text;
  out += columns.bytes();
  return out;
}

}  // namespace clrscope::exporter
