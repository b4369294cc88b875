// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <fmt/format.h>

#include "analysis/bind.h"
#include "capture/trace_file.h"
#include "cli/damage.h"
#include "cli/humanize.h"
#include "cli/parse.h"
#include "store/capture_reader.h"

namespace clrscope::cli {
namespace {

using profile::Source;

std::optional<Source> SourceOf(std::string_view event) {
  if (event == "sampled") return Source::kSampled;
  if (event == "tick") return Source::kTick;
  if (event == "counted") return Source::kCounted;
  return std::nullopt;
}

std::string_view OptionOf(Source source) {
  return source == Source::kSampled ? "sampled" : source == Source::kTick ? "tick" : "counted";
}

Status LoadCapture(const InputOptions& options, const analysis::BindOptions& bind, Input& input) {
  auto opened = store::CaptureReader::Open(options.path);
  if (!opened.ok()) return Unreadable(opened.error());
  const auto reader = opened.Take();
  analysis::Aggregate aggregate(&reader->recording(), input.range);
  Status read =
      reader->ForEachSlice(input.range, [&](const profile::Slice& s) { aggregate.Add(s); });
  if (!read.ok()) input.damage = read.error();
  if (read.ok() && !reader->recording().complete)
    input.damage = UnfinishedCapture(options.path, reader->recording().end_ns);
  input.profile = analysis::Bind(reader->recording(), aggregate, bind);
  return OkStatus();
}

Status LoadTrace(const InputOptions& options, const analysis::BindOptions& bind, Input& input) {
  profile::Recording recording;
  analysis::Aggregate aggregate(&recording, input.range);
  auto read = capture::ReadTrace(options.path, &recording, &aggregate);
  if (!read.ok()) return Unreadable(read.error());
  input.damage = DamageOf(*read, options.path, recording.complete);
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

Result<Input> LoadInput(const InputOptions& options) {
  Input input;
  ASSIGN_OR_RETURN(input.range, RangeOf(options));
  input.ranged = !options.from.empty() || !options.to.empty();
  analysis::BindOptions bind;
  bind.source = SourceOf(options.event);
  const bool capture = options.path != "-" && store::LooksLikeCapture(options.path);
  RETURN_IF_ERROR(capture ? LoadCapture(options, bind, input) : LoadTrace(options, bind, input));
  RETURN_IF_ERROR(profile::Apply(options.filter, input.profile));
  return input;
}

std::optional<Error> EmptyReason(const Input& input, const InputOptions& options) {
  const profile::Profile& p = input.profile;
  if (!p.cells.empty()) return std::nullopt;
  const std::string file = options.path == "-" ? "the trace" : options.path;
  const profile::Filter& f = options.filter;
  if (!options.event.empty() && !p.also.empty())
    return Error{
        ErrorCode::kEmpty,
        fmt::format("{} holds no {} events, but {}: use --event {}", file, EventName(p.source),
                    EventName(p.also.front()), OptionOf(p.also.front()))};
  std::string given;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) given += fmt::format("{}{} {}", given.empty() ? "" : " ", option, value);
  };
  add("--type", f.type);
  add("--method", f.method);
  add("--process", f.process);
  add("--from", options.from);
  add("--to", options.to);
  if (!given.empty())
    return Error{ErrorCode::kEmpty, fmt::format("nothing in {} matches {}", file, given)};
  return Error{
      ErrorCode::kEmpty,
      fmt::format(
          "{} holds no allocation samples: it was recorded without them (`clrscope inspect` shows "
          "what it holds; `clrscope record` samples allocations), or nothing was allocated",
          file)};
}

}  // namespace clrscope::cli
