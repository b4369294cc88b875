// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "profile/overhead/overhead_note.h"
#include "profile/sampler_notes.h"
#include "profile/views/call_tree.h"
#include "profile/views/request_costs.h"
#include "report/input/input.h"
#include "report/input/parse.h"
#include "report/input/source_code.h"
#include "report/rows/counting.h"
#include "report/rows/losses.h"
#include "report/rows/overhead_json.h"
#include "report/rows/request_rows.h"
#include "report/rows/rows.h"
#include "report/rows/source_rows.h"
#include "report/rows/views.h"
#include "report/text/gc_cpu.h"
#include "report/text/requests.h"
#include "report/text/source.h"
#include "report/text/table.h"
#include "report/text/tree.h"

namespace clrscope::cli {
namespace {

struct ReportOptions {
  report::InputOptions input;
  FormatOptions format;
  std::string by, sort;
  std::optional<size_t> limit;
  bool tree = false, bottom_up = false, framework = false;
  std::string root;                       // --root
  std::string source;                     // --source
  std::vector<std::string> source_paths;  // --source-path
  ColorMode color = ColorMode::kAuto;

  report::View view = report::View::kSite;
  size_t slowest = 0;     // --slowest
  bool gc_cpu = false;    // --measure gc-cpu, which has tables of its own
  bool standard = false;  // neither --by nor a tree: types and sites
  report::RowOptions rows;
};

// --by and --tree → view; --sort → sort. errors: kUsage
Status Resolve(ReportOptions& o) {
  o.rows.framework = o.framework;
  if (o.slowest != 0) {
    if (!o.by.empty() && o.by != "request")
      return Error{ErrorCode::kUsage, fmt::format("--slowest is of requests, not --by {}", o.by)};
    o.by = "request";
  }
  const bool live = o.input.live || o.input.measure == "live";
  if (o.slowest != 0 && live)
    return Error{ErrorCode::kUsage, "--slowest is of requests, not of live objects"};
  if (o.by == "request" && !live && !o.sort.empty() && !report::IsRequestSort(o.sort))
    return Error{ErrorCode::kUsage,
                 fmt::format("--sort {}: requests are sorted by bytes, count, duration, errors, "
                             "exceptions, lock_wait, cpu, queue, awaiting or gc",
                             o.sort)};
  if ((o.by != "request" || live) && !o.sort.empty() && o.sort != "samples" &&
      std::none_of(profile::kMeasureSpecs.begin(), profile::kMeasureSpecs.end(),
                   [&o](const profile::MeasureSpec& m) {
                     return m.count.name == o.sort || m.amount.name == o.sort;
                   }))
    return Error{ErrorCode::kUsage,
                 fmt::format("--sort {}: use bytes, objects or samples; of exceptions count or "
                             "rethrows, of locks and waits count or wait_ns",
                             o.sort)};
  if (!o.root.empty() && o.bottom_up)
    return Error{
        ErrorCode::kUsage,
        "--root request: --bottom-up begins at the methods, and has requests nowhere; give "
        "--tree"};
  if (!o.root.empty() && !o.tree)
    return Error{ErrorCode::kUsage, "--root request is of the call tree: give --tree too"};
  RETURN_IF_ERROR(report::ResolveSlowerThan(o.input.slower_than, o.input.filter));
  if (!o.source.empty()) {
    if (o.tree || o.bottom_up || (!o.by.empty() && o.by != "line"))
      return Error{ErrorCode::kUsage, "--source shows a file by line: it goes with no other --by"};
    o.by = "line";
  } else if (!o.source_paths.empty()) {
    return Error{ErrorCode::kUsage, "--source-path is where the text is: give --source FILE too"};
  }
  if (o.tree || o.bottom_up) {
    if (!o.by.empty() && o.by != "method" && o.by != "stack")
      return Error{ErrorCode::kUsage,
                   fmt::format("a call tree is not --by {}: give one of the two", o.by)};
    o.view = o.tree ? report::View::kTree : report::View::kBottomUp;
    return OkStatus();
  }
  if (o.by == "gc-cpu") {
    if (o.input.live || (!o.input.measure.empty() && o.input.measure != "gc-cpu"))
      return Error{ErrorCode::kUsage,
                   "--by gc-cpu is --measure gc-cpu: it goes with no other measure"};
    o.input.measure = "gc-cpu";
    o.by.clear();
  }
  o.standard = o.by.empty();
  if (o.standard) return OkStatus();
  const size_t colon = o.by.find(':');
  const std::string name = o.by.substr(0, colon);
  bool found = false;
  for (const report::View v :
       {report::View::kType, report::View::kSite, report::View::kStack, report::View::kMethod,
        report::View::kLine, report::View::kKind, report::View::kThread, report::View::kAssembly,
        report::View::kProcess, report::View::kTime, report::View::kAge, report::View::kGeneration,
        report::View::kOwner, report::View::kMessage, report::View::kState,
        report::View::kRequest}) {
    if (report::ViewName(v) != name) continue;
    o.view = v;
    found = true;
  }
  if (!found || (colon != std::string::npos && o.view != report::View::kTime))
    return Error{
        ErrorCode::kUsage,
        fmt::format(
            "--by {}: use site, type, method, line, stack, kind, assembly, thread, process, "
            "time, time:10s, request, gc-cpu, of locks owner, of exceptions message, of "
            "wall time state, or "
            "with --live "
            "age or generation",
            o.by)};
  if (colon != std::string::npos) {
    ASSIGN_OR_RETURN(o.rows.bucket_ns, report::ParseDuration(o.by.substr(colon + 1)));
    if (o.rows.bucket_ns < 1'000'000'000)
      return Error{ErrorCode::kUsage,
                   fmt::format("--by {}: time is kept in slices of 1 s, give 1s or more", o.by)};
  }
  return OkStatus();
}

// What each route cost; live objects by request are a table like any other.
bool ShowsCosts(const profile::Profile& p, const ReportOptions& o) {
  return o.view == report::View::kRequest && p.measure() != profile::Measure::kLive;
}

// None: types and sites, or what a measure has in their place.
std::optional<report::View> ViewOf(const ReportOptions& o) {
  return o.standard ? std::nullopt : std::optional(o.view);
}

std::string_view SortName(const profile::Profile& p, profile::SortBy sort) {
  const profile::MeasureSpec& spec = p.shown().spec();
  return sort == profile::SortBy::kAmount  ? spec.amount.name
         : sort == profile::SortBy::kCount ? spec.count.name
                                           : "samples";
}

// --sort and what --by asks of the measure that is shown. errors: kUsage
Status ResolveFor(const profile::Profile& p, ReportOptions& o) {
  const profile::MeasureSpec& spec = p.shown().spec();
  if (spec.id == profile::Measure::kRequests && o.standard) {
    o.view = report::View::kRequest;
    o.standard = false;
  }
  if (ShowsCosts(p, o)) return report::CheckView(p, o.view, o.input.filter);
  o.rows.sort = spec.amount_first ? profile::SortBy::kAmount : profile::SortBy::kCount;
  if (!o.sort.empty()) {
    bool found = false;
    for (const profile::SortBy sort :
         {profile::SortBy::kAmount, profile::SortBy::kCount, profile::SortBy::kSamples}) {
      if (SortName(p, sort) != o.sort) continue;
      o.rows.sort = sort;
      found = true;
    }
    if (!found)
      return Error{ErrorCode::kUsage,
                   fmt::format("--sort {}: {} are sorted by {}, {} or samples", o.sort, spec.title,
                               spec.amount.name, spec.count.name)};
  }
  o.gc_cpu = spec.id == profile::Measure::kGcCpu;
  if (o.gc_cpu && o.rows.bucket_ns != 0)
    return Error{ErrorCode::kUsage,
                 fmt::format("--by {}: the garbage collector's CPU time is told by the agent's "
                             "intervals, give --by time",
                             o.by)};
  return report::CheckView(p, ViewOf(o), o.input.filter);
}

std::string_view ByName(const ReportOptions& o) {
  return o.gc_cpu && (o.standard || o.view == report::View::kTime) ? "gc-cpu"
                                                                   : report::ViewName(o.view);
}

report::Json SamplerJson(const profile::Process& process) {
  const std::string_view name = SamplerName(process.sampler);
  return name.empty() ? report::Json() : report::Json(name);
}

// Of all processes that have one; null where they differ.
report::Json SamplerJson(const profile::Profile& p) {
  report::Json one;
  for (const profile::Process& process : p.processes) {
    const report::Json its = SamplerJson(process);
    if (its.is_null()) continue;
    if (!one.is_null() && one != its) return {};
    one = its;
  }
  return one;
}

report::Json HeadJson(const report::Input& input, const ReportOptions& o, size_t all_rows) {
  const profile::Profile& p = input.profile;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  report::Json head{{"schema_version", 1},
                    {"file", p.origin},
                    {"by", ByName(o)},
                    {"sort", SortName(p, o.rows.sort)}};
  if (o.view == report::View::kTree)
    head["root"] = o.root.empty() ? report::Json() : report::Json(o.root);
  head["measure"] = p.shown().spec().name;
  head["shows"] = p.shown().spec().shows;
  if (p.shown().measure == profile::Measure::kLive) head["older_than_s"] = input.older_than_s;
  head["event"] = o.gc_cpu ? report::Json() : report::Json(p.event());
  head["also"] = report::Json::array();
  for (const profile::Source s : p.shown().also) head["also"].push_back(EventName(s));
  head["biased"] = p.biased();
  head["mixed"] = p.shown().mixed;
  head["objects_known"] = p.shown().counts_known;
  head["complete"] = p.complete && !input.damage;
  head["damage"] = input.damage ? report::Json{{"message", input.damage->message},
                                               {"offset", input.damage->offset == Error::kNoOffset
                                                              ? report::Json()
                                                              : report::Json(input.damage->offset)}}
                                : report::Json();
  head["start_unix_ns"] = p.start_unix_ns;
  head["duration_s"] = seconds(p.duration_ns);
  head["from_s"] =
      o.input.from.empty() ? report::Json() : report::Json(seconds(input.range.from_ns));
  head["to_s"] = o.input.to.empty() ? report::Json() : report::Json(seconds(input.range.to_ns));
  head["sampler"] = SamplerJson(p);
  report::Json& processes = head["processes"] = report::Json::array();
  for (const profile::Process& process : p.processes) {
    const auto text = [&](StringId id) {
      return id.value == 0 ? report::Json() : report::Json(p.str(id));
    };
    processes.push_back({{"pid", process.pid},
                         {"name", text(process.name)},
                         {"command_line", text(process.command_line)},
                         {"runtime", text(process.runtime)},
                         {"os", text(process.os)},
                         {"arch", text(process.arch)},
                         {"start_s", seconds(process.start_ns)},
                         {"end_s", seconds(process.end_ns)},
                         {"counting", report::CountingJson(process.counting)},
                         {"event", p.EventOf(static_cast<uint32_t>(&process - p.processes.data()))},
                         {"sampler", SamplerJson(process)},
                         {"live_at_s", process.followed ? report::Json(seconds(process.live_at_ns))
                                                        : report::Json()},
                         {"complete", process.complete}});
  }
  report::AddEstimate(head["totals"], p.Total(), p, "", p.any_partial());
  if (p.measure() == profile::Measure::kExceptions) {
    const profile::Handling handling = profile::HandlingOf(p);
    const auto told = [&handling](double n) {
      return handling.told ? report::Json(std::llround(n)) : report::Json();
    };
    head["totals"]["inner"] = told(handling.inner);
    head["totals"]["nested"] = told(handling.nested);
  }
  if (p.measure() == profile::Measure::kWall)
    head["totals"]["idle_hidden_ns"] = std::llround(p.shown().idle_hidden.amount);
  head["exact"] = p.exact();
  const auto left_out = [](const profile::Storms& s) {
    return s.contradicted ? report::Json(std::llround(s.told)) : report::Json();
  };
  if (const profile::Storms& s = p.shown().storms; s.any())
    head["storm"] = {{"from_s", seconds(s.from_ns)},
                     {"to_s", seconds(s.to_ns)},
                     {"thrown", std::llround(s.in_all())},
                     {"counter", s.by_counter ? report::Json("exception-count") : report::Json()},
                     {"counter_left_out", left_out(s)},
                     {"thrown_by_windows", std::llround(s.weighted)},
                     {"recorded", std::llround(s.recorded)},
                     {"windows", s.windows},
                     {"windows_s", seconds(s.windows_ns)},
                     {"uncounted_s", seconds(s.uncounted_ns)}};
  if (const profile::Storms& s = p.shown().windows; s.any())
    head["windows"] = {{"from_s", seconds(s.from_ns)},
                       {"to_s", seconds(s.to_ns)},
                       {"bytes", std::llround(s.in_all())},
                       {"counter", s.by_counter ? report::Json("alloc-rate") : report::Json()},
                       {"counter_left_out", left_out(s)},
                       {"bytes_by_windows", std::llround(s.weighted)},
                       {"windows", s.windows},
                       {"windows_s", seconds(s.windows_ns)},
                       {"uncounted_s", seconds(s.uncounted_ns)}};
  head["overhead"] = report::OverheadJson(profile::OverheadOf(p));
  const std::optional<double> missing = p.MissingHigh();
  head["missing_bytes_high"] = missing ? report::Json(std::llround(*missing)) : report::Json();
  if (const std::string note = profile::SamplerNote(p, p.shown()); !note.empty())
    head["notes"] = {note};
  if (p.counted()) head["notes"] = report::CountingSentences(p);
  head["losses"] = report::LossesJson(p.losses);
  head["rows_total"] = all_rows;
  return head;
}

// Of each interval, or of each process.
report::Json GcCpuRows(const profile::Profile& p, const ReportOptions& o) {
  if (!o.standard && o.view == report::View::kProcess) return report::GcCpuTotals(p);
  report::Json rows = report::Json::array();
  for (const profile::GcCpuRow& row : p.gc_cpu()) rows.push_back(report::GcCpuRow(row, p));
  return rows;
}

// One object for each route, or for each of the slowest requests.
std::vector<report::Json> RequestRows(const profile::Profile& p, const ReportOptions& o,
                                      size_t* all) {
  std::vector<report::Json> rows;
  if (o.slowest != 0) {
    *all = p.requests.slowest.size();
    for (size_t i = 0; i < std::min(o.slowest, *all); ++i)
      rows.push_back(report::SlowRequestJson(p.requests.slowest[i], p));
    return rows;
  }
  const report::RequestTable table = report::RequestRows(p, o.sort, o.rows.limit);
  *all = table.all_rows;
  for (const report::RequestRow& row : table.rows) rows.push_back(report::RequestJson(row, p));
  return rows;
}

void WriteSourceJson(const report::Input& input, const ReportOptions& o, uint32_t file,
                     Output& out) {
  const profile::Profile& p = input.profile;
  const auto rows = report::SourceRows(p, file, o.framework);
  const Result<report::SourceCode> text = report::ReadSource(p, file, o.source_paths);
  const profile::SourceFile& named = p.source_files[file];
  report::Json head = HeadJson(input, o, rows.size());
  head["source"] = {{"file", p.str(named.path)},
                    {"url", named.url.value == 0 ? report::Json() : report::Json(p.str(named.url))},
                    {"text_from", text.ok() ? report::Json(text->where) : report::Json()}};
  JsonDocument document(out, head);
  for (const report::SourceRow& row : rows)
    document.Row(report::SourceJson(row, p, file, text.ok() ? &*text : nullptr));
  document.End();
}

// errors: the text is not at hand
Status WriteSourceText(const report::Input& input, const ReportOptions& o, uint32_t file,
                       Output& out) {
  const profile::Profile& p = input.profile;
  const report::TextOptions text{OutputWidth(), StyleFor(o.color), o.rows.sort, o.framework};
  ASSIGN_OR_RETURN(const report::SourceCode source, report::ReadSource(p, file, o.source_paths));
  out.Write(report::HeadingText(input, text, true) + "\n");
  const profile::SourceFile& named = p.source_files[file];
  out.Write(fmt::format("{}\n", p.str(named.path)));
  if (named.url.value != 0) out.Write(fmt::format("{}\n", p.str(named.url)));
  if (source.where != p.str(named.path) || !source.checked)
    out.Write(fmt::format("Text: {}{}\n", source.where,
                          source.checked ? "" : "; nothing tells whether it is what was compiled"));
  out.Write("\n" + report::SourceFileText(report::SourceRows(p, file, o.framework), source, p,
                                          o.limit == report::kAllRows, text));
  if (const std::string footer = report::FooterText(input, false, text.width); !footer.empty())
    out.Write("\n" + footer);
  return OkStatus();
}

// A file beside its figures. Returns an exit code.
int ShowSource(const report::Input& input, const ReportOptions& o) {
  const Result<uint32_t> file = report::FindSourceFile(input.profile, o.source);
  if (!file.ok()) return Fail(file.error());
  Output out;
  if (o.format.json)
    WriteSourceJson(input, o, *file, out);
  else if (Status status = WriteSourceText(input, o, *file, out); !status.ok())
    return Fail(status.error());
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (input.damage) {
    Warn(input.damage->message);
    return kExitIncomplete;
  }
  return kExitOk;
}

void WriteJson(const report::Input& input, const ReportOptions& o, Output& out) {
  if (ShowsCosts(input.profile, o)) {
    size_t all = 0;
    const std::vector<report::Json> rows = RequestRows(input.profile, o, &all);
    JsonDocument document(out, HeadJson(input, o, all));
    for (const report::Json& row : rows) document.Row(row);
    document.End();
    return;
  }
  if (o.gc_cpu) {
    const report::Json rows = GcCpuRows(input.profile, o);
    report::Json head = HeadJson(input, o, rows.size());
    head["gc_cpu"] = report::GcCpuTotals(input.profile);
    JsonDocument document(out, head);
    for (const report::Json& row : rows) document.Row(row);
    document.End();
    return;
  }
  const report::ReportTable table = report::MakeTable(input.profile, o.view, o.rows);
  const profile::Estimate total = input.profile.Total();
  JsonDocument document(out, HeadJson(input, o, table.all_rows));
  for (const report::ReportRow& row : table.rows)
    document.Row(report::RowJson(row, table, input.profile, total));
  document.End();
}

// Members that are lists become one cell, leaf first.
std::string CsvCell(const report::Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return report::Dump(value);
  std::string cell;
  for (const report::Json& item : value)
    cell += (cell.empty() ? "" : ";") +
            item.at(item.contains("method") ? "method" : "type").get<std::string>();
  return cell;
}

void WriteCsvRow(const report::Json& row, bool first, Output& out) {
  std::vector<std::string> names, cells;
  for (const auto& [name, value] : row.items()) {
    names.push_back(name);
    cells.push_back(CsvCell(value));
  }
  if (first) out.Write(report::CsvLine(names));
  out.Write(report::CsvLine(cells));
}

// Members of members become members of their own: duration_ns_p50.
report::Json Flat(const report::Json& row) {
  report::Json out;
  for (const auto& [name, value] : row.items()) {
    if (!value.is_object() || name == "statuses") {
      if (!value.is_object()) out[name] = value;
      continue;
    }
    for (const auto& [part, inner] : value.items()) out[name + "_" + part] = inner;
  }
  return out;
}

void WriteCsv(const report::Input& input, const ReportOptions& o, Output& out) {
  const profile::Profile& p = input.profile;
  if (o.gc_cpu) {
    bool first = true;
    for (const report::Json& row : GcCpuRows(p, o))
      WriteCsvRow(row, std::exchange(first, false), out);
    return;
  }
  if (ShowsCosts(p, o)) {
    size_t all = 0;
    bool first = true;
    for (const report::Json& row : RequestRows(p, o, &all))
      WriteCsvRow(Flat(row), std::exchange(first, false), out);
    return;
  }
  const report::ReportTable table = report::MakeTable(p, o.view, o.rows);
  const profile::Estimate total = p.Total();
  for (size_t i = 0; i < table.rows.size(); ++i)
    WriteCsvRow(report::RowJson(table.rows[i], table, p, total), i == 0, out);
}

void WriteText(const report::Input& input, ReportOptions& o, Output& out) {
  const profile::Profile& p = input.profile;
  report::TextOptions text{OutputWidth(), StyleFor(o.color), o.rows.sort, o.framework};
  out.Write(report::HeadingText(input, text, !o.gc_cpu) + "\n");
  if (o.gc_cpu) {
    out.Write(report::GcCpuText(
        p, o.standard || o.view == report::View::kTime ? o.limit.value_or(30) : 0, text));
    if (const std::string footer = report::FooterText(input, false, text.width); !footer.empty())
      out.Write("\n" + footer);
    return;
  }
  if (ShowsCosts(p, o)) {
    out.Write(o.slowest != 0 ? report::SlowestText(p, o.slowest, text)
                             : report::RequestsText(
                                   report::RequestRows(p, o.sort, o.limit.value_or(30)), p, text));
    if (const std::string footer = report::FooterText(input, false, text.width); !footer.empty())
      out.Write("\n" + footer);
    return;
  }
  bool few = false, first = true;
  const auto table = [&](report::View view) {
    if (!std::exchange(first, false)) out.Write("\n");
    const report::ReportTable rows = report::MakeTable(p, view, o.rows);
    few = few || report::AnyFew(rows, p);
    out.Write(view == report::View::kStack ? report::StacksText(rows, p, text)
                                           : report::TableText(rows, p, text));
  };
  if (o.view == report::View::kTree || o.view == report::View::kBottomUp) {
    const bool bottom_up = o.view == report::View::kBottomUp;
    const profile::CallTree tree = profile::BuildCallTree(
        p, {.bottom_up = bottom_up, .keep_machinery = o.framework, .sort = o.rows.sort});
    out.Write(report::TreeText(tree, p, bottom_up, o.limit.value_or(60), text));
  } else if (o.standard) {
    if (!o.limit) o.rows.limit = 15;
    if (p.measure() == profile::Measure::kWall) table(report::View::kState);
    if (p.shown().spec().typed) table(report::View::kType);
    if (p.counted() && o.rows.sort == profile::SortBy::kAmount) {
      o.rows.sort = text.sort = profile::SortBy::kCount;
      table(report::View::kType);
      o.rows.sort = text.sort = profile::SortBy::kAmount;
    }
    table(report::View::kSite);
    // One type's question is where it comes from.
    if (p.counted() && !o.input.filter.type.empty()) {
      if (!o.limit) o.rows.limit = 5;
      table(report::View::kStack);
    }
  } else {
    if (!o.limit)
      o.rows.limit = o.view == report::View::kStack  ? 5
                     : o.view == report::View::kTime ? report::kAllRows
                                                     : 30;
    table(o.view);
    if (const std::string missing = report::ThreadsMissing(p);
        o.view == report::View::kThread && !missing.empty())
      out.Write(fmt::format("\nNot of every process: {}\n", missing));
  }
  if (const std::string footer = report::FooterText(input, few, text.width); !footer.empty())
    out.Write("\n" + footer);
}

void AddOptions(VerbOptions& verb, ReportOptions& o) {
  AddInputOptions(verb, o.input);
  verb.Add("--by", o.by,
           "group by site (allocated type and first method outside the framework), type, method, "
           "line, stack, kind, assembly, thread, process, request, time or time:10s; locks by "
           "owner (the thread that held the lock), exceptions by message, wall time by state, live "
           "objects by age or generation; gc-cpu (same as --measure gc-cpu). Default: types and "
           "sites")
      .Value("WHAT");
  verb.Add("--source", o.source,
           "show a source file beside its figures. The end of its path is enough: OrderService.cs. "
           "The text comes from the PDB, or from a file with the right checksum. -n 0 shows all "
           "lines")
      .Value("FILE");
  verb.Add("--source-path", o.source_paths,
           "search this folder for the program's sources (repeatable). A file with another "
           "checksum is not shown")
      .Value("DIR")
      .OneAtATime();
  verb.Flag("--tree", o.tree, "show the call tree, from the root down");
  verb.Flag("--bottom-up", o.bottom_up, "show the callers, from the allocating method up")
      .Excludes("--tree");
  AddRootOption(verb, o.root, "of the tree");
  verb.Add("--slowest", o.slowest,
           "show the N slowest requests: when, how long, and what they cost")
      .Value("N");
  verb.Add("--sort", o.sort,
           "sort by this figure: bytes, objects or samples; count, rethrows, wait_ns, cpu_ns or "
           "wall_ns of the measure; with --by request bytes, count, duration (p95), errors, "
           "exceptions, lock_wait, cpu, queue, awaiting or gc")
      .Value("BY");
  verb.Add(
          "-n,--limit", o.limit,
          "show this many rows; 0 shows all. Default: 15 in each table without --by; with --by 30, "
          "5 of stacks, all of times; 60 of a tree. JSON and CSV have all by default")
      .Value("N");
  verb.Flag("--framework", o.framework, "show the framework's own methods and async plumbing");
  AddFormatOptions(verb, o.format);
  AddColorOption(verb, o.color);
}

}  // namespace

int RunReport(const Args& args) {
  ReportOptions o;
  VerbOptions verb(
      "report", "FILE [options]",
      "Shows who allocates in a recording. Figures are estimates from samples; the column 95 % has "
      "their 95 % confidence intervals.",
      "  clrscope report orders.clrscope                    top types and top sites\n"
      "  clrscope report orders.clrscope --tree             the call tree\n"
      "  clrscope report orders.clrscope --by type --type 'byte\\[\\]' --from 5m --to 6m\n"
      "  clrscope report orders.clrscope --live --older-than 10m  what lives that long\n"
      "  clrscope report orders.clrscope --by line          source lines (record --lines)\n"
      "  clrscope report trace.nettrace --by method --json  for scripts\n");
  AddOptions(verb, o);
  if (const auto code = verb.Parse(args)) return *code;
  if (Status status = Resolve(o); !status.ok()) return Fail(status.error());
  if (o.limit) o.rows.limit = *o.limit == 0 ? report::kAllRows : *o.limit;
  if (o.limit && *o.limit == 0) o.limit = report::kAllRows;
  o.input.detail = report::DetailFor(ViewOf(o), o.input.filter);
  o.input.detail.requests = o.input.detail.requests || !o.root.empty();
  if (o.view == report::View::kLine) o.input.lines = report::InputOptions::Lines::kAll;
  if (o.view == report::View::kStack) o.input.lines = report::InputOptions::Lines::kRecorded;
  Result<report::Input> input = report::LoadInput(o.input);
  if (!input.ok()) return Fail(input.error());
  WarnAll(input->notes);
  if (Status status = ResolveFor(input->profile, o); !status.ok()) return Fail(status.error());
  if (Status status = report::ApplyRoot(o.root, input->profile); !status.ok())
    return Fail(status.error());
  std::optional<Error> empty = report::EmptyReason(*input, o.input);
  // Requests that allocated nothing are requests all the same.
  if (o.view == report::View::kRequest && !profile::RequestCosts(input->profile).empty())
    empty.reset();
  if (o.view == report::View::kThread && !empty && input->profile.shown().threads.empty()) {
    const std::string missing = report::ThreadsMissing(input->profile);
    empty = Error{ErrorCode::kEmpty, fmt::format("{} holds no threads{}", o.input.path,
                                                 missing.empty() ? "" : ": " + missing)};
  }
  if (!o.source.empty() && !empty) return ShowSource(*input, o);
  Output out;
  if (o.format.json)
    WriteJson(*input, o, out);
  else if (o.format.csv)
    WriteCsv(*input, o, out);
  else if (!empty)
    WriteText(*input, o, out);
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (input->damage) {
    Warn(input->damage->message);
    return kExitIncomplete;
  }
  return empty ? Fail(*empty) : kExitOk;
}

}  // namespace clrscope::cli
