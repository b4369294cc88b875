// SPDX-License-Identifier: Apache-2.0
#include "export/html_data.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "export/html_columns.h"
#include "export/html_lines.h"
#include "export/html_views.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::exporter {
namespace {

using profile::Profile;

constexpr uint32_t kNoId = ~uint32_t{0};
constexpr size_t kMaxGcs = 20'000;

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
  std::vector<uint32_t> ids(p.types.size(), kNoId), name, raw, dup;
  std::vector<char> used(p.types.size(), 0);
  const auto use = [&used](const auto& cells) {
    for (const auto& c : cells)
      if (c.type != kOtherType) used[c.type] = 1;
  };
  use(page.cells);
  use(page.lives);
  for (const PageEvents& e : page.events)
    if (e.figure->spec().typed) use(e.cells);
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

// What came over time, in at most kMaxTimeBins steps per process and heap kind.
void PackTimes(const std::vector<profile::TimeRow>& times, const std::string& prefix,
               Columns& out) {
  int64_t begin = 0, end = 1;
  if (!times.empty()) begin = times.front().start_ns;
  for (const profile::TimeRow& row : times) {
    begin = std::min(begin, row.start_ns);
    end = std::max(end, row.end_ns);
  }
  const int64_t width = BinWidth(begin, end);
  std::map<std::tuple<int64_t, uint32_t, profile::HeapKind>, profile::TimeRow> bins;
  for (const profile::TimeRow& row : times) {
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
    bytes.push_back(row.value.amount);
    objects.push_back(row.value.count);
    samples.push_back(static_cast<double>(row.value.samples));
  }
  out.F64(prefix + "_start", start);
  out.F64(prefix + "_end", stop);
  out.U32(prefix + "_process", process);
  out.U8(prefix + "_kind", kind);
  out.F64(prefix + "_bytes", bytes);
  out.F64(prefix + "_objects", objects);
  out.F64(prefix + "_samples", samples);
}

// Marks of garbage collections; of too many, the older generations stay.
void PackGcs(const Profile& p, Columns& out) {
  std::vector<const profile::GcBrief*> rows;
  for (const profile::GcBrief& gc : p.gcs) {
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
  for (const profile::GcBrief* gc : rows) {
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

nlohmann::json Describe(const Profile& p, const PageTree& page) {
  nlohmann::json processes = nlohmann::json::array(), losses = nlohmann::json::array();
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
  nlohmann::json threads = nlohmann::json::array();
  for (const PageThread& t : page.threads)
    threads.push_back({{"process", t.process},
                       {"thread", t.thread},
                       {"name", p.ThreadName(t.process, t.thread)}});
  p.losses.ForEach([&](Loss loss, uint64_t count) {
    const LossInfo& info = clrscope::Describe(loss);
    losses.push_back({{"name", info.name},
                      {"count", count},
                      {"sentence", info.sentence},
                      {"hides", info.hides}});
  });
  return {{"startUnixMs", static_cast<double>(p.start_unix_ns) / 1e6},
          {"duration", Seconds(p.duration_ns)},
          {"complete", p.complete},
          {"origin", p.origin},
          {"processes", processes},
          {"threads", threads},
          {"losses", losses},
          {"foldedNodes", page.folded_nodes},
          {"foldedTypes", page.folded_types},
          {"foldedThreads", page.folded_threads},
          {"gcs", p.gcs.size()},
          {"views", DescribeViews(p, page)},
          {"ageStarts", profile::kAgeStarts}};
}

void AppendU32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xFF);
}

}  // namespace

std::string PackPage(const Profile& p, const PageTree& page, PageTexts& texts) {
  Names names(p);
  Columns columns;
  PackNodes(p, page, names, columns);
  const std::vector<uint32_t> type_ids = PackTypes(p, page, names, columns);
  PackCells(page, type_ids, columns);
  const std::vector<profile::TimeRow> none;
  PackTimes(page.allocated != nullptr ? page.allocated->times : none, "time", columns);
  for (const PageEvents& e : page.events)
    PackTimes(e.figure->times, EventPrefix(*e.figure) + "_time", columns);
  PackAges(p, columns);
  PackGcCpu(p, columns);
  PackGcs(p, columns);

  nlohmann::json json = Describe(p, page);
  PackLines(p, page, texts, columns, json);
  json["strings"] = names.list();
  json["columns"] = columns.index();
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);

  std::string out = "CLRP";
  AppendU32(out, 1);
  AppendU32(out, static_cast<uint32_t>(text.size()));
  out += text;
  out += columns.bytes();
  return out;
}

}  // namespace clrscope::exporter
