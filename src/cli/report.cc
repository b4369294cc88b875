// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cli/counting.h"
#include "cli/input.h"
#include "cli/losses.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/report_gc_cpu.h"
#include "cli/report_rows.h"
#include "cli/report_text.h"
#include "cli/report_tree.h"
#include "profile/views/call_tree.h"

namespace clrscope::cli {
namespace {

struct ReportOptions {
  InputOptions input;
  FormatOptions format;
  std::string by, sort = "bytes";
  std::optional<size_t> limit;
  bool tree = false, bottom_up = false, framework = false;
  ColorMode color = ColorMode::kAuto;

  View view = View::kSite;
  bool gc_cpu = false;    // --by gc-cpu
  bool standard = false;  // neither --by nor a tree: types and sites
  RowOptions rows;
};

// --by and --tree → view; --sort → sort. errors: kUsage
Status Resolve(ReportOptions& o) {
  o.rows.framework = o.framework;
  o.rows.sort = o.sort == "objects"   ? profile::SortBy::kObjects
                : o.sort == "samples" ? profile::SortBy::kSamples
                                      : profile::SortBy::kBytes;
  if (o.tree || o.bottom_up) {
    if (!o.by.empty() && o.by != "method" && o.by != "stack")
      return Error{ErrorCode::kUsage,
                   fmt::format("a call tree is not --by {}: give one of the two", o.by)};
    o.view = o.tree ? View::kTree : View::kBottomUp;
    return OkStatus();
  }
  o.standard = o.by.empty();
  if (o.standard) return OkStatus();
  if (o.by == "gc-cpu") {
    if (o.input.live || o.input.filter.hides_threads_and_times())
      return Error{
          ErrorCode::kUsage,
          "--by gc-cpu is of whole processes: --live, --type and --method cannot narrow it"};
    o.gc_cpu = true;
    return OkStatus();
  }
  const size_t colon = o.by.find(':');
  const std::string name = o.by.substr(0, colon);
  bool found = false;
  for (const View v :
       {View::kType, View::kSite, View::kStack, View::kMethod, View::kKind, View::kThread,
        View::kAssembly, View::kProcess, View::kTime, View::kAge, View::kGeneration}) {
    if (ViewName(v) != name) continue;
    o.view = v;
    found = true;
  }
  if (!found || (colon != std::string::npos && o.view != View::kTime))
    return Error{
        ErrorCode::kUsage,
        fmt::format("--by {}: use site, type, method, stack, kind, assembly, thread, process, "
                    "time, time:10s, gc-cpu, or with --live age or generation",
                    o.by)};
  if (colon != std::string::npos) {
    ASSIGN_OR_RETURN(o.rows.bucket_ns, ParseDuration(o.by.substr(colon + 1)));
    if (o.rows.bucket_ns < 1'000'000'000)
      return Error{ErrorCode::kUsage,
                   fmt::format("--by {}: time is kept in slices of 1 s, give 1s or more", o.by)};
  }
  if ((o.view == View::kAge || o.view == View::kGeneration) && !o.input.live)
    return Error{ErrorCode::kUsage,
                 fmt::format("--by {} is of live objects: give --live too", o.by)};
  if ((o.view == View::kTime || o.view == View::kThread) && o.input.live)
    return Error{ErrorCode::kUsage,
                 fmt::format("--by {} is of allocations: what lives is a state, of no {}",
                             ViewName(o.view), o.view == View::kTime ? "span of time" : "thread")};
  if ((o.view == View::kTime || o.view == View::kThread) &&
      o.input.filter.hides_threads_and_times())
    return Error{
        ErrorCode::kUsage,
        fmt::format("--by {} cannot be filtered by --type or --method: {} are added up over "
                    "all types and stacks",
                    ViewName(o.view), o.view == View::kTime ? "spans of time" : "threads")};
  return OkStatus();
}

Json HeadJson(const Input& input, const ReportOptions& o, size_t all_rows) {
  const profile::Profile& p = input.profile;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  Json head{{"schema_version", 1},
            {"file", p.origin},
            {"by", o.gc_cpu ? "gc-cpu" : ViewName(o.view)},
            {"sort", o.sort}};
  head["shows"] = p.shows == profile::Shows::kLive ? "live" : "allocated";
  if (p.shows == profile::Shows::kLive) head["older_than_s"] = input.older_than_s;
  head["event"] = p.event();
  head["also"] = Json::array();
  for (const profile::Source s : p.also) head["also"].push_back(EventName(s));
  head["biased"] = p.biased();
  head["mixed"] = p.mixed;
  head["objects_known"] = p.objects_known;
  head["complete"] = p.complete && !input.damage;
  head["damage"] =
      input.damage
          ? Json{{"message", input.damage->message},
                 {"offset",
                  input.damage->offset == Error::kNoOffset ? Json() : Json(input.damage->offset)}}
          : Json();
  head["start_unix_ns"] = p.start_unix_ns;
  head["duration_s"] = seconds(p.duration_ns);
  head["from_s"] = o.input.from.empty() ? Json() : Json(seconds(input.range.from_ns));
  head["to_s"] = o.input.to.empty() ? Json() : Json(seconds(input.range.to_ns));
  Json& processes = head["processes"] = Json::array();
  for (const profile::Process& process : p.processes) {
    const auto text = [&](StringId id) { return id.value == 0 ? Json() : Json(p.str(id)); };
    processes.push_back(
        {{"pid", process.pid},
         {"name", text(process.name)},
         {"command_line", text(process.command_line)},
         {"runtime", text(process.runtime)},
         {"os", text(process.os)},
         {"arch", text(process.arch)},
         {"start_s", seconds(process.start_ns)},
         {"end_s", seconds(process.end_ns)},
         {"counting", CountingJson(process.counting)},
         {"event", p.by_callbacks() ? p.event()
                                    : EventName(p.SourceOf(
                                          static_cast<uint32_t>(&process - p.processes.data())))},
         {"live_at_s", process.followed ? Json(seconds(process.live_at_ns)) : Json()},
         {"complete", process.complete}});
  }
  AddEstimate(head["totals"], p.Total(), p, "", p.any_partial());
  head["exact"] = p.exact();
  const std::optional<double> missing = p.MissingHigh();
  head["missing_bytes_high"] = missing ? Json(std::llround(*missing)) : Json();
  if (p.counted()) head["notes"] = CountingSentences(p);
  head["losses"] = LossesJson(p.losses);
  head["rows_total"] = all_rows;
  return head;
}

void WriteJson(const Input& input, const ReportOptions& o, Output& out) {
  if (o.gc_cpu) {
    Json head = HeadJson(input, o, input.profile.gc_cpu.size());
    head["gc_cpu"] = GcCpuTotals(input.profile);
    JsonDocument document(out, head);
    for (const profile::GcCpuRow& row : input.profile.gc_cpu)
      document.Row(GcCpuRow(row, input.profile));
    document.End();
    return;
  }
  const ReportTable table = MakeTable(input.profile, o.view, o.rows);
  const profile::Estimate total = input.profile.Total();
  JsonDocument document(out, HeadJson(input, o, table.all_rows));
  for (const ReportRow& row : table.rows) document.Row(RowJson(row, table, input.profile, total));
  document.End();
}

// Members that are lists become one cell, leaf first.
std::string CsvCell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return Dump(value);
  std::string cell;
  for (const Json& item : value)
    cell += (cell.empty() ? "" : ";") +
            item.at(item.contains("method") ? "method" : "type").get<std::string>();
  return cell;
}

void WriteCsvRow(const Json& row, bool first, Output& out) {
  std::vector<std::string> names, cells;
  for (const auto& [name, value] : row.items()) {
    names.push_back(name);
    cells.push_back(CsvCell(value));
  }
  if (first) out.Write(CsvLine(names));
  out.Write(CsvLine(cells));
}

void WriteCsv(const Input& input, const ReportOptions& o, Output& out) {
  const profile::Profile& p = input.profile;
  if (o.gc_cpu) {
    for (const profile::GcCpuRow& row : p.gc_cpu)
      WriteCsvRow(GcCpuRow(row, p), &row == p.gc_cpu.data(), out);
    return;
  }
  const ReportTable table = MakeTable(p, o.view, o.rows);
  const profile::Estimate total = p.Total();
  for (size_t i = 0; i < table.rows.size(); ++i)
    WriteCsvRow(RowJson(table.rows[i], table, p, total), i == 0, out);
}

// Why a table of threads is empty, or lacks a process: a sentence, or nothing.
std::string ThreadsMissing(const profile::Profile& p) {
  std::string who;
  bool foreign = false, all = true;
  for (const profile::Process& process : p.processes) {
    all = all && process.by_agent;
    if (!process.by_agent) continue;
    foreign = foreign || process.live_source == profile::Source::kForeign;
    who += fmt::format("{}{}", who.empty() ? "" : ", ", process.pid);
  }
  if (who.empty()) return {};
  if (foreign) return "pprof files are read without their threads";
  return fmt::format(
      "the agent told what {} allocated, and it does not tell threads apart: record "
      "without --live for them",
      all ? "was" : who + " had");
}

void WriteText(const Input& input, ReportOptions& o, Output& out) {
  const profile::Profile& p = input.profile;
  TextOptions text{OutputWidth(), Style::For(o.color), o.rows.sort, o.framework};
  out.Write(HeadingText(input, text, !o.gc_cpu) + "\n");
  if (o.gc_cpu) {
    out.Write(GcCpuText(p, o.limit.value_or(30), text));
    if (const std::string footer = FooterText(input, false); !footer.empty())
      out.Write("\n" + footer);
    return;
  }
  bool few = false, first = true;
  const auto table = [&](View view) {
    if (!std::exchange(first, false)) out.Write("\n");
    const ReportTable rows = MakeTable(p, view, o.rows);
    few = few || AnyFew(rows, p);
    out.Write(view == View::kStack ? StacksText(rows, p, text) : TableText(rows, p, text));
  };
  if (o.view == View::kTree || o.view == View::kBottomUp) {
    const bool bottom_up = o.view == View::kBottomUp;
    const profile::CallTree tree = profile::BuildCallTree(
        p, {.bottom_up = bottom_up, .keep_machinery = o.framework, .sort = o.rows.sort});
    out.Write(TreeText(tree, p, bottom_up, o.limit.value_or(60), text));
  } else if (o.standard) {
    if (!o.limit) o.rows.limit = 15;
    table(View::kType);
    if (p.counted() && o.rows.sort == profile::SortBy::kBytes) {
      o.rows.sort = text.sort = profile::SortBy::kObjects;
      table(View::kType);
      o.rows.sort = text.sort = profile::SortBy::kBytes;
    }
    table(View::kSite);
    // One type's question is where it comes from.
    if (p.counted() && !o.input.filter.type.empty()) {
      if (!o.limit) o.rows.limit = 5;
      table(View::kStack);
    }
  } else {
    if (!o.limit) o.rows.limit = o.view == View::kStack ? 5 : o.view == View::kTime ? kAllRows : 30;
    table(o.view);
    if (const std::string missing = ThreadsMissing(p); o.view == View::kThread && !missing.empty())
      out.Write(fmt::format("\nNot of every process: {}\n", missing));
  }
  if (const std::string footer = FooterText(input, few); !footer.empty()) out.Write("\n" + footer);
}

void AddOptions(VerbOptions& verb, ReportOptions& o) {
  AddInputOptions(verb, o.input);
  verb.Add("--by", o.by,
           "site (allocated type and the first method outside the framework), type, method, stack, "
           "kind, assembly, thread, process, time or time:10s, gc-cpu (processor time of the "
           "garbage collector); with --live also age and generation; types and sites by default")
      .Value("WHAT");
  verb.Flag("--tree", o.tree, "the call tree, from the root down");
  verb.Flag("--bottom-up", o.bottom_up, "the callers, from the allocating method up")
      .Excludes("--tree");
  verb.Add("--sort", o.sort, "bytes, objects or samples")
      .Value("BY")
      .OneOf({"bytes", "objects", "samples"});
  verb.Add("-n,--limit", o.limit, "so many rows; 0 = all. JSON and CSV hold all by default")
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
      "Shows who allocates in a recording. Figures are estimates from samples; the column 95 % "
      "says how "
      "far\noff they may be.",
      "  clrscope report orders.clrscope                    top types and top sites\n"
      "  clrscope report orders.clrscope --tree             the call tree\n"
      "  clrscope report orders.clrscope --by type --type 'byte\\[\\]' --from 5m --to 6m\n"
      "  clrscope report orders.clrscope --live --older-than 10m  what lives that long\n"
      "  clrscope report trace.nettrace --by method --json  for scripts\n");
  AddOptions(verb, o);
  if (const auto code = verb.Parse(args)) return *code;
  if (Status status = Resolve(o); !status.ok()) return Fail(status.error());
  if (o.limit) o.rows.limit = *o.limit == 0 ? kAllRows : *o.limit;
  if (o.limit && *o.limit == 0) o.limit = kAllRows;
  Result<Input> input = LoadInput(o.input);
  if (!input.ok()) return Fail(input.error());
  std::optional<Error> empty = EmptyReason(*input, o.input);
  if (o.gc_cpu) {
    empty.reset();
    if (input->profile.gc_cpu.empty())
      empty = Error{
          ErrorCode::kEmpty,
          fmt::format("{} does not know the garbage collector's CPU time{}: the agent measures it, "
                      "`clrscope record --live` loads it",
                      o.input.path, input->ranged ? " in that span of time" : "")};
  }
  if (o.view == View::kThread && !empty && input->profile.threads.empty()) {
    const std::string missing = ThreadsMissing(input->profile);
    empty = Error{ErrorCode::kEmpty, fmt::format("{} holds no threads{}", o.input.path,
                                                 missing.empty() ? "" : ": " + missing)};
  }
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
