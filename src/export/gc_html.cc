// SPDX-License-Identifier: Apache-2.0
#include "export/gc_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/loss.h"
#include "base/saturate.h"
#include "clr/gc_names.h"
#include "export/gc_json.h"
#include "export/html_page.h"

#ifndef CLRSCOPE_WEB_OFF
// The viewer, put there by cmake/embed.cmake.
extern "C" const char clrscope_gc_html[];
extern "C" const char clrscope_gc_html_end[];
#endif

namespace clrscope::exporter {
namespace {

using analysis::GcFigures;
using analysis::ProcessGcs;
using profile::GcRecord;

constexpr int kFormat = 1;

#ifdef CLRSCOPE_WEB_OFF
std::string_view GcViewer() { return {}; }
#else
std::string_view GcViewer() {
  return {clrscope_gc_html, static_cast<size_t>(clrscope_gc_html_end - clrscope_gc_html)};
}
#endif

// A row of the page: one collection, or several that were merged.
struct Row {
  uint32_t count = 1;
  uint32_t number = 0, last_number = 0;
  const profile::PackedGc* shown = nullptr;  // what a merged row looks like: its longest pause
  int64_t start_ns = -1, end_ns = -1;
  int64_t pause_ns = -1, max_pause_ns = -1, suspend_ns = -1;
  int64_t peak_bytes = -1, promoted_bytes = -1, allocated_bytes = -1, ran_ns = -1;
  profile::GcBytes size_after = profile::kGcBytesUnknown;
  int64_t fragmentation_bytes = -1, committed_bytes = -1, pinned = -1;
  profile::GcBytes before{}, survived{};  // of the generations that were collected
  int32_t heaps = -1, memory_load = -1;
  bool complete = true, touched = false;
};

void AddKnown(int64_t& sum, int64_t more) {
  if (more >= 0) sum = SaturatedAdd(std::max<int64_t>(sum, 0), more);
}

Row RowOf(const profile::PackedGc& gc, const analysis::GcFlow& flow) {
  const GcRecord r = gc.Unpack();
  const GcFigures f = analysis::FiguresOf(r, flow);
  Row row;
  row.number = row.last_number = r.number;
  row.shown = &gc;
  row.start_ns = r.pause_start_ns >= 0 ? r.pause_start_ns : r.start_ns;
  row.end_ns = std::max({r.end_ns, r.restart_ns, row.start_ns});
  row.pause_ns = row.max_pause_ns = r.pause_ns;
  row.suspend_ns = r.suspend_ns;
  row.peak_bytes = f.peak_bytes;
  row.promoted_bytes = f.promoted_bytes;
  row.allocated_bytes = f.allocated_bytes;
  row.ran_ns = f.allocated_bytes >= 0 ? f.ran_ns : -1;  // for the rate
  row.size_after = r.size_after;
  if (r.has_histories())
    for (size_t g = 0; g < r.generations; ++g) {
      AddKnown(row.fragmentation_bytes, f.fragmentation[g]);
      if (!r.Collected(g)) continue;
      AddKnown(row.before[g], r.generation_data[g].objects_before());
      AddKnown(row.survived[g], r.generation_data[g].survived());
    }
  row.committed_bytes =
      r.committed_after.known() ? r.committed_after.total() : r.committed_before.total();
  row.pinned = r.pinned_objects;
  row.heaps = r.heap_count;
  row.memory_load = r.memory_load_percent;
  row.complete = r.has(profile::kGcComplete);
  row.touched = r.has(profile::kGcMaybeTouched);
  return row;
}

// Flows are added up, states are the last ones, peaks the largest.
void Merge(Row& into, const Row& next) {
  into.count += next.count;
  into.last_number = next.last_number;
  if (next.max_pause_ns > into.max_pause_ns) into.shown = next.shown;
  into.end_ns = std::max(into.end_ns, next.end_ns);
  AddKnown(into.pause_ns, next.pause_ns);
  into.max_pause_ns = std::max(into.max_pause_ns, next.max_pause_ns);
  AddKnown(into.suspend_ns, next.suspend_ns);
  into.peak_bytes = std::max(into.peak_bytes, next.peak_bytes);
  AddKnown(into.promoted_bytes, next.promoted_bytes);
  // A rate needs both: of a collection without one of them neither counts.
  if (next.allocated_bytes >= 0) {
    AddKnown(into.allocated_bytes, next.allocated_bytes);
    AddKnown(into.ran_ns, next.ran_ns);
  }
  if (next.size_after[0] >= 0) into.size_after = next.size_after;
  if (next.fragmentation_bytes >= 0) into.fragmentation_bytes = next.fragmentation_bytes;
  if (next.committed_bytes >= 0) into.committed_bytes = next.committed_bytes;
  for (size_t g = 0; g < profile::kGcGenerations; ++g) {
    AddKnown(into.before[g], next.before[g]);
    AddKnown(into.survived[g], next.survived[g]);
  }
  into.pinned = std::max(into.pinned, next.pinned);
  into.heaps = std::max(into.heaps, next.heaps);
  into.memory_load = std::max(into.memory_load, next.memory_load);
  into.complete = into.complete && next.complete;
  into.touched = into.touched || next.touched;
}

std::vector<Row> RowsOf(const ProcessGcs& report, const GcHtmlOptions& o) {
  const size_t n = report.gcs.size();
  const size_t older = n > o.max_single ? n - o.max_single : 0;
  const size_t most = std::max<size_t>(o.max_merged, 1), together = (older + most - 1) / most;
  std::vector<Row> rows;
  for (size_t i = 0; i < n; ++i) {
    Row row = RowOf(report.gcs[i], report.figures.flows()[i]);
    if (i < older && i % together != 0)
      Merge(rows.back(), row);
    else
      rows.push_back(row);
  }
  return rows;
}

// Numbers without a fraction that nobody needs: text is what the page weighs.
double Micro(int64_t ns) { return std::round(static_cast<double>(ns) / 1e3) / 1e3; }
Json Ms(int64_t ns) { return ns < 0 ? Json() : Json(Micro(ns)); }

class NameList {
 public:
  uint32_t Of(std::string_view name) {
    const auto [it, is_new] =
        index_.try_emplace(std::string(name), static_cast<uint32_t>(list_.size()));
    if (is_new) list_.push_back(name);
    return it->second;
  }
  Json Take() { return std::move(list_); }

 private:
  std::unordered_map<std::string, uint32_t> index_;
  Json list_ = Json::array();
};

Json DetailOf(const GcRecord& r, const profile::Profile& p, const analysis::GcSites& sites,
              NameList& names) {
  Json types = Json::array(), methods = Json::array(), stack = Json::array();
  for (const profile::GcAllocated& a : r.top_types)
    types.push_back({names.Of(p.str(p.types[a.type].name)), a.bytes});
  for (const analysis::GcSite& s : sites.Of(r))
    methods.push_back({names.Of(p.str(p.types[s.type].name)),
                       names.Of(p.str(p.frames[s.frame].method)), s.bytes});
  for (uint32_t n = r.trigger_node; n != 0; n = p.nodes[n].parent)
    stack.push_back(names.Of(p.str(p.frames[p.nodes[n].frame].method)));
  return {{"all", Known(r.sampled_bytes)},
          {"types", std::move(types)},
          {"sites", std::move(methods)},
          {"stack", std::move(stack)}};
}

Json ColumnsOf(const std::vector<Row>& rows) {
  Json c = Json::object();
  const auto column = [&](const char* name, auto&& value) {
    Json& out = c[name] = Json::array();
    for (const Row& r : rows) out.push_back(value(r));
  };
  column("count", [](const Row& r) { return r.count; });
  column("number", [](const Row& r) { return r.number; });
  column("last_number", [](const Row& r) { return r.last_number; });
  column("generation", [](const Row& r) { return r.shown->generation; });
  column("type", [](const Row& r) { return r.shown->type; });
  column("reason", [](const Row& r) { return r.shown->reason; });
  column("induced", [](const Row& r) { return clr::IsInduced(r.shown->reason) ? 1 : 0; });
  column("start_ms", [](const Row& r) { return Micro(r.start_ns); });
  column("end_ms", [](const Row& r) { return Micro(r.end_ns); });
  column("pause_ms", [](const Row& r) { return Ms(r.pause_ns); });
  column("max_pause_ms", [](const Row& r) { return Ms(r.max_pause_ns); });
  column("suspend_ms", [](const Row& r) { return Ms(r.suspend_ns); });
  column("ran_ms", [](const Row& r) { return Ms(r.ran_ns); });
  column("peak_bytes", [](const Row& r) { return Known(r.peak_bytes); });
  column("promoted_bytes", [](const Row& r) { return Known(r.promoted_bytes); });
  column("allocated_bytes", [](const Row& r) { return Known(r.allocated_bytes); });
  for (size_t g = 0; g < profile::kGcGenerations; ++g) {
    const std::string name(clr::GcGenerationName(static_cast<int>(g)));
    column((name + "_bytes").c_str(), [g](const Row& r) { return Known(r.size_after[g]); });
    column((name + "_survived_percent").c_str(), [g](const Row& r) {
      if (r.before[g] <= 0) return Json();
      const double percent =
          100 * static_cast<double>(r.survived[g]) / static_cast<double>(r.before[g]);
      return Json(std::round(percent * 10) / 10);
    });
  }
  column("fragmentation_bytes", [](const Row& r) { return Known(r.fragmentation_bytes); });
  column("committed_bytes", [](const Row& r) { return Known(r.committed_bytes); });
  column("pinned_objects", [](const Row& r) { return Known(r.pinned); });
  column("heaps", [](const Row& r) { return Known(int64_t{r.heaps}); });
  column("memory_load_percent", [](const Row& r) { return Known(int64_t{r.memory_load}); });
  column("marks", [](const Row& r) { return (r.complete ? 0 : 1) + (r.touched ? 2 : 0); });
  return c;
}

std::string GcTitle(std::span<const ProcessGcs> reports, const profile::Profile& p) {
  const ProcessGcs* busiest = nullptr;
  for (const ProcessGcs& r : reports)
    if (busiest == nullptr || r.gcs.size() > busiest->gcs.size()) busiest = &r;
  if (busiest == nullptr) return "collections";
  const profile::Process& process = p.processes[busiest->process];
  const std::string_view name = p.str(process.name);
  std::string title = fmt::format("{} ({})", name.empty() ? "process" : name, process.pid);
  if (reports.size() > 1) title += fmt::format(" and {} more", reports.size() - 1);
  return title + " · GC";
}

}  // namespace

std::string GcPageData(std::span<const ProcessGcs> reports, const profile::Profile& p,
                       const GcHtmlOptions& o) {
  Json page{{"format", kFormat},
            {"file", p.origin.empty() ? Json() : Json(p.origin)},
            {"start_unix_ms", static_cast<double>(p.start_unix_ns) / 1e6},
            {"duration_ms", Micro(p.duration_ns)},
            {"complete", p.complete}};
  Json& losses = page["losses"] = Json::array();
  p.losses.ForEach([&](Loss loss, uint64_t n) {
    losses.push_back({{"count", n}, {"sentence", Describe(loss).sentence}});
  });
  Json& reasons = page["reasons"] = Json::array();
  for (int32_t i = 0; !clr::GcReasonName(i).empty(); ++i) reasons.push_back(clr::GcReasonName(i));
  const analysis::GcSites sites(p);
  NameList names;
  Json& processes = page["processes"] = Json::array();
  for (const ProcessGcs& report : reports) {
    if (report.gcs.empty() && reports.size() > 1) continue;
    const std::vector<Row> rows = RowsOf(report, o);
    Json one = GcProcessJson(report, p);
    one["columns"] = ColumnsOf(rows);
    std::vector<uint32_t> longest(rows.size());
    std::iota(longest.begin(), longest.end(), 0u);
    const size_t n = std::min(o.max_detailed, longest.size());
    std::partial_sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(n),
                      longest.end(), [&](uint32_t a, uint32_t b) {
                        return std::pair(-rows[a].max_pause_ns, a) <
                               std::pair(-rows[b].max_pause_ns, b);
                      });
    longest.resize(n);
    std::sort(longest.begin(), longest.end());
    Json& details = one["details"] = Json::object();
    for (const uint32_t i : longest) {
      const GcRecord r = rows[i].shown->Unpack();
      if (r.top_types.empty() && r.trigger_node == 0) continue;
      details[std::to_string(i)] = DetailOf(r, p, sites, names);
    }
    processes.push_back(std::move(one));
  }
  page["names"] = names.Take();
  return page.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status WriteGcHtml(std::span<const ProcessGcs> reports, const profile::Profile& profile,
                   const GcHtmlOptions& options, ByteSink& sink) {
  ASSIGN_OR_RETURN(const std::string packed, Deflate(GcPageData(reports, profile, options)));
  return WriteHtmlPage(GcViewer(), GcTitle(reports, profile), packed, sink);
}

}  // namespace clrscope::exporter
