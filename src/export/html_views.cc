// SPDX-License-Identifier: Apache-2.0
#include "export/html_views.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/views/show_live.h"

namespace clrscope::exporter {
namespace {

using profile::Estimate;
using profile::Profile;

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

template <class Cells>
nlohmann::json TotalOf(const Cells& cells) {
  Estimate total;
  for (const auto& c : cells) total += c.value;
  return {{"samples", total.samples}, {"bytes", total.bytes}, {"objects", total.objects}};
}

nlohmann::json Allocated(const Profile& p, const PageTree& page) {
  nlohmann::json also = nlohmann::json::array();
  for (const profile::Source source : p.also) also.push_back(SourceName(source));
  return {{"shows", "allocated"},
          {"at", Seconds(p.duration_ns)},
          {"source", SourceName(p.source)},
          {"also", also},
          {"biased", p.biased() || p.mixed},
          {"hasInterval", p.has_interval() && !p.mixed},
          {"exact", p.exact()},
          {"objectsKnown", p.objects_known},
          {"total", TotalOf(page.cells)}};
}

nlohmann::json Live(const Profile& p, const PageTree& page) {
  int64_t at_ns = 0;
  for (const profile::Process& process : p.processes) at_ns = std::max(at_ns, process.live_at_ns);
  const profile::LiveBasis basis = profile::LiveBasisOf(p);
  return {{"shows", "live"},
          {"at", Seconds(at_ns)},
          {"source", SourceName(basis.source)},
          {"also", nlohmann::json::array()},
          {"biased", basis.source == profile::Source::kTick || basis.mixed},
          {"hasInterval", basis.source == profile::Source::kSampled && !basis.mixed},
          {"exact", false},
          {"objectsKnown", true},
          {"total", TotalOf(page.lives)}};
}

auto EstimateKey(const Estimate& e) {
  return std::tuple(e.samples, e.bytes, e.objects, e.seen_bytes, e.seen_objects, e.var_bytes,
                    e.var_objects, e.max_bytes, e.max_objects, e.many_sizes);
}

// Cells refer to a table of distinct estimates: most cells are one or two samples of few sizes.
// Bytes and objects keep all their digits, so that totals agree; what only feeds the intervals
// (seen, variance, largest weight) is rounded to 24 bits.
template <class Cells>
void PackCellsOf(const Cells& cells, const std::string& prefix,
                 const std::vector<uint32_t>& type_ids, Columns& out) {
  std::vector<uint32_t> step, type, process, value;
  std::vector<uint8_t> kind;
  std::vector<const Estimate*> rows;
  std::map<decltype(EstimateKey({})), uint32_t> ids;
  uint32_t last = 0;
  for (const auto& c : cells) {
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
  out.U32(prefix + "_step", step);
  out.U32(prefix + "_type", type);
  out.U32(prefix + "_process", process);
  out.U8(prefix + "_kind", kind);
  out.U32(prefix + "_value", value);
  const auto exact = [&](std::string_view name, auto field) {
    std::vector<double> v;
    for (const Estimate* e : rows) v.push_back(static_cast<double>(e->*field));
    out.F64(prefix + "_of_" + std::string(name), v);
  };
  const auto rounded = [&](std::string_view name, auto field) {
    std::vector<float> v;
    for (const Estimate* e : rows) v.push_back(static_cast<float>(e->*field));
    out.F32(prefix + "_of_" + std::string(name), v);
  };
  exact("samples", &Estimate::samples);
  exact("bytes", &Estimate::bytes);
  exact("objects", &Estimate::objects);
  rounded("seen_bytes", &Estimate::seen_bytes);
  rounded("seen_objects", &Estimate::seen_objects);
  rounded("var_bytes", &Estimate::var_bytes);
  rounded("var_objects", &Estimate::var_objects);
  rounded("max_bytes", &Estimate::max_bytes);
  rounded("max_objects", &Estimate::max_objects);
  std::vector<uint8_t> many;
  for (const Estimate* e : rows) many.push_back(e->many_sizes ? 1 : 0);
  out.U8(prefix + "_of_many_sizes", many);
}

}  // namespace

nlohmann::json DescribeViews(const Profile& p, const PageTree& page) {
  nlohmann::json views = nlohmann::json::array();
  const bool live = std::any_of(p.processes.begin(), p.processes.end(),
                                [](const profile::Process& process) { return process.followed; });
  if (p.shows == profile::Shows::kAllocated) views.push_back(Allocated(p, page));
  if (live || p.shows == profile::Shows::kLive) views.push_back(Live(p, page));
  if (!p.gc_cpu.empty())
    views.push_back({{"shows", "gc-cpu"},
                     {"at", Seconds(p.duration_ns)},
                     {"source", "unknown"},
                     {"also", nlohmann::json::array()},
                     {"biased", false},
                     {"hasInterval", false},
                     {"exact", false},
                     {"objectsKnown", false}});
  return views;
}

void PackCells(const PageTree& page, const std::vector<uint32_t>& type_ids, Columns& out) {
  PackCellsOf(page.cells, "cell", type_ids, out);
  PackCellsOf(page.lives, "live", type_ids, out);
  std::vector<uint8_t> ages;
  for (const profile::LiveCell& c : page.lives) ages.push_back(c.age_bucket);
  out.U8("live_age", ages);
}

void PackAges(const Profile& p, Columns& out) {
  int64_t begin = 0, end = 1;
  if (!p.live_ages.empty()) begin = end = p.live_ages.front().at_ns;
  for (const profile::LiveAgeRow& row : p.live_ages) {
    begin = std::min(begin, row.at_ns);
    end = std::max(end, row.at_ns);
  }
  const int64_t width = BinWidth(begin, end);
  std::map<std::pair<uint32_t, int64_t>, int64_t> last;  // (process, step) → its last moment
  for (const profile::LiveAgeRow& row : p.live_ages) {
    const auto [it, fresh] =
        last.try_emplace({row.process, (row.at_ns - begin) / width}, row.at_ns);
    if (!fresh) it->second = std::max(it->second, row.at_ns);
  }
  std::vector<double> at, bytes, objects;
  std::vector<uint32_t> process;
  std::vector<uint8_t> kind, bucket;
  for (const profile::LiveAgeRow& row : p.live_ages) {
    if (last[{row.process, (row.at_ns - begin) / width}] != row.at_ns) continue;
    at.push_back(Seconds(row.at_ns));
    process.push_back(row.process);
    kind.push_back(static_cast<uint8_t>(row.kind));
    bucket.push_back(row.age_bucket);
    bytes.push_back(row.value.bytes);
    objects.push_back(row.value.objects);
  }
  out.F64("age_at", at);
  out.U32("age_process", process);
  out.U8("age_kind", kind);
  out.U8("age_bucket", bucket);
  out.F64("age_bytes", bytes);
  out.F64("age_objects", objects);
}

void PackGcCpu(const Profile& p, Columns& out) {
  int64_t begin = 0, end = 1;
  if (!p.gc_cpu.empty()) begin = p.gc_cpu.front().start_ns;
  for (const profile::GcCpuRow& row : p.gc_cpu) {
    begin = std::min(begin, row.start_ns);
    end = std::max(end, row.end_ns);
  }
  const int64_t width = BinWidth(begin, end);
  std::map<std::pair<uint32_t, int64_t>, profile::GcCpuRow> bins;
  for (const profile::GcCpuRow& row : p.gc_cpu) {
    const auto [it, fresh] = bins.try_emplace({row.process, (row.start_ns - begin) / width}, row);
    if (!fresh) it->second += row;
  }
  std::vector<double> start, stop, whole, server, background, workstation;
  std::vector<uint32_t> process;
  const auto known = [](int64_t ns) { return ns < 0 ? -1 : Seconds(ns); };
  for (const auto& [key, row] : bins) {
    start.push_back(Seconds(row.start_ns));
    stop.push_back(Seconds(row.end_ns));
    process.push_back(row.process);
    whole.push_back(known(row.process_ns));
    server.push_back(known(row.server_gc_ns));
    background.push_back(known(row.background_gc_ns));
    workstation.push_back(known(row.workstation_gc_ns));
  }
  out.F64("cpu_start", start);
  out.F64("cpu_end", stop);
  out.U32("cpu_process", process);
  out.F64("cpu_whole", whole);
  out.F64("cpu_server", server);
  out.F64("cpu_background", background);
  out.F64("cpu_workstation", workstation);
}

}  // namespace clrscope::exporter
