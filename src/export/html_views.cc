// SPDX-License-Identifier: Apache-2.0
#include "export/html_views.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/overhead/overhead_note.h"
#include "profile/sampler_notes.h"
#include "profile/storm_note.h"
#include "profile/views/show_live.h"

namespace clrscope::exporter {
namespace {

using profile::Estimate;
using profile::Profile;

template <class Cells>
nlohmann::json TotalOf(const Cells& cells) {
  Estimate total;
  for (const auto& c : cells) total += c.value;
  return {{"samples", total.samples}, {"bytes", total.amount}, {"objects", total.count}};
}

nlohmann::json DescribeQuantity(const profile::Quantity& q) {
  return {{"name", q.name},
          {"heading", q.heading},
          {"unit", q.unit == profile::Unit::kBytes         ? "bytes"
                   : q.unit == profile::Unit::kNanoseconds ? "ns"
                                                           : "number"}};
}

// The words of a measure.
nlohmann::json DescribeMeasure(profile::Measure m) {
  const profile::MeasureSpec& spec = SpecOf(m);
  return {{"shows", spec.shows},
          {"title", spec.title},
          {"done", spec.done},
          {"place", spec.place},
          {"doing", spec.doing},
          {"none", spec.none},
          {"note", ""},
          {"typed", spec.typed},
          {"heaps", spec.heaps},
          {"byThread", false},
          {"events", false},
          {"amountFirst", spec.amount_first},
          {"quantity",
           {{"bytes", DescribeQuantity(spec.amount)}, {"objects", DescribeQuantity(spec.count)}}}};
}

nlohmann::json With(nlohmann::json view, const nlohmann::json& more) {
  view.update(more);
  return view;
}

// Of the figure of allocations or of one of events.
nlohmann::json DescribeFigure(const Profile& p, const profile::Figure& f,
                              const std::vector<profile::Cell>& cells) {
  nlohmann::json also = nlohmann::json::array();
  for (const profile::Source source : f.also) also.push_back(profile::SourceWord(source));
  return With(DescribeMeasure(f.measure),
              {{"at", Seconds(p.duration_ns)},
               {"events", f.events()},
               {"byThread", f.by_thread()},
               {"source", profile::SourceWord(f.source)},
               {"event", profile::EventName(f.source)},
               {"also", also},
               {"biased", f.biased() || f.mixed},
               {"hasInterval", f.has_interval() && !f.mixed},
               {"exact",
                (f.events() && !f.clocked() && !f.storms.any()) || (&f == &p.shown() && p.exact())},
               {"objectsKnown", f.counts_known},
               {"note", f.storms.any()    ? profile::StormNote(f)
                        : f.windows.any() ? profile::AllocationWindowsNote(f)
                                          : profile::SamplerNote(p, f)},
               {"total", TotalOf(cells)}});
}

nlohmann::json Live(const Profile& p, const PageTree& page) {
  int64_t at_ns = 0;
  for (const profile::Process& process : p.processes) at_ns = std::max(at_ns, process.live_at_ns);
  const profile::LiveBasis basis = profile::LiveBasisOf(p);
  return With(DescribeMeasure(profile::Measure::kLive),
              {{"at", Seconds(at_ns)},
               {"source", profile::SourceWord(basis.source)},
               {"event", profile::EventName(basis.source)},
               {"also", nlohmann::json::array()},
               {"biased", basis.source == profile::Source::kTick || basis.mixed},
               {"hasInterval", basis.source == profile::Source::kSampled && !basis.mixed},
               {"exact", false},
               {"objectsKnown", true},
               {"total", TotalOf(page.lives)}});
}

auto EstimateKey(const Estimate& e) {
  return std::tuple(e.samples, e.amount, e.count, e.seen_amount, e.seen_count, e.var_amount,
                    e.var_count, e.max_amount, e.max_count, e.many_sizes);
}

// Cells refer to a table of distinct estimates: most cells are one or two samples of few sizes.
// Bytes and objects keep all their digits, so that totals agree; what only feeds the intervals
// (seen, variance, largest weight) is rounded to 24 bits.
template <class Cells>
void PackCellsOf(const Cells& cells, const std::string& prefix,
                 const std::vector<uint32_t>& type_ids, Columns& out, bool typed = true) {
  std::vector<uint32_t> step, type, process, thread, value;
  std::vector<uint8_t> kind;
  std::vector<const Estimate*> rows;
  std::map<decltype(EstimateKey({})), uint32_t> ids;
  uint32_t last = 0;
  for (const auto& c : cells) {
    step.push_back(c.node - last);
    last = c.node;
    type.push_back(!typed ? 0 : c.type == kOtherType ? type_ids.back() : type_ids[c.type]);
    process.push_back(c.process);
    if constexpr (requires { c.labels; }) thread.push_back(c.labels);
    kind.push_back(static_cast<uint8_t>(c.kind));
    const auto [it, fresh] =
        ids.try_emplace(EstimateKey(c.value), static_cast<uint32_t>(rows.size()));
    if (fresh) rows.push_back(&c.value);
    value.push_back(it->second);
  }
  out.U32(prefix + "_step", step);
  out.U32(prefix + "_type", type);
  out.U32(prefix + "_process", process);
  if (!cells.empty() && thread.size() == cells.size()) out.U32(prefix + "_thread", thread);
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
  exact("bytes", &Estimate::amount);
  exact("objects", &Estimate::count);
  rounded("seen_bytes", &Estimate::seen_amount);
  rounded("seen_objects", &Estimate::seen_count);
  rounded("var_bytes", &Estimate::var_amount);
  rounded("var_objects", &Estimate::var_count);
  rounded("max_bytes", &Estimate::max_amount);
  rounded("max_objects", &Estimate::max_count);
  std::vector<uint8_t> many;
  for (const Estimate* e : rows) many.push_back(e->many_sizes ? 1 : 0);
  out.U8(prefix + "_of_many_sizes", many);
}

}  // namespace

nlohmann::json DescribeViews(const Profile& p, const PageTree& page) {
  nlohmann::json views = nlohmann::json::array();
  if (page.allocated != nullptr) views.push_back(DescribeFigure(p, *page.allocated, page.cells));
  if (page.live) views.push_back(Live(p, page));
  for (const PageEvents& e : page.events) views.push_back(DescribeFigure(p, *e.figure, e.cells));
  if (page.gc_cpu)
    views.push_back(
        With(DescribeMeasure(profile::Measure::kGcCpu), {{"at", Seconds(p.duration_ns)},
                                                         {"source", "unknown"},
                                                         {"event", ""},
                                                         {"also", nlohmann::json::array()},
                                                         {"biased", false},
                                                         {"hasInterval", false},
                                                         {"exact", false},
                                                         {"objectsKnown", false}}));
  // What was not recorded, or never happened, is not what people look for.
  const auto shown = std::find_if(views.begin(), views.end(), [&](const nlohmann::json& v) {
    return v["shows"] == p.shown().spec().shows;
  });
  if (shown != views.end()) std::rotate(views.begin(), shown, std::next(shown));
  return views;
}

void PackCells(const PageTree& page, const std::vector<uint32_t>& type_ids, Columns& out) {
  PackCellsOf(page.cells, "cell", type_ids, out);
  PackCellsOf(page.lives, "live", type_ids, out);
  for (const PageEvents& e : page.events)
    PackCellsOf(e.cells, EventPrefix(*e.figure), type_ids, out, e.figure->spec().typed);
  std::vector<uint8_t> ages;
  for (const profile::LiveCell& c : page.lives) ages.push_back(c.age_bucket);
  out.U8("live_age", ages);
}

void PackAges(const Profile& p, Columns& out) {
  int64_t begin = 0, end = 1;
  if (!p.live_ages().empty()) begin = end = p.live_ages().front().at_ns;
  for (const profile::LiveAgeRow& row : p.live_ages()) {
    begin = std::min(begin, row.at_ns);
    end = std::max(end, row.at_ns);
  }
  const int64_t width = BinWidth(begin, end);
  std::map<std::pair<uint32_t, int64_t>, int64_t> last;  // (process, step) → its last moment
  for (const profile::LiveAgeRow& row : p.live_ages()) {
    const auto [it, fresh] =
        last.try_emplace({row.process, (row.at_ns - begin) / width}, row.at_ns);
    if (!fresh) it->second = std::max(it->second, row.at_ns);
  }
  std::vector<double> at, bytes, objects;
  std::vector<uint32_t> process;
  std::vector<uint8_t> kind, bucket;
  for (const profile::LiveAgeRow& row : p.live_ages()) {
    if (last[{row.process, (row.at_ns - begin) / width}] != row.at_ns) continue;
    at.push_back(Seconds(row.at_ns));
    process.push_back(row.process);
    kind.push_back(static_cast<uint8_t>(row.kind));
    bucket.push_back(row.age_bucket);
    bytes.push_back(row.value.amount);
    objects.push_back(row.value.count);
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
  if (!p.gc_cpu().empty()) begin = p.gc_cpu().front().start_ns;
  for (const profile::GcCpuRow& row : p.gc_cpu()) {
    begin = std::min(begin, row.start_ns);
    end = std::max(end, row.end_ns);
  }
  const int64_t width = BinWidth(begin, end);
  std::map<std::pair<uint32_t, int64_t>, profile::GcCpuRow> bins;
  for (const profile::GcCpuRow& row : p.gc_cpu()) {
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
