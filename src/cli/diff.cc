// SPDX-License-Identifier: Apache-2.0
#include "cli/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/diff_rows.h"
#include "cli/diff_text.h"
#include "cli/fail_on.h"
#include "cli/losses.h"
#include "cli/options.h"

namespace clrscope::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> files, before, after, fail_on;
  profile::Filter filter;
  std::string event, by = "site", metric = "bytes", per = "total";
  std::optional<size_t> limit;
  bool json = false, markdown = false, framework = false;
  ColorMode color = ColorMode::kAuto;

  Per divide = Per::kTotal;
  View view = View::kSite;
  std::vector<FailOn> conditions;
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
  o.divide = o.per == "second" ? Per::kSecond : o.per == "gc" ? Per::kGc : Per::kTotal;
  for (const View v : {View::kType, View::kSite, View::kStack, View::kMethod, View::kKind,
                       View::kAssembly, View::kProcess})
    if (ViewName(v) == o.by) o.view = v;
  for (const std::string& text : o.fail_on) {
    ASSIGN_OR_RETURN(FailOn condition, ParseFailOn(text));
    o.conditions.push_back(std::move(condition));
  }
  return OkStatus();
}

Result<DiffInput> Load(const std::string& name, const DiffOptions& o) {
  InputOptions options = ParseWindow(name);
  options.filter = o.filter;
  options.event = o.event;
  DiffInput out;
  out.name = name;
  ASSIGN_OR_RETURN(out.input, LoadInput(options));
  const profile::Profile& p = out.input.profile;
  const int64_t from = std::max<int64_t>(out.input.range.from_ns, 0);
  const int64_t to = std::min(out.input.range.to_ns, p.duration_ns);
  out.seconds = static_cast<double>(std::max<int64_t>(to - from, 0)) / 1e9;
  out.gcs = static_cast<uint64_t>(std::count_if(
      p.gcs.begin(), p.gcs.end(),
      [&](const profile::GcBrief& gc) { return gc.start_ns >= from && gc.start_ns < to; }));
  if (o.divide == Per::kSecond) out.exposure = out.seconds;
  if (o.divide == Per::kGc) out.exposure = static_cast<double>(out.gcs);
  if (out.exposure <= 0)
    return Error{ErrorCode::kEmpty, fmt::format("{} holds no {}, so nothing can be told per {}",
                                                name, o.divide == Per::kGc ? "GC" : "time", o.per)};
  return out;
}

Result<std::vector<DiffInput>> LoadSide(const std::vector<std::string>& names,
                                        const DiffOptions& o) {
  std::vector<DiffInput> side;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(DiffInput input, Load(name, o));
    side.push_back(std::move(input));
  }
  return side;
}

// Samples of different events are no measure of each other.
Status CheckSources(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after) {
  const DiffInput* first = nullptr;  // a recording without allocations has no event of its own
  for (const auto* side : {&before, &after})
    for (const DiffInput& i : *side) {
      if (i.input.profile.cells.empty()) continue;
      if (first == nullptr) first = &i;
      if (i.input.profile.source != first->input.profile.source)
        return Error{
            ErrorCode::kRefused,
            fmt::format("{} rests on {}, {} on {}: they cannot be compared; choose an event that "
                        "both hold by --event, or record both the same way",
                        first->name, EventName(first->input.profile.source), i.name,
                        EventName(i.input.profile.source))};
    }
  if (first == nullptr)
    return Error{ErrorCode::kEmpty, "neither side holds an allocation that matches"};
  return OkStatus();
}

Json Thousandths(double v) { return Json(std::round(v * 1000) / 1000); }

Json RowOf(const DiffRow& r, const DiffTable& t) {
  const profile::Difference& d = r.difference;
  Json row = r.key.is_null() ? Json::object() : r.key;
  const auto figure = [&](std::string_view name, double v, const profile::Interval& i) {
    row[std::string(name)] = Thousandths(v);
    row[fmt::format("{}_low", name)] = d.has_interval ? Thousandths(i.low) : Json();
    row[fmt::format("{}_high", name)] = d.has_interval ? Thousandths(i.high) : Json();
  };
  row["samples_before"] = r.before.samples;
  row["samples_after"] = r.after.samples;
  figure("before", d.before, d.before_interval);
  figure("after", d.after, d.after_interval);
  figure("difference", d.difference, d.difference_interval);
  row["ratio"] = d.ratio() ? Json(*d.ratio()) : Json();
  const double before = t.total.difference.before, after = t.total.difference.after;
  row["share_before"] = before > 0 ? Json(d.before / before) : Json();
  row["share_after"] = after > 0 ? Json(d.after / after) : Json();
  row["p_value"] = d.p_value ? Json(*d.p_value) : Json();
  row["changed"] = d.changed;
  return row;
}

Json SideJson(const std::vector<DiffInput>& side) {
  Json files = Json::array();
  for (const DiffInput& i : side)
    files.push_back({{"name", i.name},
                     {"seconds", i.seconds},
                     {"gcs", i.gcs},
                     {"complete", i.input.profile.complete && !i.input.damage},
                     {"losses", LossesJson(i.input.profile.losses)}});
  return files;
}

void WriteJson(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
               const DiffTable& t, const DiffOptions& o, const std::vector<bool>& holds,
               Output& out) {
  Json head{{"schema_version", 1},
            {"by", o.by},
            {"metric", o.metric},
            {"per", o.per},
            {"event", EventName(t.source)},
            {"before", SideJson(before)},
            {"after", SideJson(after)},
            {"totals", RowOf(t.total, t)},
            {"family_error", profile::kFamilyError},
            {"spread_known", t.spread.known},
            {"spread", t.spread.known ? Json(std::sqrt(t.spread.squared)) : Json()},
            {"changed", t.changed},
            {"rows_total", t.rows.size()}};
  head["fail_on"] = Json::array();
  for (size_t i = 0; i < holds.size(); ++i)
    head["fail_on"].push_back({{"condition", o.conditions[i].text}, {"holds", bool(holds[i])}});
  JsonDocument document(out, head);
  const size_t limit = o.limit.value_or(0) == 0 ? t.rows.size() : *o.limit;
  for (size_t i = 0; i < std::min(limit, t.rows.size()); ++i) document.Row(RowOf(t.rows[i], t));
  document.End();
}

void AddOptions(VerbOptions& verb, DiffOptions& o) {
  verb.Add("FILES", o.files,
           "BEFORE AFTER: captures, traces or pprof files, or windows of them: FILE@FROM..TO")
      .Value("FILE");
  verb.Add("--before", o.before, "several recordings of the first side").Value("FILE…");
  verb.Add("--after", o.after, "several recordings of the second side").Value("FILE…");
  verb.Add("--by", o.by, "site, type, method, stack, kind, assembly or process")
      .Value("WHAT")
      .OneOf({"site", "type", "method", "stack", "kind", "assembly", "process"});
  verb.Add("--metric", o.metric, "bytes or objects").Value("WHAT").OneOf({"bytes", "objects"});
  verb.Add("--per", o.per, "total, second or gc: what figures are divided by")
      .Value("WHAT")
      .OneOf({"total", "second", "gc"});
  verb.Add("--fail-on", o.fail_on,
           "exit with 7 when this holds and is no noise: alloc_bytes>+5%, alloc_objects>1000, "
           "changed_rows>0; may be given several times")
      .Value("CONDITION")
      .OneAtATime();
  verb.Add("--type", o.filter.type, "only types whose name matches").Value("RE");
  verb.Add("--method", o.filter.method, "only stacks with a method that matches").Value("RE");
  verb.Add("--process", o.filter.process, "only this process").Value("PID|NAME");
  verb.Add("--event", o.event, "sampled, tick or counted, when a recording holds several")
      .Value("EVENT")
      .OneOf({"sampled", "tick", "counted"});
  verb.Add("-n,--limit", o.limit, "so many rows; 0 = all. JSON holds all by default").Value("N");
  verb.Flag("--framework", o.framework, "sites by the framework's own methods");
  verb.Flag("--json", o.json, "one JSON document, plain numbers");
  verb.Flag("--markdown", o.markdown, "for a pull request: what changed").Excludes("--json");
  AddColorOption(verb, o.color);
}

}  // namespace

int RunDiff(const Args& args) {
  DiffOptions o;
  VerbOptions verb(
      "diff", "BEFORE AFTER [options]",
      "Tells what changed between two recordings, and what is within noise.",
      "  clrscope diff before.clrscope after.clrscope\n"
      "  clrscope diff day.clrscope@1h..2h day.clrscope@5h..6h --per second\n"
      "  clrscope diff --before a1.clrscope a2.clrscope --after b1.clrscope b2.clrscope --by type\n"
      "  clrscope diff main.clrscope pr.clrscope --markdown --fail-on 'alloc_bytes>+5%'\n");
  AddOptions(verb, o);
  if (const auto code = verb.Parse(args)) return *code;
  if (Status status = Resolve(o); !status.ok()) return Fail(status.error());
  Result<std::vector<DiffInput>> before = LoadSide(o.before, o);
  if (!before.ok()) return Fail(before.error());
  Result<std::vector<DiffInput>> after = LoadSide(o.after, o);
  if (!after.ok()) return Fail(after.error());
  if (Status status = CheckSources(*before, *after); !status.ok()) return Fail(status.error());

  const auto table_of = [&](profile::Metric metric) {
    return MakeDiff(*before, *after, o.view, metric, o.framework);
  };
  const profile::Metric metric =
      o.metric == "objects" ? profile::Metric::kObjects : profile::Metric::kBytes;
  const DiffTable table = table_of(metric);
  std::vector<bool> holds;
  for (const FailOn& condition : o.conditions) {
    const profile::Metric asked = condition.what == FailOn::What::kObjects
                                      ? profile::Metric::kObjects
                                  : condition.what == FailOn::What::kBytes ? profile::Metric::kBytes
                                                                           : metric;
    const DiffTable other = asked == metric ? DiffTable{} : table_of(asked);
    const profile::Difference& total = (asked == metric ? table : other).total.difference;
    holds.push_back(condition.Holds(total, table.changed));
  }

  Output out;
  DiffTextOptions text{o.divide, OutputWidth(), o.limit.value_or(20), Style::For(o.color)};
  if (text.limit == 0) text.limit = table.rows.size();
  if (o.json)
    WriteJson(*before, *after, table, o, holds, out);
  else
    out.Write(o.markdown ? DiffMarkdown(*before, *after, table, text)
                         : DiffText(*before, *after, table, text));
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  bool damaged = false, failed = false;
  for (const auto* side : {&*before, &*after})
    for (const DiffInput& i : *side)
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
