// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/trace_fold.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "cli/verbs/inspect_capture.h"
#include "import/trace_file.h"
#include "profile/tables/slice.h"
#include "report/input/damage.h"
#include "report/rows/losses.h"
#include "report/text/humanize.h"
#include "report/text/text_table.h"
#include "store/capture_reader.h"

namespace clrscope::cli {
namespace {

// Notes the time span and folds, so that processes get their names.
class Watcher final : public nettrace::EventSink {
 public:
  Watcher() : fold(&recording, &slices_) {}
  void OnStream(const nettrace::StreamInfo& info) override {
    fold.OnStream(info.pid, info.pointer_size, info.sync_unix_ns);
  }
  void OnEvent(const clr::RawEvent& event) override {
    first_ns = std::min(first_ns, event.time_ns);
    last_ns = std::max(last_ns, event.time_ns);
    if (!event.stack.empty()) ++stacks;
    fold.OnEvent(event);
    // Collections are not shown: their records go now and then.
    constexpr uint64_t kEvery = 1 << 16;
    if (++events_ % kEvery == 0)
      for (const auto& process : recording.processes) process->gcs.clear();
  }

  profile::Recording recording;
  analysis::TraceFold fold;
  int64_t first_ns = std::numeric_limits<int64_t>::max(), last_ns = 0;
  uint64_t stacks = 0;

 private:
  uint64_t events_ = 0;
  profile::NoSlices slices_;
};

struct EventRow {
  std::string provider, name;
  uint32_t id = 0, version = 0;
  uint64_t count = 0;
};

// Streams announce a kind again after its ids were reused: one row all the same.
std::vector<EventRow> CountEvents(const nettrace::Reader& reader) {
  std::map<std::tuple<std::string, uint32_t, uint32_t>, EventRow> rows;
  for (const nettrace::CountedKind& kind : reader.kinds()) {
    EventRow& row = rows[{kind.provider_text, kind.id, kind.version}];
    row.provider = kind.provider_text;
    if (row.name.empty())
      row.name = kind.event_text.empty() ? std::string(clr::EventName(kind.tag)) : kind.event_text;
    row.id = kind.id;
    row.version = kind.version;
    row.count += kind.count;
  }
  std::vector<EventRow> out;
  for (auto& [key, row] : rows)
    if (row.count > 0) out.push_back(std::move(row));
  std::stable_sort(out.begin(), out.end(),
                   [](const EventRow& a, const EventRow& b) { return a.count > b.count; });
  return out;
}

struct Inspection {
  import::TraceSummary trace;
  std::vector<EventRow> events;
  LossCounters losses;
  std::optional<Error> damage;
};

void WriteJson(const Inspection& i, const Watcher& w, const std::string& path, Output& out) {
  report::Json head{{"schema_version", 1}, {"file", path}};
  head["format"] = {
      {"name", "nettrace"},
      {"version", i.trace.info.version},
      {"pointer_size", i.trace.info.pointer_size},
      {"pid", i.trace.info.pid == 0 ? report::Json() : report::Json(i.trace.info.pid)}};
  head["processors"] = i.trace.info.processors;
  head["start_unix_ns"] = i.trace.info.sync_unix_ns;
  head["file_bytes"] = i.trace.bytes;
  head["event_count"] = i.trace.events;
  head["stack_count"] = w.stacks;
  head["first_s"] =
      i.trace.events == 0 ? report::Json() : report::Json(static_cast<double>(w.first_ns) / 1e9);
  head["last_s"] =
      i.trace.events == 0 ? report::Json() : report::Json(static_cast<double>(w.last_ns) / 1e9);
  head["complete"] = !i.damage;
  head["damage"] = i.damage
                       ? report::Json{{"message", i.damage->message}, {"offset", i.damage->offset}}
                       : report::Json();
  head["processes"] = ProcessesJson(w.recording);
  head["dropped"] = i.trace.losses[Loss::kEventsDropped];
  head["losses"] = report::LossesJson(i.losses);
  JsonDocument document(out, head, "events");
  for (const EventRow& row : i.events)
    document.Row({{"provider", row.provider},
                  {"id", row.id},
                  {"version", row.version},
                  {"name", row.name.empty() ? report::Json() : report::Json(row.name)},
                  {"count", row.count}});
  document.End();
}

void WriteText(const Inspection& i, const Watcher& w, const report::Style& style, Output& out) {
  const size_t width = OutputWidth();
  out.Write(style.Bold(fmt::format("nettrace V{}", i.trace.info.version)) +
            fmt::format(", {}-bit, {} processors, {}\n", i.trace.info.pointer_size * 8,
                        i.trace.info.processors,
                        report::HumanBytes(static_cast<double>(i.trace.bytes))));
  out.Write(ProcessesText(w.recording, width));
  if (i.trace.events > 0)
    out.Write(fmt::format("{} events, {} with a stack, over {}; {} dropped\n",
                          report::Thousands(i.trace.events), report::Thousands(w.stacks),
                          report::HumanDuration(static_cast<double>(w.last_ns - w.first_ns) / 1e9),
                          report::Thousands(i.trace.losses[Loss::kEventsDropped])));
  report::TextTable table({{"Events", report::Align::kRight},
                           {"Id", report::Align::kRight},
                           {"V", report::Align::kRight},
                           {"Name", report::Align::kLeft, report::TextColumn::Fit::kMiddle},
                           {"Provider", report::Align::kLeft, report::TextColumn::Fit::kMiddle}});
  for (const EventRow& row : i.events)
    table.Add({report::Thousands(row.count), std::to_string(row.id), std::to_string(row.version),
               row.name.empty() ? "-" : row.name, row.provider});
  if (!table.empty()) out.Write("\n" + table.Render(width, style));
  const std::string losses = report::LossesText(i.losses, width);
  if (!losses.empty()) out.Write("\n" + losses);
}

int InspectTrace(const std::string& path, bool json, const report::Style& style) {
  Watcher watcher;
  nettrace::Reader reader(&watcher);
  auto trace = import::PumpTrace(path, &reader);
  if (!trace.ok()) return Fail(trace.error());
  watcher.fold.Finish(!trace->damage && reader.ended());
  Inspection i{trace.Take(), CountEvents(reader), {}, {}};
  i.losses.Merge(i.trace.losses);
  if (i.trace.damage && i.losses[Loss::kTruncatedInput] == 0) i.losses.Add(Loss::kTruncatedInput);
  for (const auto& process : watcher.recording.processes) i.losses.Merge(process->losses);
  i.damage = report::DamageOf(i.trace, path, reader.ended());
  Output out;
  if (json)
    WriteJson(i, watcher, path, out);
  else
    WriteText(i, watcher, style, out);
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (!i.damage) return kExitOk;
  Warn(i.damage->message);
  return kExitIncomplete;
}

}  // namespace

int RunInspect(const Args& args) {
  FormatOptions format;
  ColorMode color = ColorMode::kAuto;
  std::string path;
  VerbOptions verb(
      "inspect", "FILE [options]",
      "Shows what a trace or a capture holds: format, processes, events, and what was lost.",
      "  clrscope inspect trace.nettrace\n"
      "  clrscope inspect orders.clrscope\n"
      "  clrscope inspect trace.nettrace --json | jq .losses\n");
  verb.Add("file", path,
           "a .clrscope, .nettrace or .nettrace.gz file; '-' reads a nettrace from standard input")
      .Value("FILE")
      .Required();
  AddFormatOptions(verb, format, /*csv=*/false);
  AddColorOption(verb, color);
  if (const auto code = verb.Parse(args)) return *code;
  const report::Style style = StyleFor(color);
  return path != "-" && store::LooksLikeCapture(path) ? InspectCapture(path, format.json, style)
                                                      : InspectTrace(path, format.json, style);
}

}  // namespace clrscope::cli
