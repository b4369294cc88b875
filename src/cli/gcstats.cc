// SPDX-License-Identifier: Apache-2.0
#include "cli/gcstats.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "analysis/gc_report.h"
#include "cli/gc_input.h"
#include "cli/gcstats_text.h"
#include "cli/losses.h"
#include "cli/options.h"
#include "cli/output.h"
#include "export/file_sink.h"
#include "export/gc_json.h"

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
};

using Reports = std::vector<analysis::ProcessGcs>;

Status WriteJson(const Reports& reports, const profile::Profile& p, ByteSink& sink) {
  Json head{{"schema_version", kSchemaVersion},
            {"file", p.origin},
            {"start_unix_ns", p.start_unix_ns},
            {"complete", p.complete}};
  Json& processes = head["processes"] = Json::array();
  for (const auto& r : reports) processes.push_back(exporter::GcProcessJson(r, p));
  head["losses"] = LossesJson(p.losses);
  std::string text = Dump(head);
  text.pop_back();
  RETURN_IF_ERROR(sink.Write(text + ",\"gcs\":["));
  bool first = true;
  for (const auto& r : reports)
    for (size_t i = 0; i < r.gcs.size(); ++i)
      RETURN_IF_ERROR(sink.Write((std::exchange(first, false) ? "\n" : ",\n") +
                                 Dump(exporter::GcJson(r, i, p))));
  return sink.Write(first ? "]}\n" : "\n]}\n");
}

// Members of objects become columns of their own; lists stay JSON.
void Flatten(const std::string& prefix, const Json& value, std::vector<std::string>& names,
             std::vector<std::string>& cells) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items())
      Flatten(prefix.empty() ? name : prefix + "." + name, member, names, cells);
    return;
  }
  names.push_back(prefix);
  cells.push_back(value.is_null()     ? std::string()
                  : value.is_string() ? value.get<std::string>()
                                      : Dump(value));
}

// Every row has the same columns: an object that is unknown as a whole keeps its members.
Json CsvRow(Json row) {
  for (const char* name : {"committed_before_bytes", "committed_after_bytes"}) {
    if (!row[name].is_null()) continue;
    for (const char* part :
         {"total", "in_use", "free", "global_free", "global_decommit", "bookkeeping"})
      row[name][part] = Json();
  }
  if (row["condemned"].is_null())
    for (const char* part : {"initial_generation", "final_generation", "budget_exceeded_generation",
                             "time_tuning_generation", "conditions"})
      row["condemned"][part] = Json();
  return row;
}

Status WriteCsv(const Reports& reports, const profile::Profile& p, ByteSink& sink) {
  std::vector<std::string> heading;
  for (const auto& r : reports) {
    for (size_t i = 0; i < r.gcs.size(); ++i) {
      std::vector<std::string> names, cells;
      Flatten("", CsvRow(exporter::GcJson(r, i, p)), names, cells);
      if (heading.empty()) RETURN_IF_ERROR(sink.Write(CsvLine(heading = names)));
      RETURN_IF_ERROR(sink.Write(CsvLine(cells)));
    }
  }
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
  GcTextOptions text;
  text.width = OutputWidth();
  text.style = Style::For(o.color);
  text.wide = o.wide;
  text.limit = o.limit == 0 ? ~size_t{0} : o.limit;
  text.by_pause = o.sort == "pause";
  bool first = true;
  size_t quiet = 0;
  for (const auto& r : reports) {
    if (r.gcs.empty() && reports.size() > 1) {
      ++quiet;
      continue;
    }
    RETURN_IF_ERROR(sink.Write((std::exchange(first, false) ? "" : "\n") + GcText(r, p, text)));
  }
  if (quiet > 0)
    RETURN_IF_ERROR(sink.Write(fmt::format("\n{} processes without a GC are not shown\n", quiet)));
  return sink.Write(LossesText(p.losses, text.width));
}

enum class Kind { kText, kJson, kCsv };

Result<Kind> KindOf(const GcStatsOptions& o) {
  if (o.format.json) return Kind::kJson;
  if (o.format.csv) return Kind::kCsv;
  if (o.output.empty() || o.output == "-") return Kind::kText;
  if (o.output.ends_with(".json")) return Kind::kJson;
  if (o.output.ends_with(".csv")) return Kind::kCsv;
  if (o.output.ends_with(".txt")) return Kind::kText;
  return Error{
      ErrorCode::kUsage,
      fmt::format("{} ends in none of .json, .csv, .txt: its ending tells the format", o.output)};
}

Result<std::unique_ptr<ByteSink>> SinkFor(const GcStatsOptions& o) {
  if (o.output.empty() || o.output == "-")
    return std::unique_ptr<ByteSink>(std::make_unique<StandardOutput>());
  auto file = exporter::FileSink::Create(
      o.output, o.force ? exporter::IfExists::kReplace : exporter::IfExists::kRefuse);
  if (!file.ok()) return file.error();
  return std::unique_ptr<ByteSink>(file.Take());
}

}  // namespace

int RunGcStats(const Args& args) {
  GcStatsOptions o;
  VerbOptions verb(
      "gcstats", "FILE [options]",
      "Shows what the garbage collector did: each collection with its pauses, the heap after it "
      "and what\nit cost, summed up by generation.",
      "  clrscope gcstats orders.clrscope                   summary and the last collections\n"
      "  clrscope gcstats trace.nettrace --sort pause       the longest pauses\n"
      "  clrscope gcstats trace.nettrace --wide -n 0 | less -S\n"
      "  clrscope gcstats trace.nettrace -o gc.json         every figure, for scripts\n");
  CLI::App& app = verb.app();
  app.add_option("file", o.file,
                 "a .clrscope or .nettrace file; - reads a nettrace from standard input")
      ->type_name("FILE")
      ->required();
  app.add_option("-o,--output", o.output, "write to this file: .json, .csv or .txt")
      ->type_name("FILE");
  app.add_flag("-f,--force", o.force, "replace the output if it exists");
  AddFormatOptions(app, o.format);
  app.add_flag("--wide", o.wide, "all columns, for a wide terminal or a file");
  app.add_option("-n,--limit", o.limit, "how many collections to show; 0 = all")->type_name("N");
  app.add_option("--sort", o.sort, "time, or pause: the longest ones")
      ->type_name("BY")
      ->check(CLI::IsMember({"time", "pause"}));
  app.add_option("--process", o.process, "one process only, by pid or name")->type_name("P");
  AddColorOption(app, o.color);
  if (const auto code = verb.Parse(args)) return *code;
  const Result<Kind> kind = KindOf(o);
  if (!kind.ok()) return Fail(kind.error());
  Result<GcInput> input = LoadGcs(o.file, o.process);
  if (!input.ok()) return Fail(input.error());
  const profile::Profile& p = input->profile;
  if (p.gcs.empty() && *kind == Kind::kText) {
    if (input->damage) Warn(input->damage->message);
    return Fail({input->damage ? ErrorCode::kTruncated : ErrorCode::kEmpty,
                 fmt::format("{} holds no collections: none ran, or it was recorded without GC "
                             "events (keyword 0x1)",
                             o.file)});
  }
  auto sink = SinkFor(o);
  if (!sink.ok()) return Fail(sink.error());
  const Reports reports = analysis::GcReportOf(p);
  Status written = *kind == Kind::kJson  ? WriteJson(reports, p, **sink)
                   : *kind == Kind::kCsv ? WriteCsv(reports, p, **sink)
                                         : WriteText(reports, p, o, **sink);
  if (written.ok()) written = (*sink)->Finish();
  if (!written.ok()) return Fail(written.error());
  if (!input->damage) return kExitOk;
  Warn(input->damage->message);
  return kExitIncomplete;
}

}  // namespace clrscope::cli
