// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_capture.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/humanize.h"
#include "cli/losses.h"
#include "cli/shorten.h"
#include "cli/text_table.h"
#include "store/capture_reader.h"
#include "store/schema.h"

namespace clrscope::cli {
namespace {

constexpr std::string_view kTables[] = {"process", "module", "method", "type",       "mapping",
                                        "gc",      "loss",   "slice",  "dictionary", "meta"};

struct SliceWidth {
  double seconds = 0;
  int64_t count = 0, rows = 0, samples = 0;
};

struct Contents {
  std::vector<std::pair<std::string_view, int64_t>> tables;
  std::vector<SliceWidth> widths;
  SliceWidth slices;  // all of them
};

Result<Contents> Count(store::Database& db) {
  Contents c;
  for (const std::string_view table : kTables) {
    ASSIGN_OR_RETURN(store::Statement q, db.Prepare(fmt::format("select count(*) from {}", table)));
    ASSIGN_OR_RETURN(const bool row, q.Step());
    c.tables.emplace_back(table, row ? q.Int(0) : 0);
  }
  ASSIGN_OR_RETURN(
      store::Statement q,
      db.Prepare(
          "select case when end_ns-start_ns<=2000000000 then 1 when end_ns-start_ns<=10000000000 "
          "then 10 else 60 end w,count(*),sum(rows),sum(samples) from slice group by w order by "
          "w"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return c;
    const SliceWidth w{static_cast<double>(q.Int(0)), q.Int(1), q.Int(2), q.Int(3)};
    c.widths.push_back(w);
    c.slices.count += w.count;
    c.slices.rows += w.rows;
    c.slices.samples += w.samples;
  }
}

int64_t FileBytes(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 ? s.st_size : 0;
}

LossCounters AllLosses(const profile::Recording& r) {
  LossCounters losses = r.losses;
  for (const auto& process : r.processes) losses.Merge(process->losses);
  return losses;
}

void WriteJson(const profile::Recording& r, const Contents& c, const std::string& path,
               Output& out) {
  const auto slices = [](const SliceWidth& w) {
    return Json{{"count", w.count}, {"rows", w.rows}, {"samples", w.samples}};
  };
  Json head{{"schema_version", 1}, {"file", path}};
  const bool one = r.processes.size() == 1;
  head["format"] = {{"name", "clrscope"},
                    {"version", store::kSchemaVersion},
                    {"pointer_size", one ? Json(r.processes[0]->pointer_size) : Json()},
                    {"pid", one ? Json(r.processes[0]->info.pid) : Json()}};
  head["file_bytes"] = FileBytes(path);
  head["start_unix_ns"] = r.start_unix_ns;
  head["duration_s"] = static_cast<double>(r.end_ns) / 1e9;
  head["complete"] = r.complete;
  head["processes"] = ProcessesJson(r);
  head["slices"] = slices(c.slices);
  head["slice_widths"] = Json::array();
  for (const SliceWidth& w : c.widths) {
    Json width = slices(w);
    width["width_s"] = w.seconds;
    head["slice_widths"].push_back(width);
  }
  const LossCounters losses = AllLosses(r);
  head["dropped"] = losses[Loss::kEventsDropped];
  head["losses"] = LossesJson(losses);
  JsonDocument document(out, head, "tables");
  for (const auto& [name, rows] : c.tables) document.Row({{"name", name}, {"rows", rows}});
  document.End();
}

void WriteText(const profile::Recording& r, const Contents& c, const std::string& path,
               const Style& style, Output& out) {
  const size_t width = OutputWidth();
  out.Write(style.Bold(fmt::format("clrscope capture, schema {}", store::kSchemaVersion)) +
            fmt::format(", {}, {} recorded\n", HumanBytes(static_cast<double>(FileBytes(path))),
                        HumanDuration(static_cast<double>(r.end_ns) / 1e9)));
  out.Write(ProcessesText(r, width));
  for (const SliceWidth& w : c.widths)
    out.Write(fmt::format("{} slices of {:.0f} s: {} rows, {} samples\n",
                          Thousands(static_cast<uint64_t>(w.count)), w.seconds,
                          Thousands(static_cast<uint64_t>(w.rows)),
                          Thousands(static_cast<uint64_t>(w.samples))));
  TextTable table({{"Rows", Align::kRight}, {"Table", Align::kLeft}});
  for (const auto& [name, rows] : c.tables)
    table.Add({Thousands(static_cast<uint64_t>(rows)), std::string(name)});
  out.Write("\n" + table.Render(width, style));
  const std::string losses = LossesText(AllLosses(r), width);
  if (!losses.empty()) out.Write("\n" + losses);
}

}  // namespace

int InspectCapture(const std::string& path, bool json, const Style& style) {
  auto opened = store::CaptureReader::Open(path);
  if (!opened.ok()) return Fail(opened.error());
  const auto reader = opened.Take();
  auto contents = Count(reader->database());
  if (!contents.ok()) return Fail(contents.error());
  Output out;
  if (json)
    WriteJson(reader->recording(), *contents, path, out);
  else
    WriteText(reader->recording(), *contents, path, style, out);
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (reader->recording().complete) return kExitOk;
  Warn(fmt::format("{} was not closed: its recording goes on, or was killed", path));
  return kExitIncomplete;
}

Json ProcessesJson(const profile::Recording& r) {
  Json processes = Json::array();
  for (const auto& tables : r.processes) {
    const profile::Process& p = tables->info;
    const auto text = [&](StringId id) { return id.value == 0 ? Json() : Json(r.strings.Get(id)); };
    processes.push_back({{"pid", p.pid},
                         {"name", text(p.name)},
                         {"command_line", text(p.command_line)},
                         {"runtime", text(p.runtime)},
                         {"os", text(p.os)},
                         {"arch", text(p.arch)},
                         {"start_s", static_cast<double>(p.start_ns) / 1e9},
                         {"end_s", static_cast<double>(p.end_ns) / 1e9},
                         {"complete", p.complete}});
  }
  return processes;
}

std::string ProcessesText(const profile::Recording& r, size_t width) {
  constexpr size_t kMost = 20;
  std::string out;
  for (size_t i = 0; i < r.processes.size(); ++i) {
    if (i == kMost) {
      out += fmt::format("… and {} more processes: --json lists them\n", r.processes.size() - i);
      break;
    }
    const profile::Process& p = r.processes[i]->info;
    const std::string_view name = r.strings.Get(p.name), runtime = r.strings.Get(p.runtime);
    std::string line = fmt::format("{} ({})", name.empty() ? "process" : name, p.pid);
    if (!runtime.empty()) line += fmt::format(" · {}", runtime);
    const std::string_view arch = r.strings.Get(p.arch);
    if (!arch.empty()) line += fmt::format(" · {} {}", r.strings.Get(p.os), arch);
    out += ShortenMiddle(Printable(line), width) + "\n";
    const std::string_view command = r.strings.Get(p.command_line);
    if (!command.empty()) out += "  " + ShortenMiddle(Printable(command), width - 2) + "\n";
  }
  return out;
}

}  // namespace clrscope::cli
