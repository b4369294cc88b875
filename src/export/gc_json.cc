// SPDX-License-Identifier: Apache-2.0
#include "export/gc_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "analysis/families/gc/gc_reasons.h"
#include "clr/gc_names.h"

namespace clrscope::exporter {
namespace {

using analysis::GcFigures;
using analysis::ProcessGcs;
using profile::GcRecord;

Json Millis(int64_t ns) { return ns < 0 ? Json() : Json(static_cast<double>(ns) / 1e6); }
Json Millis(double ns) { return std::isfinite(ns) ? Json(ns / 1e6) : Json(); }

template <class Array>
Json Generations(const Array& values) {
  Json out = Json::object();
  for (size_t g = 0; g < profile::kGcGenerations; ++g)
    out[std::string(clr::GcGenerationName(static_cast<int>(g)))] = Known(values[g]);
  return out;
}

template <class Array>
Json Heaps(const Array& values) {
  return {{"soh", Known(values[0])}, {"loh", Known(values[1])}, {"poh", Known(values[2])}};
}

Json Reason(const GcRecord& r) {
  const std::string_view name = clr::GcReasonName(r.reason);
  return name.empty() ? Json(std::to_string(r.reason)) : Json(name);
}

Json GcType(const GcRecord& r) { return Known(clr::GcTypeName(r.type)); }

Json Condemned(const clr::CondemnedReasons& c) {
  Json out{{"initial_generation", c.initial},
           {"final_generation", c.final},
           {"budget_exceeded_generation", c.by_budget},
           {"time_tuning_generation", c.by_time}};
  out["conditions"] = c.conditions;
  return out;
}

Json Committed(const profile::GcCommitted& c) {
  if (!c.known()) return {};
  return {{"total", c.total()},
          {"in_use", c.in_use},
          {"free", c.free},
          {"global_free", c.global_free},
          {"global_decommit", c.global_decommit},
          {"bookkeeping", c.bookkeeping}};
}

Json HeapRows(const GcRecord& r) {
  Json rows = Json::array();
  for (const profile::GcHeap& h : r.heaps) {
    Json row{{"heap", h.heap},
             {"objects_before_bytes", h.objects_before},
             {"survived_bytes", h.survived},
             {"mark_ms", Millis(h.mark_ns)}};
    Json survival = Json::object();
    for (size_t g = 0; g < r.generations; ++g)
      survival[std::string(clr::GcGenerationName(static_cast<int>(g)))] =
          r.Collected(g) ? Json(h.survival_percent[g]) : Json();
    row["survival_percent"] = std::move(survival);
    row["condemned"] = Condemned(clr::DecodeCondemned(h.condemn_reasons0, h.condemn_reasons1));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Leaf first.
Json Stack(uint32_t node, const profile::Profile& p) {
  if (node == 0) return {};
  Json frames = Json::array();
  for (; node != 0; node = p.nodes[node].parent)
    frames.push_back(p.str(p.frames[p.nodes[node].frame].method));
  return frames;
}

Json PercentilesJson(const analysis::Percentiles& p) {
  return {{"p50", Millis(p.p50)},
          {"p95", Millis(p.p95)},
          {"p99", Millis(p.p99)},
          {"max", Millis(p.max)}};
}

Json RollupJson(const analysis::GcRollup& r) {
  Json row;
  row["generation"] = r.generation < 0 ? Json("all") : Json(r.generation);
  row["background"] = r.background < 0 ? Json() : Json(r.background == 1);
  row["count"] = r.count;
  row["induced"] = r.induced;
  row["compacting"] = r.compacting;
  row["pause_total_ms"] = Millis(r.pause_ns);
  row["pause_mean_ms"] = Millis(r.mean_pause_ns());
  row["pause_ms"] = PercentilesJson(r.pauses);
  row["suspend_max_ms"] = Millis(r.max_suspend_ns);
  row["peak_max_bytes"] = Known(r.max_peak_bytes);
  row["allocated_bytes"] = r.allocated_known == 0 ? Json() : Json(r.allocated_bytes);
  row["allocated_known"] = r.allocated_known;
  row["allocated_max_bytes_per_s"] = Known(r.max_allocated_per_second);
  const double per_pause = r.allocated_per_pause_ns();
  row["allocated_bytes_per_pause_ms"] = Known(per_pause * 1e6);
  row["promoted_bytes"] = r.promoted_known == 0 ? Json() : Json(r.promoted_bytes);
  row["promoted_bytes_per_pause_ms"] =
      r.promoted_known == 0 || r.pause_ns <= 0
          ? Json()
          : Json(static_cast<double>(r.promoted_bytes) * 1e6 / static_cast<double>(r.pause_ns));
  row["pinned_objects_mean"] =
      r.pinned_known == 0
          ? Json()
          : Json(static_cast<double>(r.pinned_objects) / static_cast<double>(r.pinned_known));
  return row;
}

Json TypeCounts(const std::vector<profile::GcFacts::TypeCount>& types, bool bytes,
                const profile::Profile& p) {
  Json rows = Json::array();
  for (const auto& t : types) {
    Json row{{"type", p.str(t.name)}, {"count", t.count}};
    if (bytes) row["bytes"] = t.bytes;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json SettingsJson(const profile::GcFacts& f) {
  if (f.setting_bits < 0) return {};
  const auto configured = [](int64_t v) { return v <= 0 ? Json() : Json(v); };
  return {{"hard_limit_bytes", configured(f.hard_limit_bytes)},
          {"loh_threshold_bytes", configured(f.loh_threshold_bytes)},
          {"physical_memory_bytes", configured(f.physical_memory_bytes)},
          {"gen0_min_budget_bytes", configured(f.gen0_min_budget_bytes)},
          {"gen0_max_budget_bytes", configured(f.gen0_max_budget_bytes)},
          {"high_memory_percent", configured(f.high_memory_percent)},
          {"concurrent", (f.setting_bits & 1) != 0},
          {"large_pages", (f.setting_bits & 2) != 0},
          {"frozen_segments", (f.setting_bits & 4) != 0},
          {"hard_limit_configured", (f.setting_bits & 8) != 0},
          {"no_affinitize", (f.setting_bits & 16) != 0}};
}

Json GcCpuJson(const profile::GcFacts& f) {
  if (f.cpu_to_ns < 0) return {};
  return {
      {"from_ms", Millis(f.cpu_from_ns)},
      {"to_ms", Millis(f.cpu_to_ns)},
      {"process_cpu_ms", Millis(f.process_cpu_ns)},
      {"server_gc_threads", f.server_threads},
      {"server_gc_cpu_ms", f.server_threads > 0 ? Millis(f.server_cpu_ns) : Json()},
      {"background_gc_threads", f.background_threads},
      {"background_gc_cpu_ms", f.background_threads > 0 ? Millis(f.background_cpu_ns) : Json()}};
}

Json InducedJson(const std::vector<analysis::InducingStack>& stacks, const profile::Profile& p) {
  Json rows = Json::array();
  for (const analysis::InducingStack& s : stacks)
    rows.push_back({{"gcs", s.gcs}, {"pause_ms", Millis(s.pause_ns)}, {"stack", Stack(s.node, p)}});
  return rows;
}

Json BlameJson(const analysis::Blame& blame, const profile::Profile& p) {
  if (blame.pause_ns <= 0) return {};
  Json rows = Json::array();
  for (const analysis::TypeBlame& t : blame.types)
    rows.push_back({{"type", p.str(p.types[t.type].name)},
                    {"pause_ms", Millis(t.pause_ns)},
                    {"allocated_estimate_bytes", t.bytes}});
  return {{"pause_ms", Millis(blame.pause_ns)},
          {"unnamed_pause_ms", Millis(std::max(blame.pause_ns - blame.named_ns, 0.0))},
          {"types", std::move(rows)}};
}

}  // namespace

Json GcProcessJson(const ProcessGcs& report, const profile::Profile& profile) {
  const profile::Process& p = profile.processes[report.process];
  const profile::GcFacts& facts = p.gc;
  const analysis::GcStats& s = report.stats;
  Json out{{"pid", p.pid},
           {"name", Known(profile.str(p.name))},
           {"command_line", Known(profile.str(p.command_line))},
           {"runtime", Known(profile.str(p.runtime))},
           {"start_ms", Millis(p.start_ns)},
           {"end_ms", Millis(p.end_ns)},
           {"complete", p.complete}};
  out["gc_server"] = facts.startup_flags < 0 ? (s.max_heap_count > 1 ? Json(true) : Json())
                                             : Json((facts.startup_flags & 0x1000) != 0);
  out["gc_concurrent"] = facts.setting_bits >= 0    ? Json((facts.setting_bits & 1) != 0)
                         : facts.startup_flags >= 0 ? Json((facts.startup_flags & 1) != 0)
                                                    : Json();
  out["heap_count_max"] = Known(int64_t{s.max_heap_count});
  out["settings"] = SettingsJson(facts);
  out["gcs"] = report.gcs.size();
  out["gcs_incomplete"] = s.incomplete;
  out["gcs_maybe_touched_by_loss"] = s.maybe_touched;
  out["gcs_missing"] = facts.missing;
  out["gcs_counted_only"] = facts.counted_only;
  out["gcs_running_at_start"] = facts.orphan_ends;
  out["pause_total_ms"] = Millis(s.paused_ns);
  out["pause_percent"] = Known(s.paused_percent());
  out["pause_ms"] = PercentilesJson(s.pauses);
  out["suspend_ms"] = PercentilesJson(s.suspensions);
  out["peak_max_bytes"] = Known(s.max_peak_bytes);
  out["other_suspensions"] = facts.other_suspensions;
  out["other_suspended_ms"] = Millis(facts.other_suspended_ns);
  out["finalizers_run"] = facts.finalized_objects;
  Json& rollup = out["by_generation"] = Json::array();
  for (const analysis::GcRollup& r : s.rollup) rollup.push_back(RollupJson(r));
  Json& histogram = out["pause_histogram"] = Json::array();
  for (const analysis::GcHistogramBucket& b : s.pause_histogram)
    histogram.push_back(
        {{"from_ms", Millis(b.from_ns)}, {"to_ms", Millis(b.to_ns)}, {"count", b.count}});
  Json& share = out["pause_share"] = Json::array();
  for (const analysis::GcShare& b : s.share)
    share.push_back({{"start_ms", Millis(b.start_ns)},
                     {"end_ms", Millis(b.end_ns)},
                     {"paused_ms", Millis(b.paused_ns)}});
  Json& changes = out["heap_count_changes"] = Json::array();
  for (const analysis::GcHeapCountChange& c : s.heap_counts)
    changes.push_back(
        {{"number", c.gc}, {"start_ms", Millis(c.time_ns)}, {"from", c.from}, {"to", c.to}});
  Json& slow = out["slow_suspensions"] = Json::array();
  for (const uint32_t i : s.slow_suspensions)
    slow.push_back({{"number", report.gcs[i].number},
                    {"suspend_ms", Millis(report.gcs[i].longest_suspend_ns)}});
  Json& advice = out["advice"] = Json::array();
  for (const analysis::GcAdvice& a : report.advice)
    advice.push_back(
        {{"rule", a.rule}, {"evidence", a.evidence}, {"advice", a.advice}, {"setting", a.setting}});
  out["induced_by"] = InducedJson(report.induced_by, profile);
  out["pause_by_type"] = BlameJson(report.blame, profile);
  out["gc_cpu"] = GcCpuJson(facts);
  out["pinned_types"] = TypeCounts(facts.pinned_types, true, profile);
  out["finalized_types"] = TypeCounts(facts.finalized_types, false, profile);
  return out;
}

namespace {

void AddSizes(Json& row, const GcRecord& r, const GcFigures& f) {
  row["size_before_bytes"] = Generations(f.size_before);
  row["size_after_bytes"] = Generations(r.size_after);
  row["promoted_bytes"] = Generations(r.promoted);
  row["before_bytes"] = Known(f.before_bytes);
  row["after_bytes"] = Known(f.after_bytes);
  row["peak_bytes"] = Known(f.peak_bytes);
  row["peak_after_ratio"] =
      f.peak_bytes >= 0 && f.after_bytes > 0
          ? Json(static_cast<double>(f.peak_bytes) / static_cast<double>(f.after_bytes))
          : Json();
  row["promoted_total_bytes"] = Known(f.promoted_bytes);
  profile::GcBytes survived = profile::kGcBytesUnknown;
  for (size_t g = 0; g < r.generations; ++g)
    if (r.Collected(g)) survived[g] = r.generation_data[g].survived();
  row["survived_bytes"] = Generations(survived);
  profile::GcBytes pinned = profile::kGcBytesUnknown;
  for (size_t g = 0; g < r.generations; ++g)
    if (r.Collected(g)) pinned[g] = r.generation_data[g].pinned_survived;
  row["survived_pinned_bytes"] = Generations(pinned);
  row["survival_percent"] = Generations(f.survival_percent);
  row["fragmentation_bytes"] = Generations(f.fragmentation);
  row["fragmentation_percent"] = Generations(f.fragmentation_percent);
  row["budget_bytes"] = Generations(f.budget);
  row["promoted_in_bytes"] = Generations(f.promoted_in);
}

void AddMarking(Json& row, const GcRecord& r) {
  Json phases = Json::object(), mark_ms = Json::object(), mark_bytes = Json::object();
  for (size_t i = 0; i < profile::kGcPhases; ++i)
    phases[std::string(clr::GcPhaseName(static_cast<int>(i))) + "_us"] = Known(r.phase_us[i]);
  for (size_t i = 0; i < profile::kGcRootKinds; ++i) {
    const std::string name(clr::GcRootKindName(static_cast<int>(i)));
    mark_ms[name] = Millis(r.mark_ns[i]);
    mark_bytes[name] = Known(r.mark_bytes[i]);
  }
  row["phases"] = std::move(phases);
  row["mark_ms"] = std::move(mark_ms);
  row["mark_bytes"] = std::move(mark_bytes);
}

// What was allocated before it, by the samples.
void AddAllocated(Json& row, const GcRecord& r, const profile::Profile& profile,
                  const analysis::GcSites& sites) {
  row["allocated_estimate_bytes"] = Known(r.sampled_bytes);
  Json& types = row["top_types"] = Json::array();
  for (const profile::GcAllocated& a : r.top_types)
    types.push_back(
        {{"type", profile.str(profile.types[a.type].name)}, {"allocated_estimate_bytes", a.bytes}});
  Json& top_sites = row["top_sites"] = Json::array();
  for (const analysis::GcSite& s : sites.Of(r))
    top_sites.push_back({{"type", profile.str(profile.types[s.type].name)},
                         {"method", profile.str(profile.frames[s.frame].method)},
                         {"allocated_estimate_bytes", s.bytes}});
}

}  // namespace

Json GcJson(const ProcessGcs& report, size_t index, const profile::Profile& profile,
            const analysis::GcSites& sites) {
  const GcRecord r = report.gcs[index].Unpack();
  const GcFigures f = analysis::FiguresOf(r, report.figures.flows()[index]);
  Json row{{"pid", profile.processes[report.process].pid},
           {"number", r.number},
           {"generation", r.generation < 0 ? Json() : Json(r.generation)},
           {"type", GcType(r)},
           {"reason", Reason(r)},
           {"induced", clr::IsInduced(r.reason)},
           {"complete", r.has(profile::kGcComplete)},
           {"maybe_touched_by_loss", r.has(profile::kGcMaybeTouched)},
           {"start_ms", Millis(r.start_ns)},
           {"end_ms", Millis(r.end_ns)},
           {"pause_start_ms", Millis(r.pause_start_ns)},
           {"duration_ms", r.ended() ? Millis(r.end_ns - r.start_ns) : Json()},
           {"pause_ms", Millis(r.pause_ns)},
           {"initial_pause_ms", Millis(r.initial_pause_ns)},
           {"final_pause_ms", Millis(r.final_pause_ns)},
           {"suspend_ms", Millis(r.suspend_ns)},
           {"ran_before_ms", Millis(f.ran_ns)},
           {"pause_percent", Known(f.pause_percent)}};
  row["inside_pause_of_previous"] = r.has(profile::kGcInsideSuspension);
  row["fell_back_to_blocking"] = r.has(profile::kGcFellBack);
  AddSizes(row, r, f);
  row["allocated_bytes"] = Known(f.allocated_bytes);
  row["allocated_by_heap_bytes"] = Heaps(f.allocated);
  row["allocated_bytes_per_s"] = Known(f.allocated_per_second());
  row["finalization_promoted_bytes"] = Known(r.finalization_promoted_bytes);
  row["finalization_promoted_count"] = Known(r.finalization_promoted_count);
  row["pinned_objects"] = Known(r.pinned_objects);
  row["pinned_seen_bytes"] = Known(r.pinned_seen_bytes);
  row["gc_handles"] = Known(r.handles);
  row["sync_blocks"] = Known(r.sink_blocks);
  row["heap_count"] = Known(int64_t{r.heap_count});
  row["wanted_heap_count"] = Known(r.wanted_heap_count);
  const bool known = r.mechanisms >= 0;
  row["compacting"] = known ? Json(f.compacted) : Json();
  row["concurrent"] = known ? Json(f.concurrent) : Json();
  row["promotion"] = known ? Json(f.promoted) : Json();
  row["demotion"] = known ? Json(f.demoted) : Json();
  row["pause_mode"] = Known(clr::GcPauseModeName(r.pause_mode));
  row["memory_load_percent"] = Known(int64_t{r.memory_load_percent});
  AddMarking(row, r);
  row["committed_before_bytes"] = Committed(r.committed_before);
  row["committed_after_bytes"] = Committed(r.committed_after);
  row["free_list_allocated_bytes"] = r.has_histories() ? Json(r.free_list_allocated) : Json();
  row["free_list_rejected_bytes"] = r.has_histories() ? Json(r.free_list_rejected) : Json();
  const std::optional<clr::CondemnedReasons> why = analysis::CondemnedOf(r);
  row["condemned"] = why ? Condemned(*why) : Json();
  row["survived_imbalance"] = Known(f.survived_imbalance);
  row["mark_imbalance"] = Known(f.mark_imbalance);
  row["heaps"] = HeapRows(r);
  AddAllocated(row, r, profile, sites);
  row["trigger_stack"] = Stack(r.trigger_node, profile);
  return row;
}

}  // namespace clrscope::exporter
