// SPDX-License-Identifier: Apache-2.0
#include "report/input/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/bind.h"
#include "import/trace_file.h"
#include "profile/interval/interval_frame.h"
#include "profile/notes.h"
#include "profile/sampler_notes.h"
#include "profile/views/show_live.h"
#include "report/input/damage.h"
#include "report/input/fill_lines.h"
#include "report/input/parse.h"
#include "report/input/pprof_input.h"
#include "report/rows/losses.h"
#include "report/text/humanize.h"
#include "store/capture_reader.h"

namespace clrscope::report {
namespace {

using profile::Source;

std::optional<Source> SourceOf(std::string_view event) {
  if (event == "sampled") return Source::kSampled;
  if (event == "tick") return Source::kTick;
  if (event == "counted") return Source::kCounted;
  return std::nullopt;
}

// Somebody looks at lines, or names a folder to find them in.
bool WantsFilled(const InputOptions& options) {
  return options.lines == InputOptions::Lines::kAll ||
         (options.lines == InputOptions::Lines::kRecorded && !options.symbols.folders.empty());
}

Result<analysis::Leaks> FindLeaks(store::CaptureReader& reader, const analysis::TimeRange& range,
                                  const profile::Profile& profile,
                                  const std::vector<analysis::AgentPlaces>& places,
                                  const profile::Filter& filter) {
  analysis::LeakFinder finder(&profile, &places);
  ASSIGN_OR_RETURN(auto routes, profile::RouteMatch(filter));
  finder.KeepRoutes(std::move(routes));
  RETURN_IF_ERROR(reader.ForEachInterval(range, [&](const profile::AgentInterval& interval) {
    if (range.Contains(interval.start_ns(), interval.end_ns())) finder.Measure(interval);
  }));
  RETURN_IF_ERROR(reader.ForEachInterval(range, [&](const profile::AgentInterval& interval) {
    if (range.Contains(interval.start_ns(), interval.end_ns())) finder.Add(interval);
  }));
  return finder.Finish();
}

Status LoadPprof(const InputOptions& options, analysis::BindOptions bind, Input& input) {
  profile::Recording recording;
  ASSIGN_OR_RETURN(const std::vector<profile::AgentInterval> intervals,
                   ReadPprofs(options.path, recording));
  analysis::Aggregate aggregate(&recording, input.range, options.detail);
  for (const profile::AgentInterval& interval : intervals) aggregate.Add(interval);
  std::vector<analysis::AgentPlaces> places;
  if (options.leaks) bind.agent_places = &places;
  input.profile = analysis::Bind(recording, aggregate, bind);
  if (!options.leaks) return OkStatus();
  analysis::LeakFinder finder(&input.profile, &places);
  const auto in_range = [&](const profile::AgentInterval& interval) {
    return input.range.Contains(interval.start_ns(), interval.end_ns());
  };
  for (const profile::AgentInterval& interval : intervals)
    if (in_range(interval)) finder.Measure(interval);
  for (const profile::AgentInterval& interval : intervals)
    if (in_range(interval)) finder.Add(interval);
  input.leaks = finder.Finish();
  return OkStatus();
}

Status LoadCapture(const InputOptions& options, analysis::BindOptions bind, Input& input) {
  std::vector<analysis::AgentPlaces> places;
  if (options.leaks) bind.agent_places = &places;
  auto opened = store::CaptureReader::Open(options.path);
  if (!opened.ok()) return Unreadable(opened.error());
  const auto reader = opened.Take();
  ASSIGN_OR_RETURN(const SymbolSources symbols, OpenSymbols(options.symbols));
  AddSymbols(symbols, reader->mutable_recording());
  analysis::Aggregate aggregate(&reader->recording(), input.range, options.detail);
  Status read =
      reader->ForEachSlice(input.range, [&](const profile::Slice& s) { aggregate.Add(s); });
  if (read.ok())
    read = reader->ForEachInterval(
        input.range, [&](const profile::AgentInterval& interval) { aggregate.Add(interval); });
  if (!read.ok()) input.damage = read.error();
  if (read.ok() && !reader->recording().complete)
    input.damage = UnfinishedCapture(options.path, reader->recording().end_ns);
  if (WantsFilled(options)) input.line_notes = FillLines(symbols, reader->mutable_recording());
  input.notes = symbols.Notes();
  input.profile = analysis::Bind(reader->recording(), aggregate, bind);
  if (options.leaks && !(input.damage && !read.ok())) {
    ASSIGN_OR_RETURN(input.leaks,
                     FindLeaks(*reader, input.range, input.profile, places, options.filter));
  }
  return OkStatus();
}

// Ages are kept in buckets: only their bounds can be asked for.
Result<uint32_t> OlderThan(const std::string& text) {
  if (text.empty()) return 0u;
  ASSIGN_OR_RETURN(const int64_t ns, ParseDuration(text));
  const auto seconds = static_cast<uint32_t>(std::min<int64_t>(ns / 1'000'000'000, 1u << 31));
  const uint32_t start = profile::AgeStartFor(seconds);
  if (start == seconds && ns % 1'000'000'000 == 0) return start;
  const uint32_t* above = std::find(profile::kAgeStarts.begin(), profile::kAgeStarts.end(), start);
  const uint32_t below = above == profile::kAgeStarts.begin() ? 0 : *(above - 1);
  return Error{ErrorCode::kUsage,
               fmt::format("--older-than {}: ages are kept in buckets; use {} or {}", text,
                           HumanAge(below), HumanAge(start))};
}

Status LoadTrace(const InputOptions& options, const analysis::BindOptions& bind, Input& input) {
  profile::Recording recording;
  analysis::Aggregate aggregate(&recording, input.range, options.detail);
  analysis::FoldOptions fold;
  fold.lines = WantsFilled(options);
  auto read = import::ReadTrace(options.path, &recording, &aggregate, fold);
  if (!read.ok()) return Unreadable(read.error());
  input.damage = DamageOf(*read, options.path, recording.complete);
  if (WantsFilled(options)) {
    ASSIGN_OR_RETURN(const SymbolSources symbols, OpenSymbols(options.symbols));
    input.line_notes = FillLines(symbols, recording);
    input.notes = symbols.Notes();
  }
  input.profile = analysis::Bind(recording, aggregate, bind);
  return OkStatus();
}

}  // namespace

Error Unreadable(Error e) {
  if (e.code == ErrorCode::kCorrupt || e.code == ErrorCode::kTruncated) e.code = ErrorCode::kFailed;
  return e;
}

Error UnfinishedCapture(const std::string& path, int64_t end_ns) {
  return {
      ErrorCode::kTruncated,
      fmt::format("{} was not closed: its recording goes on or was killed; it holds the first {}",
                  path, HumanDuration(static_cast<double>(end_ns) / 1e9))};
}

Result<analysis::TimeRange> RangeOf(const InputOptions& options) {
  analysis::TimeRange range;
  if (!options.from.empty()) {
    ASSIGN_OR_RETURN(range.from_ns, ParseDuration(options.from));
  }
  if (!options.to.empty()) {
    ASSIGN_OR_RETURN(range.to_ns, ParseDuration(options.to));
  }
  if (range.from_ns >= range.to_ns)
    return Error{ErrorCode::kUsage,
                 fmt::format("--from {} is not before --to {}", options.from, options.to)};
  return range;
}

namespace {

// The profile's cells become the rows of `leaks`, so that they are filtered like any other.
Result<Input> NarrowLeaks(const InputOptions& options, Input input) {
  profile::Profile& p = input.profile;
  const std::vector<analysis::LeakRow> rows = std::move(input.leaks->rows);
  p.shown().cells.clear();
  for (const analysis::LeakRow& r : rows) {
    profile::Estimate index;
    index.samples = p.shown().cells.size();
    p.shown().cells.push_back({r.node, r.type, r.process, profile::HeapKind::kSoh, index});
  }
  profile::Filter filter = options.filter;
  filter.request.clear();  // only what matches was added
  const std::vector<profile::Process> all = p.processes;
  RETURN_IF_ERROR(profile::Apply(filter, p));
  input.leaks->rows.clear();
  // Windows are by process: those that are left keep their order.
  std::vector<analysis::LeakWindow> windows;
  for (size_t i = 0; i < all.size() && windows.size() < p.processes.size(); ++i) {
    const profile::Process& next = p.processes[windows.size()];
    if (all[i].pid == next.pid && all[i].start_ns == next.start_ns && all[i].name == next.name)
      windows.push_back(input.leaks->windows[i]);
  }
  input.leaks->windows = std::move(windows);
  for (const profile::Cell& c : p.shown().cells) {
    input.leaks->rows.push_back(rows[c.value.samples]);
    input.leaks->rows.back().process = c.process;
  }
  return input;
}

}  // namespace

Status ResolveSlowerThan(const std::string& text, profile::Filter& filter) {
  if (text.empty()) return OkStatus();
  for (const auto& [name, quantile] : {std::pair{"p50", 0.5}, std::pair{"p90", 0.9},
                                       std::pair{"p95", 0.95}, std::pair{"p99", 0.99}}) {
    if (text != name) continue;
    filter.slower_than_quantile = quantile;
    return OkStatus();
  }
  const Result<int64_t> ns = ParseDuration(text);
  if (!ns.ok() || *ns <= 0)
    return Error{ErrorCode::kUsage,
                 fmt::format("--slower-than {}: give a duration (250ms, 1s), or p50, p90, p95 or "
                             "p99 of the route's requests",
                             text)};
  filter.slower_than_ns = *ns;
  return OkStatus();
}

Result<Input> LoadInput(const InputOptions& given) {
  InputOptions options = given;
  RETURN_IF_ERROR(ResolveSlowerThan(options.slower_than, options.filter));
  options.detail.requests = options.detail.requests || options.filter.of_requests();
  Input input;
  ASSIGN_OR_RETURN(input.range, RangeOf(options));
  input.ranged = !options.from.empty() || !options.to.empty();
  ASSIGN_OR_RETURN(const uint32_t older_than, OlderThan(options.older_than));
  if (!options.older_than.empty() && !options.live && options.measure != "live")
    return Error{ErrorCode::kUsage, "--older-than is of live objects: give --live too"};
  analysis::BindOptions bind;
  bind.source = SourceOf(options.event);
  bind.lines = options.lines != InputOptions::Lines::kNone;
  const bool capture = options.path != "-" && store::LooksLikeCapture(options.path);
  if (!capture && options.path != "-" && LooksLikePprof(options.path)) {
    RETURN_IF_ERROR(LoadPprof(options, bind, input));
  } else {
    RETURN_IF_ERROR(capture ? LoadCapture(options, bind, input) : LoadTrace(options, bind, input));
  }
  if (input.leaks) return NarrowLeaks(options, std::move(input));
  RETURN_IF_ERROR(profile::Apply(options.filter, input.profile));
  if (!options.live && options.measure != "live") RETURN_IF_ERROR(ShowMeasure(options, input));
  if (options.live || options.measure == "live") {
    const auto& processes = input.profile.processes;
    if (std::none_of(processes.begin(), processes.end(),
                     [](const profile::Process& p) { return p.followed; }))
      return NoLiveObjects(input, options);
    input.older_than_s = older_than;
    profile::ShowLive(input.profile, older_than);
  }
  return input;
}

std::string ButMissing(const profile::Profile& profile, bool damaged) {
  const LossCounters& losses = profile.losses;
  std::string out;
  if (losses[Loss::kTargetLost] != 0)
    out += fmt::format(
        "; a program ended in the middle of its stream, and what it did last{} is missing",
        profile.measure() == profile::Measure::kExceptions
            ? ", an exception that ended it included,"
            : "");
  if (damaged || losses[Loss::kTruncatedInput] != 0)
    out += "; the file is not complete, and what follows is missing";
  // As where it did not end its session in time.
  if (out.empty() && std::any_of(profile.processes.begin(), profile.processes.end(),
                                 [](const profile::Process& process) { return !process.complete; }))
    out += "; the recording of a program was not closed, and what it did last is missing";
  bool lost = false;
  losses.ForEach([&lost](Loss loss, uint64_t) {
    lost = lost ||
           (loss != Loss::kTargetLost && loss != Loss::kTruncatedInput && Describe(loss).hides);
  });
  if (lost) out += "; events were lost on the way";
  if (profile.measure() == profile::Measure::kRequests &&
      losses[Loss::kEventSourcesSilent] + losses[Loss::kEventSourcesOff] != 0)
    out +=
        "; a program that has EventSource switched off (System.Diagnostics.Tracing.EventSource."
        "IsSupported) does not tell of any";
  return out;
}

Status ShowMeasure(const InputOptions& options, Input& input) {
  profile::Profile& p = input.profile;
  const std::string file = options.path == "-" ? "the trace" : options.path;
  if (options.measure.empty()) {
    // What was not recorded is not what people look for.
    const bool asked =
        std::any_of(p.processes.begin(), p.processes.end(), [](const profile::Process& process) {
          return process.measures == 0 || process.Recorded(profile::Measure::kAllocations);
        });
    if (!p.shown().cells.empty() || (asked && (options.leaks || !options.event.empty())))
      return OkStatus();
    size_t first = 0;
    for (size_t i = 1; i < p.figures.size(); ++i) {
      const profile::Figure& figure = p.figures[i];
      // A filter that left nothing of the allocations cannot have meant what it cannot narrow.
      if (asked && !options.filter.type.empty() && !figure.spec().typed) continue;
      if (!figure.events() || (asked && figure.cells.empty())) continue;
      if (first == 0) first = i;
      if (figure.cells.empty()) continue;
      p.shown_index = i;
      return OkStatus();
    }
    if (first != 0) p.shown_index = first;
    return OkStatus();
  }
  const auto spec =
      std::find_if(profile::kMeasureSpecs.begin(), profile::kMeasureSpecs.end(),
                   [&](const profile::MeasureSpec& m) { return m.name == options.measure; });
  if (spec == profile::kMeasureSpecs.end()) {
    std::string names;
    for (const profile::MeasureSpec& m : profile::kMeasureSpecs)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", m.name);
    return Error{ErrorCode::kUsage,
                 fmt::format("--measure {}: use one of {}", options.measure, names)};
  }
  for (size_t i = 0; i < p.figures.size(); ++i) {
    if (p.figures[i].measure != spec->id) continue;
    p.shown_index = i;
    return OkStatus();
  }
  // The agent's first words come after a second.
  const std::string missing = ButMissing(p, input.damage.has_value());
  if (spec->id == profile::Measure::kGcCpu)
    return Error{ErrorCode::kEmpty,
                 fmt::format("{} does not know {}{}: {}{}", file, spec->title,
                             input.ranged ? " in that span of time" : "", spec->none, missing)};
  const std::string modes = profile::ModesNote(p);
  if (spec->id == profile::Measure::kCpu && !modes.empty())
    return Error{ErrorCode::kEmpty, fmt::format("{} holds no CPU time. {}", file, modes)};
  return Error{ErrorCode::kEmpty,
               fmt::format("{} holds no {}: {}", file, spec->title, WhyNotHeld(p, spec->id))};
}

Error NoLiveObjects(const Input& input, const InputOptions& options) {
  const std::string file = options.path == "-" ? "the trace" : options.path;
  const std::string missing = ButMissing(input.profile, input.damage.has_value());
  // The agent's figures are in these where it was there, but perhaps at another time.
  if (input.ranged)
    return {ErrorCode::kEmpty,
            fmt::format("{} holds no live objects in that span of time: either none of the agent's "
                        "intervals lies in it, or it was recorded without --live{}",
                        file, missing)};
  return {ErrorCode::kEmpty,
          fmt::format("{} holds no live objects: `clrscope record --live` follows them{}", file,
                      missing)};
}

std::optional<Error> EmptyReason(const Input& input, const InputOptions& options) {
  const profile::Profile& p = input.profile;
  if (!p.shown().cells.empty()) return std::nullopt;
  const std::string file = options.path == "-" ? "the trace" : options.path;
  const std::string missing = ButMissing(p, input.damage.has_value());
  const profile::Filter& f = options.filter;
  if (!options.event.empty() && !p.shown().also.empty())
    return Error{ErrorCode::kEmpty, fmt::format("{} holds no {} events, but {}: use --event {}",
                                                file, profile::EventName(p.shown().source),
                                                profile::EventName(p.shown().also.front()),
                                                profile::SourceWord(p.shown().also.front()))};
  std::string given;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) given += fmt::format("{}{} {}", given.empty() ? "" : " ", option, value);
  };
  add("--type", f.type);
  add("--method", f.method);
  add("--thread", f.thread);
  add("--state", f.state);
  add("--process", f.process);
  add("--request", f.request);
  add("--slower-than", options.slower_than);
  add("--from", options.from);
  add("--to", options.to);
  add("--older-than", options.older_than);
  if (!given.empty())
    return Error{ErrorCode::kEmpty,
                 fmt::format("nothing in {} matches {}{}", file, given, missing)};
  if (profile::IsEvent(p.shown().source))
    return Error{ErrorCode::kEmpty,
                 fmt::format("{} was recorded with {}, and {}{}", file, p.shown().spec().title,
                             missing.empty() ? "there were none" : "none came", missing)};
  if (options.live || options.measure == "live")
    return Error{
        ErrorCode::kEmpty,
        fmt::format("none of the objects that {} follows has survived a GC yet{}", file, missing)};
  return Error{
      ErrorCode::kEmpty,
      fmt::format(
          "{} holds no allocation samples: it was recorded without them (`clrscope inspect` shows "
          "what it holds; `clrscope record` samples allocations), or nothing was allocated{}",
          file, missing)};
}

}  // namespace clrscope::report
