// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/inspect_capture.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "report/rows/losses.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"
#include "store/capture_reader.h"

namespace clrscope::cli {
namespace {

constexpr std::string_view kTables[] = {"process", "thread",  "module",     "method",
                                        "type",    "mapping", "message",    "gc",
                                        "loss",    "slice",   "dictionary", "meta"};

struct SliceWidth {
  double seconds = 0;
  int64_t count = 0, rows = 0, samples = 0;
};

// How many events tell a measure, by the source that tells it.
struct Told {
  std::array<uint64_t, profile::kSources> events{};
  std::optional<Error> damage;  // what comes after it is not counted
};

struct Contents {
  std::vector<std::pair<std::string_view, int64_t>> tables;
  std::vector<SliceWidth> widths;
  SliceWidth slices;  // all of them
  Told told;
};

Told CountTold(store::CaptureReader& reader) {
  Told told;
  const auto& processes = reader.recording().processes;
  const auto add = [&told](profile::Source source, uint64_t n) {
    told.events[static_cast<size_t>(source)] += n;
  };
  std::vector<bool> sampled(processes.size());  // by a session: the agent tells the same
  Status status = reader.ForEachSlice({}, [&](const profile::Slice& slice) {
    const auto& keys = processes[slice.process]->series.keys();
    for (const profile::SliceRow& row : slice.rows) {
      const profile::Source source = keys[row.series].source();
      if (!profile::IsOfEvents(*processes[slice.process], keys[row.series])) continue;
      add(source, row.sums.samples);
      if (!profile::IsEvent(source)) sampled[slice.process] = true;
    }
  });
  if (status.ok())
    status = reader.ForEachInterval({}, [&](const profile::AgentInterval& interval) {
      if (sampled[interval.process]) return;
      for (const profile::IntervalFlow& flow : interval.frame.flows)
        add(processes[interval.process]->agent.source, flow.value.samples);
    });
  if (!status.ok()) told.damage = status.error();
  return told;
}

// Whether any process was asked for it; nothing where the file does not know.
std::optional<bool> Recorded(const profile::Recording& r, profile::Measure measure) {
  bool known = false, recorded = false;
  for (const auto& process : r.processes) {
    known = known || process->info.measures != 0;
    recorded = recorded || process->info.Recorded(measure);
  }
  return known ? std::optional(recorded) : std::nullopt;
}

// One for each measure that events tell, and that was recorded or is there.
struct MeasureRow {
  const profile::MeasureSpec* spec;
  std::optional<bool> recorded;
  std::vector<std::pair<profile::Source, uint64_t>> events;
};
std::vector<MeasureRow> Measures(const profile::Recording& r, const Told& told) {
  std::vector<MeasureRow> rows;
  for (const profile::MeasureSpec& spec : profile::kMeasureSpecs) {
    MeasureRow row{&spec, Recorded(r, spec.id), {}};
    for (const profile::SourceSpec& source : profile::kSourceSpecs)
      if (const uint64_t n = told.events[static_cast<size_t>(source.id)];
          source.measure == spec.id && n != 0)
        row.events.emplace_back(source.id, n);
    if (row.recorded.value_or(false) || !row.events.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

Result<Contents> Count(store::Database& db) {
  Contents c;
  for (const std::string_view table : kTables) {
    // Older files have fewer.
    ASSIGN_OR_RETURN(store::Statement there,
                     db.Prepare("select 1 from sqlite_master where type='table' and name=?"));
    there.Bind(0, table);
    ASSIGN_OR_RETURN(const bool found, there.Step());
    if (!found) continue;
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

void WriteJson(const profile::Recording& r, const Contents& c, int64_t version,
               const std::string& path, Output& out) {
  const auto slices = [](const SliceWidth& w) {
    return report::Json{{"count", w.count}, {"rows", w.rows}, {"samples", w.samples}};
  };
  report::Json head{{"schema_version", 1}, {"file", path}};
  const bool one = r.processes.size() == 1;
  head["format"] = {
      {"name", "clrscope"},
      {"version", version},
      {"pointer_size", one ? report::Json(r.processes[0]->pointer_size) : report::Json()},
      {"pid", one ? report::Json(r.processes[0]->info.pid) : report::Json()}};
  head["file_bytes"] = FileBytes(path);
  head["start_unix_ns"] = r.start_unix_ns;
  head["duration_s"] = static_cast<double>(r.end_ns) / 1e9;
  head["complete"] = r.complete;
  head["processes"] = ProcessesJson(r);
  head["measures"] = report::Json::array();
  for (const MeasureRow& m : Measures(r, c.told)) {
    report::Json events = report::Json::array();
    for (const auto& [source, n] : m.events)
      events.push_back({{"event", profile::EventName(source)}, {"count", n}});
    head["measures"].push_back(
        {{"measure", m.spec->name},
         {"recorded", m.recorded ? report::Json(*m.recorded) : report::Json()},
         {"events", events}});
  }
  head["slices"] = slices(c.slices);
  head["slice_widths"] = report::Json::array();
  for (const SliceWidth& w : c.widths) {
    report::Json width = slices(w);
    width["width_s"] = w.seconds;
    head["slice_widths"].push_back(width);
  }
  const LossCounters losses = AllLosses(r);
  head["dropped"] = losses[Loss::kEventsDropped];
  head["losses"] = report::LossesJson(losses);
  JsonDocument document(out, head, "tables");
  for (const auto& [name, rows] : c.tables) document.Row({{"name", name}, {"rows", rows}});
  document.End();
}

// "allocations: 1,234 AllocationTick"
std::string MeasureText(const MeasureRow& m) {
  std::string text = fmt::format("{}: ", m.spec->name);
  if (m.events.empty()) return text + "none\n";
  for (const auto& [source, n] : m.events)
    text += fmt::format("{}{} {}", text.ends_with(": ") ? "" : ", ", report::Thousands(n),
                        profile::EventName(source));
  return text + (m.recorded.value_or(true) ? "\n" : " (not asked for)\n");
}

void WriteText(const profile::Recording& r, const Contents& c, int64_t version,
               const std::string& path, const report::Style& style, Output& out) {
  const size_t width = OutputWidth();
  out.Write(style.Bold(fmt::format("clrscope capture, schema {}", version)) +
            fmt::format(", {}, {} recorded\n",
                        report::HumanBytes(static_cast<double>(FileBytes(path))),
                        report::HumanDuration(static_cast<double>(r.end_ns) / 1e9)));
  out.Write(ProcessesText(r, width));
  for (const MeasureRow& m : Measures(r, c.told)) out.Write(MeasureText(m));
  for (const SliceWidth& w : c.widths)
    out.Write(fmt::format("{} slices of {:.0f} s: {} rows, {} samples\n",
                          report::Thousands(static_cast<uint64_t>(w.count)), w.seconds,
                          report::Thousands(static_cast<uint64_t>(w.rows)),
                          report::Thousands(static_cast<uint64_t>(w.samples))));
  report::TextTable table({{"Rows", report::Align::kRight}, {"Table", report::Align::kLeft}});
  for (const auto& [name, rows] : c.tables)
    table.Add({report::Thousands(static_cast<uint64_t>(rows)), std::string(name)});
  out.Write("\n" + table.Render(width, style));
  const std::string losses = report::LossesText(AllLosses(r), width);
  if (!losses.empty()) out.Write("\n" + losses);
}

}  // namespace

int InspectCapture(const std::string& path, bool json, const report::Style& style) {
  auto opened = store::CaptureReader::Open(path);
  if (!opened.ok()) return Fail(opened.error());
  const auto reader = opened.Take();
  auto contents = Count(reader->database());
  if (!contents.ok()) return Fail(contents.error());
  contents->told = CountTold(*reader);
  Output out;
  if (json)
    WriteJson(reader->recording(), *contents, reader->schema_version(), path, out);
  else
    WriteText(reader->recording(), *contents, reader->schema_version(), path, style, out);
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (contents->told.damage) {
    Warn(contents->told.damage->message);
    return kExitIncomplete;
  }
  if (reader->recording().complete) return kExitOk;
  Warn(fmt::format("{} was not closed: its recording goes on, or was killed", path));
  return kExitIncomplete;
}

report::Json ProcessesJson(const profile::Recording& r) {
  report::Json processes = report::Json::array();
  for (const auto& tables : r.processes) {
    const profile::Process& p = tables->info;
    const auto text = [&](StringId id) {
      return id.value == 0 ? report::Json() : report::Json(r.strings.Get(id));
    };
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
    out += report::ShortenMiddle(report::Printable(line), width) + "\n";
    const std::string_view command = r.strings.Get(p.command_line);
    if (!command.empty())
      out += "  " + report::ShortenMiddle(report::Printable(command), width - 2) + "\n";
  }
  return out;
}

}  // namespace clrscope::cli
