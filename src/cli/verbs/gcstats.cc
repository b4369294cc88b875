// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/gcstats.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "analysis/families/gc/gc_report.h"
#include "cli/live/gc_live.h"
#include "cli/options/options.h"
#include "cli/options/sampling_option.h"
#include "cli/terminal/output.h"
#include "export/file_sink.h"
#include "export/gc_html.h"
#include "export/gc_json.h"
#include "report/gc/text.h"
#include "report/input/gc_input.h"
#include "report/input/input.h"
#include "report/input/parse.h"
#include "report/rows/losses.h"

namespace clrscope::cli {
namespace {

constexpr int kSchemaVersion = 1;

struct GcStatsOptions {
  std::string file, process, output;
  FormatOptions format;
  ColorMode color = ColorMode::kAuto;
  bool wide = false, force = false;
  size_t limit = 20;
  std::string sort = "time";
  GcWatchOptions watch;
  std::string duration;
  bool follow = false;

  bool live() const { return !watch.selection.pids.empty() || !watch.selection.names.empty(); }
};

using Reports = std::vector<analysis::ProcessGcs>;

report::Json HeadJson(const Reports& reports, const profile::Profile& p) {
  report::Json head{{"schema_version", kSchemaVersion},
                    {"file", p.origin.empty() ? report::Json() : report::Json(p.origin)},
                    {"start_unix_ns", p.start_unix_ns},
                    {"complete", p.complete}};
  report::Json& processes = head["processes"] = report::Json::array();
  for (const auto& r : reports) processes.push_back(exporter::GcProcessJson(r, p));
  head["losses"] = report::LossesJson(p.losses);
  return head;
}

Status WriteJson(const Reports& reports, const profile::Profile& p, ByteSink& sink) {
  std::string text = report::Dump(HeadJson(reports, p));
  text.pop_back();
  RETURN_IF_ERROR(sink.Write(text + ",\"gcs\":["));
  bool first = true;
  const analysis::GcSites sites(p);
  for (const auto& r : reports)
    for (size_t i = 0; i < r.gcs.size(); ++i)
      RETURN_IF_ERROR(sink.Write((std::exchange(first, false) ? "\n" : ",\n") +
                                 report::Dump(exporter::GcJson(r, i, p, sites))));
  return sink.Write(first ? "]}\n" : "\n]}\n");
}

// Members of objects become columns of their own; lists stay JSON.
void Flatten(const std::string& prefix, const report::Json& value, std::vector<std::string>& names,
             std::vector<std::string>& cells) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items())
      Flatten(prefix.empty() ? name : prefix + "." + name, member, names, cells);
    return;
  }
  names.push_back(prefix);
  cells.push_back(value.is_null()     ? std::string()
                  : value.is_string() ? value.get<std::string>()
                                      : report::Dump(value));
}

// Every row has the same columns: an object that is unknown as a whole keeps its members.
report::Json CsvRow(report::Json row) {
  for (const char* name : {"committed_before_bytes", "committed_after_bytes"}) {
    if (!row[name].is_null()) continue;
    for (const char* part :
         {"total", "in_use", "free", "global_free", "global_decommit", "bookkeeping"})
      row[name][part] = report::Json();
  }
  if (row["condemned"].is_null())
    for (const char* part : {"initial_generation", "final_generation", "budget_exceeded_generation",
                             "time_tuning_generation", "conditions"})
      row["condemned"][part] = report::Json();
  return row;
}

// With the heading before the first one.
Status WriteCsvRow(const analysis::ProcessGcs& r, size_t i, const profile::Profile& p,
                   const analysis::GcSites& sites, bool* headed, ByteSink& sink) {
  std::vector<std::string> names, cells;
  Flatten("", CsvRow(exporter::GcJson(r, i, p, sites)), names, cells);
  if (!std::exchange(*headed, true)) RETURN_IF_ERROR(sink.Write(report::CsvLine(names)));
  return sink.Write(report::CsvLine(cells));
}

Status WriteCsv(const Reports& reports, const profile::Profile& p, ByteSink& sink) {
  bool headed = false;
  const analysis::GcSites sites(p);
  for (const auto& r : reports)
    for (size_t i = 0; i < r.gcs.size(); ++i)
      RETURN_IF_ERROR(WriteCsvRow(r, i, p, sites, &headed, sink));
  return OkStatus();
}

class StandardOutput final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    out_.Write(bytes);
    return OkStatus();
  }
  Status Finish() override { return out_.Flush(); }

 private:
  Output out_;
};

Status WriteText(const Reports& reports, const profile::Profile& p, const GcStatsOptions& o,
                 ByteSink& sink) {
  report::GcTextOptions text;
  text.width = OutputWidth();
  text.style = StyleFor(o.color);
  text.wide = o.wide;
  text.limit = o.limit == 0 ? ~size_t{0} : o.limit;
  text.by_pause = o.sort == "pause";
  text.collections = !o.live() || !o.output.empty();
  bool first = true;
  size_t quiet = 0;
  for (const auto& r : reports) {
    if (r.gcs.empty() && reports.size() > 1) {
      ++quiet;
      continue;
    }
    RETURN_IF_ERROR(
        sink.Write((std::exchange(first, false) ? "" : "\n") + report::GcText(r, p, text)));
  }
  if (quiet > 0)
    RETURN_IF_ERROR(sink.Write(fmt::format("\n{} processes without a GC are not shown\n", quiet)));
  return sink.Write(report::LossesText(p.losses, text.width));
}

enum class Kind { kText, kJson, kCsv, kHtml };

Result<Kind> KindOf(const GcStatsOptions& o) {
  if (o.format.json) return Kind::kJson;
  if (o.format.csv) return Kind::kCsv;
  if (o.output.empty() || o.output == "-") return Kind::kText;
  if (o.output.ends_with(".json")) return Kind::kJson;
  if (o.output.ends_with(".csv")) return Kind::kCsv;
  if (o.output.ends_with(".html") || o.output.ends_with(".htm")) return Kind::kHtml;
  if (o.output.ends_with(".txt")) return Kind::kText;
  return Error{
      ErrorCode::kUsage,
      fmt::format("{} ends in none of .html, .json, .csv, .txt: its ending tells the format",
                  o.output)};
}

Result<std::unique_ptr<ByteSink>> SinkFor(const GcStatsOptions& o) {
  if (o.output.empty() || o.output == "-")
    return std::unique_ptr<ByteSink>(std::make_unique<StandardOutput>());
  auto file = exporter::FileSink::Create(
      o.output, o.force ? exporter::IfExists::kReplace : exporter::IfExists::kRefuse);
  if (!file.ok()) return file.error();
  return std::unique_ptr<ByteSink>(file.Take());
}

Status Write(Kind kind, const profile::Profile& p, const GcStatsOptions& o, ByteSink& sink) {
  const Reports reports = analysis::GcReportOf(p);
  RETURN_IF_ERROR(kind == Kind::kJson   ? WriteJson(reports, p, sink)
                  : kind == Kind::kCsv  ? WriteCsv(reports, p, sink)
                  : kind == Kind::kHtml ? exporter::WriteGcHtml(reports, p, {}, sink)
                                        : WriteText(reports, p, o, sink));
  return sink.Finish();
}

// Collections to standard output as they end.
class Follower {
 public:
  Follower(Kind kind, const GcStatsOptions& o)
      : kind_(kind),
        lines_(StyleFor(o.color),
               o.watch.selection.pids.size() > 1 || o.watch.selection.discovers()) {}

  Status Show(const analysis::ProcessGcs& r, size_t i, const profile::Profile& p) {
    StandardOutput out;
    if (kind_ == Kind::kText) {
      if (!std::exchange(headed_, true)) RETURN_IF_ERROR(out.Write(lines_.Heading()));
      RETURN_IF_ERROR(out.Write(lines_.Line(r, i, p)));
    } else if (kind_ == Kind::kJson) {
      RETURN_IF_ERROR(
          out.Write(report::Dump(exporter::GcJson(r, i, p, analysis::GcSites(p))) + "\n"));
    } else {
      RETURN_IF_ERROR(WriteCsvRow(r, i, p, analysis::GcSites(p), &headed_, out));
    }
    return out.Finish();
  }
  bool headed() const { return headed_; }

 private:
  Kind kind_;
  report::GcLines lines_;
  bool headed_ = false;
};

int RunLive(Kind kind, GcStatsOptions& o) {
  if (!o.duration.empty()) {
    Result<int64_t> ns = report::ParseDuration(o.duration);
    if (!ns.ok()) return Fail(ns.error());
    o.watch.duration_ns = *ns;
  }
  const bool to_file = !o.output.empty() && o.output != "-";
  // With a file: lines are for people. Without one they are the output.
  const bool follow = o.follow || (!to_file && kind == Kind::kText);
  Follower follower(to_file ? Kind::kText : kind, o);
  OnGc on_gc;
  if (follow)
    on_gc = [&](const analysis::ProcessGcs& r, size_t i, const profile::Profile& p) {
      return follower.Show(r, i, p);
    };
  // A file that cannot be written is told before the watching, not after it.
  auto sink = SinkFor(o);
  if (!sink.ok()) return Fail(sink.error());
  Result<profile::Profile> p = WatchGcs(o.watch, on_gc);
  if (!p.ok()) return Fail(p.error());
  const std::string missing = report::ButMissing(*p, false);
  if (p->gcs.empty() && kind == Kind::kText)
    return Fail({ErrorCode::kEmpty,
                 missing.empty() ? "no collection ran meanwhile" : "no collection came" + missing});
  Status written = OkStatus();
  if (to_file || !follow) {
    written = Write(kind, *p, o, **sink);
  } else if (kind == Kind::kText) {
    StandardOutput out;
    written = out.Write("\n");
    if (written.ok()) written = out.Finish();
    if (written.ok()) written = Write(kind, *p, o, **sink);
  } else if (kind == Kind::kJson) {  // the last line is what sums them up
    StandardOutput out;
    written = out.Write(report::Dump(HeadJson(analysis::GcReportOf(*p), *p)) + "\n");
    if (written.ok()) written = out.Finish();
  }
  return written.ok() ? kExitOk : Fail(written.error());
}

}  // namespace

int RunGcStats(const Args& args) {
  GcStatsOptions o;
  VerbOptions verb(
      "gcstats", "(FILE | -p PID) [options]",
      "Shows what the garbage collector did: each collection with its pauses, the heap after it "
      "and its cost, summed up by generation.",
      "  clrscope gcstats orders.clrscope                   summary and the last collections\n"
      "  clrscope gcstats trace.nettrace --sort pause       the longest pauses\n"
      "  clrscope gcstats trace.nettrace --wide -n 0 | less -S\n"
      "  clrscope gcstats -p 1234                           live, a line per collection; Ctrl-C "
      "sums up\n"
      "  clrscope gcstats -p 1234 -d 1m --follow --json | jq .pause_ms\n"
      "  clrscope gcstats trace.nettrace -o gc.html         charts and a table, one page\n"
      "  clrscope gcstats trace.nettrace -o gc.json         every figure, for scripts\n");
  verb.Add("file", o.file,
           "a .clrscope, .nettrace or .nettrace.gz file; '-' reads a nettrace from standard input")
      .Value("FILE");
  verb.Add("-p,--pid,--process-id", o.watch.selection.pids, "a running process (repeatable)")
      .Value("PID");
  verb.Add("--name", o.watch.selection.names,
           "running processes of this name, including those that start later (repeatable)")
      .Value("NAME");
  verb.Add("-d,--duration", o.duration, "stop after this time: 30, 30s, 5m …").Value("TIME");
  verb.Flag(
      "--follow", o.follow,
      "print each collection as it ends, on a line of its own, also with --json, --csv or -o");
  verb.Add("-o,--output", o.output, "write to this file: .html, .json, .csv or .txt").Value("FILE");
  verb.Flag("-f,--force", o.force, "overwrite the output if it exists");
  AddFormatOptions(verb, o.format);
  verb.Flag("--wide", o.wide, "show all columns, for a wide terminal or a file");
  verb.Add("-n,--limit", o.limit, "show this many collections (default 20); 0 shows all")
      .Value("N");
  verb.Add("--sort", o.sort, "sort by time (default), or by pause (the longest first)")
      .Value("BY")
      .OneOf({"time", "pause"});
  verb.Add("--process", o.process, "show only this process, by name or pid").Value("NAME|PID");
  AddSamplingOptions(verb, o.watch.selection.sampling, o.watch.selection.buffer_mb);
  AddColorOption(verb, o.color);
  if (const auto code = verb.Parse(args)) return *code;
  const Result<Kind> kind = KindOf(o);
  if (!kind.ok()) return Fail(kind.error());
  if (o.live() == !o.file.empty())
    return Fail({ErrorCode::kUsage, "give either a FILE or a live process by -p PID"});
  if (!o.live() && (o.follow || !o.duration.empty()))
    return Fail({ErrorCode::kUsage, "--follow and --duration need a live process: -p PID"});
  if (o.live()) return RunLive(*kind, o);
  Result<report::GcInput> input =
      report::LoadGcs(o.file, o.process, *kind != Kind::kText || o.wide);
  if (!input.ok()) return Fail(input.error());
  const profile::Profile& p = input->profile;
  if (p.gcs.empty() && *kind == Kind::kText) {
    if (input->damage) Warn(input->damage->message);
    return Fail({input->damage ? ErrorCode::kTruncated : ErrorCode::kEmpty,
                 fmt::format("{} holds no collections: none ran, or it was recorded without GC "
                             "events (keyword 0x1){}",
                             o.file, report::ButMissing(p, input->damage.has_value()))});
  }
  auto sink = SinkFor(o);
  if (!sink.ok()) return Fail(sink.error());
  if (Status written = Write(*kind, p, o, **sink); !written.ok()) return Fail(written.error());
  if (!input->damage) return kExitOk;
  Warn(input->damage->message);
  return kExitIncomplete;
}

}  // namespace clrscope::cli
