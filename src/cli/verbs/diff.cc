// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "report/rows/diff_rows.h"
#include "report/rows/fail_on.h"
#include "report/rows/losses.h"
#include "report/rows/views.h"
#include "report/text/diff.h"

namespace clrscope::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> files, before, after, fail_on;
  profile::Filter filter;
  report::SymbolOptions symbols;
  std::string event, measure, by, metric, per = "total";
  std::optional<size_t> limit;
  bool json = false, markdown = false, framework = false;
  ColorMode color = ColorMode::kAuto;

  report::Per divide = report::Per::kTotal;
  report::View view = report::View::kSite;
  std::vector<report::FailOn> conditions;
};

// errors: kUsage
Status Resolve(DiffOptions& o) {
  if (o.files.size() == 2 && o.before.empty() && o.after.empty()) {
    o.before = {o.files[0]};
    o.after = {o.files[1]};
  } else if (!o.files.empty() || o.before.empty() || o.after.empty()) {
    return Error{ErrorCode::kUsage,
                 "give two files (or windows, FILE@FROM..TO): BEFORE AFTER; or several of each "
                 "side by --before and --after"};
  }
  o.divide = o.per == "second"    ? report::Per::kSecond
             : o.per == "gc"      ? report::Per::kGc
             : o.per == "request" ? report::Per::kRequest
                                  : report::Per::kTotal;
  if (o.divide == report::Per::kRequest) {
    if (!o.by.empty())
      return Error{ErrorCode::kUsage,
                   fmt::format("--per request has a row for each route: leave --by {} away", o.by)};
    if (o.measure == "live")
      return Error{ErrorCode::kUsage,
                   "--per request: what lives is a state, which no number of requests divides; "
                   "--request narrows it to the requests that allocated it"};
    o.by = "request";
    o.view = report::View::kRequest;
  }
  if (o.by.empty()) o.by = o.measure == "gc-cpu" || o.measure == "requests" ? "process" : "site";
  for (const report::View v : {report::View::kThread, report::View::kType, report::View::kSite,
                               report::View::kStack, report::View::kMethod, report::View::kKind,
                               report::View::kAssembly, report::View::kProcess})
    if (report::ViewName(v) == o.by) o.view = v;
  for (const std::string& text : o.fail_on) {
    ASSIGN_OR_RETURN(report::FailOn condition, report::ParseFailOn(text));
    o.conditions.push_back(std::move(condition));
  }
  return OkStatus();
}

Result<report::DiffInput> Load(const std::string& name, const DiffOptions& o) {
  report::InputOptions options = report::ParseWindow(name);
  options.filter = o.filter;
  options.event = o.event;
  options.measure = o.measure;
  options.symbols = o.symbols;
  options.detail = report::DetailFor(o.view, o.filter);
  report::DiffInput out;
  out.name = name;
  ASSIGN_OR_RETURN(out.input, report::LoadInput(options));
  WarnAll(out.input.notes);
  const profile::Profile& p = out.input.profile;
  const int64_t from = std::max<int64_t>(out.input.range.from_ns, 0);
  const int64_t to = std::min(out.input.range.to_ns, p.duration_ns);
  out.seconds = static_cast<double>(std::max<int64_t>(to - from, 0)) / 1e9;
  out.gcs = static_cast<uint64_t>(std::count_if(
      p.gcs.begin(), p.gcs.end(),
      [&](const profile::GcBrief& gc) { return gc.start_ns >= from && gc.start_ns < to; }));
  if (o.divide == report::Per::kSecond) out.exposure = out.seconds;
  if (o.divide == report::Per::kRequest) {
    if (p.Find(profile::Measure::kRequests) == nullptr)
      return Error{ErrorCode::kEmpty,
                   fmt::format("--per request: {} holds no requests: {}", name,
                               report::WhyNotHeld(p, profile::Measure::kRequests))};
    RETURN_IF_ERROR(report::CheckView(p, o.view, o.filter));
    out.exposure = report::RequestCount(p);
  }
  if (o.divide == report::Per::kGc) out.exposure = static_cast<double>(out.gcs);
  if (out.exposure <= 0)
    return Error{ErrorCode::kEmpty,
                 fmt::format("{} holds no {}, so nothing can be told per {}", name,
                             o.divide == report::Per::kGc        ? "GC"
                             : o.divide == report::Per::kRequest ? "request that matches"
                                                                 : "time",
                             o.per)};
  return out;
}

Result<std::vector<report::DiffInput>> LoadSide(const std::vector<std::string>& names,
                                                const DiffOptions& o) {
  std::vector<report::DiffInput> side;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(report::DiffInput input, Load(name, o));
    side.push_back(std::move(input));
  }
  return side;
}

// Which quantity of what is compared; without --metric the one that reports sort by.
// errors: kUsage
Result<profile::Metric> MetricOf(const profile::MeasureSpec& measure, DiffOptions& o) {
  if (o.metric.empty()) o.metric = measure.amount_first ? measure.amount.name : measure.count.name;
  if (o.metric == measure.amount.name) return profile::Metric::kAmount;
  if (o.metric == measure.count.name) return profile::Metric::kCount;
  return Error{ErrorCode::kUsage,
               fmt::format("--metric {}: {} have {} and {}", o.metric, measure.title,
                           measure.count.name, measure.amount.name)};
}

Status CheckView(const std::vector<report::DiffInput>& side, const DiffOptions& o) {
  for (const report::DiffInput& i : side) {
    const profile::Profile& p = i.input.profile;
    RETURN_IF_ERROR(report::CheckView(p, o.view, o.filter));
    if (p.shown().spec().state && o.divide != report::Per::kTotal)
      return Error{ErrorCode::kUsage,
                   fmt::format("--per {}: {} are a state, which no time or GC divides", o.per,
                               p.shown().spec().title)};
    if (o.view != report::View::kThread || !p.shown().threads.empty() || p.shown().cells.empty())
      continue;
    const std::string missing = report::ThreadsMissing(p);
    return Error{ErrorCode::kEmpty, fmt::format("{} holds no threads{}{}", i.name,
                                                missing.empty() ? "" : ": ", missing)};
  }
  return OkStatus();
}

// Samples of different events are no measure of each other.
Status CheckSources(const std::vector<report::DiffInput>& before,
                    const std::vector<report::DiffInput>& after) {
  const profile::Measure measure = before.front().input.profile.measure();
  for (const auto* side : {&before, &after})
    for (const report::DiffInput& i : *side)
      if (i.input.profile.measure() != measure)
        return Error{ErrorCode::kUsage,
                     fmt::format("{} shows {}, {} {}: choose one that both hold by --measure",
                                 before.front().name, SpecOf(measure).title, i.name,
                                 i.input.profile.shown().spec().title)};
  const report::DiffInput* first =
      nullptr;  // a recording without allocations has no event of its own
  for (const auto* side : {&before, &after})
    for (const report::DiffInput& i : *side) {
      if (i.input.profile.shown().cells.empty()) continue;
      if (first == nullptr) first = &i;
      if (i.input.profile.shown().source != first->input.profile.shown().source)
        return Error{
            ErrorCode::kRefused,
            fmt::format("{} rests on {}, {} on {}: they cannot be compared; choose an event that "
                        "both hold by --event, or record both the same way",
                        first->name, profile::EventName(first->input.profile.shown().source),
                        i.name, profile::EventName(i.input.profile.shown().source))};
    }
  if (first == nullptr) {
    std::string missing;
    for (const auto* side : {&before, &after})
      for (const report::DiffInput& i : *side)
        if (const std::string of = report::ButMissing(i.input.profile, i.input.damage.has_value());
            !of.empty())
          missing += fmt::format("; of {}: {}", i.name, of.substr(2));  // without its "; "
    return Error{ErrorCode::kEmpty,
                 (measure == profile::Measure::kAllocations
                      ? "neither side holds an allocation that matches"
                      : fmt::format("neither side holds {} that match", SpecOf(measure).title)) +
                     missing};
  }
  return OkStatus();
}

report::Json Thousandths(double v) { return report::Json(std::round(v * 1000) / 1000); }

void AddRouteSide(std::string_view side, const report::RouteSide& s, report::Json& row) {
  const auto add = [&](std::string_view name, bool known, double v) {
    row[fmt::format("{}_{}", name, side)] = known ? report::Json(std::llround(v)) : report::Json();
  };
  const bool timed = s.durations.count > 0;
  add("requests", true, s.count);
  add("errors", s.errors.has_value(), s.errors.value_or(0));
  add("p50_ns", timed, s.durations.At(0.5));
  add("p95_ns", timed, s.durations.At(0.95));
}

report::Json RowOf(const report::DiffRow& r, const report::DiffTable& t) {
  const profile::Difference& d = r.difference;
  report::Json row = r.key.is_null() ? report::Json::object() : r.key;
  const auto figure = [&](std::string_view name, double v, const profile::Interval& i, bool told) {
    const bool interval = told && d.has_interval;
    row[std::string(name)] = told ? Thousandths(v) : report::Json();
    row[fmt::format("{}_low", name)] = interval ? Thousandths(i.low) : report::Json();
    row[fmt::format("{}_high", name)] = interval ? Thousandths(i.high) : report::Json();
  };
  const bool before_told = !r.requests || r.requests->before.count > 0;
  const bool after_told = !r.requests || r.requests->after.count > 0;
  const bool both = before_told && after_told;
  if (profile::IsEvent(t.source)) {
    const auto whole = [&](std::string_view name, double before, double after) {
      row[fmt::format("{}_before", name)] = std::llround(before);
      row[fmt::format("{}_after", name)] = std::llround(after);
    };
    whole(t.spec().count.name, r.before.count, r.after.count);
    whole(t.spec().amount.name, r.before.amount, r.after.amount);
  } else {
    row["samples_before"] = r.before.samples;
    row["samples_after"] = r.after.samples;
  }
  figure("before", d.before, d.before_interval, before_told);
  figure("after", d.after, d.after_interval, after_told);
  figure("difference", d.difference, d.difference_interval, both);
  row["ratio"] = both && d.ratio() ? report::Json(*d.ratio()) : report::Json();
  if (r.requests) {
    AddRouteSide("before", r.requests->before, row);
    AddRouteSide("after", r.requests->after, row);
  } else {
    const double before = t.total.difference.before, after = t.total.difference.after;
    row["share_before"] = before > 0 ? report::Json(d.before / before) : report::Json();
    row["share_after"] = after > 0 ? report::Json(d.after / after) : report::Json();
  }
  row["p_value"] = d.p_value ? report::Json(*d.p_value) : report::Json();
  row["changed"] = d.changed;
  return row;
}

report::Json SideJson(const std::vector<report::DiffInput>& side) {
  report::Json files = report::Json::array();
  for (const report::DiffInput& i : side)
    files.push_back({{"name", i.name},
                     {"seconds", i.seconds},
                     {"gcs", i.gcs},
                     {"complete", i.input.profile.complete && !i.input.damage},
                     {"losses", report::LossesJson(i.input.profile.losses)}});
  return files;
}

void WriteJson(const std::vector<report::DiffInput>& before,
               const std::vector<report::DiffInput>& after, const report::DiffTable& t,
               const DiffOptions& o, const std::vector<bool>& holds, Output& out) {
  report::Json head{
      {"schema_version", 1},
      {"measure", t.spec().name},
      {"by", o.by},
      {"metric", o.metric},
      {"per", o.per},
      {"event", t.measure == profile::Measure::kGcCpu ? report::Json()
                                                      : report::Json(profile::EventName(t.source))},
      {"before", SideJson(before)},
      {"after", SideJson(after)},
      {"totals", RowOf(t.total, t)},
      {"family_error", profile::kFamilyError},
      {"spread_known", t.spread.known},
      {"spread", t.spread.known ? report::Json(std::sqrt(t.spread.squared)) : report::Json()},
      {"changed", t.changed},
      {"rows_total", t.rows.size()}};
  head["fail_on"] = report::Json::array();
  for (size_t i = 0; i < holds.size(); ++i)
    head["fail_on"].push_back({{"condition", o.conditions[i].text}, {"holds", bool(holds[i])}});
  JsonDocument document(out, head);
  const size_t limit = o.limit.value_or(0) == 0 ? t.rows.size() : *o.limit;
  for (size_t i = 0; i < std::min(limit, t.rows.size()); ++i) document.Row(RowOf(t.rows[i], t));
  document.End();
}

void AddOptions(VerbOptions& verb, DiffOptions& o) {
  verb.Add("FILES", o.files,
           "BEFORE and AFTER: captures, traces or pprof files, or time ranges of them: "
           "FILE@FROM..TO")
      .Value("FILE");
  verb.Add("--before", o.before, "recordings of the first side, one or more").Value("FILE");
  verb.Add("--after", o.after, "recordings of the second side, one or more").Value("FILE");
  verb.Add("--by", o.by,
           "group by site (default; requests and gc-cpu: by process), type, method, stack, kind, "
           "assembly, "
           "thread (by name) or process")
      .Value("WHAT")
      .OneOf({"site", "type", "method", "stack", "kind", "assembly", "thread", "process"});
  verb.Add(
          "--measure", o.measure,
          "compare this measure: allocations, live, exceptions, locks, waits, requests (with --per "
          "request or --by process), cpu, wall or gc-cpu. Default: as `report` chooses")
      .Value("WHAT")
      .OneOf({"allocations", "live", "exceptions", "locks", "waits", "requests", "cpu", "wall",
              "gc-cpu"});
  verb.Add("--metric", o.metric,
           "compare this figure: bytes or objects; count or rethrows of exceptions; wait_ns or "
           "count of locks and waits; duration_ns of requests; cpu_ns, wall_ns or gc_cpu_ns of "
           "CPU, wall and GC CPU time. Default: bytes of allocations and live objects, count of "
           "exceptions, the time of the others")
      .Value("WHAT")
      .OneOf({"bytes", "objects", "count", "rethrows", "wait_ns", "duration_ns", "cpu_ns",
              "wall_ns", "samples", "gc_cpu_ns"});
  verb.Add("--per", o.per,
           "divide figures by: total (not at all, default), second, gc or request (a row for each "
           "route)")
      .Value("WHAT")
      .OneOf({"total", "second", "gc", "request"});
  verb.Add("--fail-on", o.fail_on,
           "exit with 7 if this condition holds beyond noise: alloc_bytes>+5%, alloc_objects>1000, "
           "count>10, wait_ns>+5%, changed_rows>0 (repeatable)")
      .Value("CONDITION")
      .OneAtATime();
  verb.Add("--type", o.filter.type, "only types whose name matches").Value("RE");
  verb.Add("--method", o.filter.method, "only stacks with a method that matches").Value("RE");
  verb.Add("--thread", o.filter.thread, "only threads whose name matches, or with this number")
      .Value("RE");
  verb.Add("--process", o.filter.process, "only this process").Value("NAME|PID");
  verb.Add("--request", o.filter.request, "only requests whose route matches").Value("RE");
  verb.Add("--event", o.event, "sampled, tick or counted, if a recording has several")
      .Value("EVENT")
      .OneOf({"sampled", "tick", "counted"});
  verb.Add("-n,--limit", o.limit,
           "show this many rows (default 20); 0 shows all. JSON has all by default")
      .Value("N");
  verb.Flag("--framework", o.framework, "group sites by the framework's own methods");
  verb.Flag("--json", o.json, "print one JSON document with plain numbers");
  verb.Flag("--markdown", o.markdown, "print what changed as Markdown, for a pull request")
      .Excludes("--json");
  AddSymbolOptions(verb, o.symbols);
  AddColorOption(verb, o.color);
}

}  // namespace

int RunDiff(const Args& args) {
  DiffOptions o;
  VerbOptions verb(
      "diff", "BEFORE AFTER [options]",
      "Shows what changed between two recordings, and what is within noise.",
      "  clrscope diff before.clrscope after.clrscope\n"
      "  clrscope diff day.clrscope@1h..2h day.clrscope@5h..6h --per second\n"
      "  clrscope diff --before a1.clrscope a2.clrscope --after b1.clrscope b2.clrscope --by type\n"
      "  clrscope diff main.clrscope pr.clrscope --markdown --fail-on 'alloc_bytes>+5%'\n"
      "  clrscope diff main.clrscope pr.clrscope --measure exceptions --by type\n");
  AddOptions(verb, o);
  if (const auto code = verb.Parse(args)) return *code;
  if (Status status = Resolve(o); !status.ok()) return Fail(status.error());
  Result<std::vector<report::DiffInput>> before = LoadSide(o.before, o);
  if (!before.ok()) return Fail(before.error());
  Result<std::vector<report::DiffInput>> after = LoadSide(o.after, o);
  if (!after.ok()) return Fail(after.error());
  for (const auto* side : {&*before, &*after})
    if (Status status = CheckView(*side, o); !status.ok()) return Fail(status.error());
  if (Status status = CheckSources(*before, *after); !status.ok()) return Fail(status.error());
  const profile::MeasureSpec& measure = before->front().input.profile.shown().spec();
  const Result<profile::Metric> asked_for = MetricOf(measure, o);
  if (!asked_for.ok()) return Fail(asked_for.error());
  const profile::Metric metric = *asked_for;
  std::vector<profile::Metric> metrics;  // of the conditions
  for (const report::FailOn& condition : o.conditions) {
    const Result<profile::Metric> asked =
        condition.changed_rows() ? metric : condition.MetricOf(measure);
    if (!asked.ok()) return Fail(asked.error());
    metrics.push_back(*asked);
  }

  const auto table_of = [&](profile::Metric of) {
    return o.divide == report::Per::kRequest
               ? report::MakeRequestDiff(*before, *after, of)
               : report::MakeDiff(*before, *after, o.view, of, o.framework);
  };
  const report::DiffTable table = table_of(metric);
  std::vector<bool> holds;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const bool same = metrics[i] == metric;
    const report::DiffTable other = same ? report::DiffTable{} : table_of(metrics[i]);
    const profile::Difference& total = (same ? table : other).total.difference;
    holds.push_back(o.conditions[i].Holds(total, table.changed));
  }

  Output out;
  report::DiffTextOptions text{o.divide, OutputWidth(), o.limit.value_or(20), StyleFor(o.color)};
  if (text.limit == 0) text.limit = table.rows.size();
  if (o.json)
    WriteJson(*before, *after, table, o, holds, out);
  else
    out.Write(o.markdown ? report::DiffMarkdown(*before, *after, table, text)
                         : report::DiffText(*before, *after, table, text));
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  bool damaged = false, failed = false;
  for (const auto* side : {&*before, &*after})
    for (const report::DiffInput& i : *side)
      if (i.input.damage) {
        Warn(i.input.damage->message);
        damaged = true;
      }
  for (size_t i = 0; i < holds.size(); ++i) {
    if (!holds[i]) continue;
    Warn(fmt::format("--fail-on '{}' holds", o.conditions[i].text));
    failed = true;
  }
  return failed ? kExitThreshold : damaged ? kExitIncomplete : kExitOk;
}

}  // namespace clrscope::cli
