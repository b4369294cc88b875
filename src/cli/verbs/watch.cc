// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/watch/watch.h"
#include "cli/exit_code.h"
#include "cli/options/measures_option.h"
#include "cli/options/options.h"
#include "cli/options/sampling_option.h"
#include "cli/terminal/log_lines.h"
#include "cli/terminal/output.h"
#include "clr/process_name.h"
#include "report/input/parse.h"

namespace clrscope::cli {
namespace {

constexpr uint64_t kLeastBytes = uint64_t{64} << 20;
constexpr int64_t kLeastRotateNs = int64_t{10} * 1'000'000'000;

struct WatchArguments {
  bool all = false;
  std::vector<std::string> names;
  std::string folder, keep = "24h", max_size = "4G", rotate = "1h", rotate_size;
  std::string sampling = "auto";
  unsigned buffer_mb = 256;
  MeasureArguments measures;
  bool quiet = false;
};

Result<capture::WatchOptions> MakeOptions(const WatchArguments& a) {
  capture::WatchOptions options;
  if (a.folder.empty())
    return Error{ErrorCode::kUsage, "where to? Give a folder with -o: it is made if need be"};
  options.folder = a.folder;
  while (options.folder.size() > 1 && options.folder.back() == '/') options.folder.pop_back();
  ASSIGN_OR_RETURN(options.keep_ns, report::ParseDuration(a.keep));
  ASSIGN_OR_RETURN(options.rotate_ns, report::ParseDuration(a.rotate));
  ASSIGN_OR_RETURN(options.max_bytes, report::ParseSize(a.max_size));
  if (!a.rotate_size.empty()) {
    ASSIGN_OR_RETURN(options.rotate_bytes, report::ParseSize(a.rotate_size));
  }
  if (options.max_bytes < kLeastBytes)
    return Error{ErrorCode::kUsage, fmt::format("--max-size {}: 64M is the least", a.max_size)};
  if (options.rotate_ns < kLeastRotateNs)
    return Error{ErrorCode::kUsage, fmt::format("--rotate {}: 10s is the least", a.rotate)};
  if (options.rotate_bytes > options.max_bytes / 2)
    return Error{ErrorCode::kUsage,
                 fmt::format("--rotate-size {}: at most half of --max-size", a.rotate_size)};
  ASSIGN_OR_RETURN(options.engine.target.sampling, ParseSampling(a.sampling));
  options.engine.target.buffer_mb = a.buffer_mb;
  bool live = false;
  RETURN_IF_ERROR(ChooseMeasures(a.measures, &live, options.engine.target));
  if (live)
    return Error{ErrorCode::kUsage,
                 "live objects and gc-cpu are of named processes, not of a watch"};
  if (!a.names.empty())
    options.engine.wanted = [names = a.names](const ipc::DotnetProcess& p) {
      return std::any_of(names.begin(), names.end(), [&p](const std::string& name) {
        return clr::NameMatches(name, p.name, p.entry_assembly);
      });
    };
  return options;
}

}  // namespace

int RunWatch(const Args& args) {
  WatchArguments watch;
  VerbOptions verb(
      "watch", "[--all | -n NAME…] -o DIR [options]",
      "Records every .NET process continuously: one capture per hour in a folder; the oldest are "
      "deleted. Processes may start and end meanwhile. SIGTERM or Ctrl-C closes the last capture "
      "and ends the watch.",
      "  clrscope watch -o /var/lib/clrscope\n"
      "  clrscope watch --cpu -o /var/lib/clrscope          who uses CPU time, too\n"
      "  clrscope watch -n orders -n billing --keep 7d --max-size 20G -o /var/lib/clrscope\n"
      "  clrscope report /var/lib/clrscope/clrscope.20261121T060000Z.clrscope --by process\n");
  verb.Flag("--all", watch.all, "record every .NET process (default)");
  verb.Add("-n,--name", watch.names, "record only processes of this name (repeatable)")
      .Value("NAME");
  verb.Add("-o,--output", watch.folder,
           "the folder of the captures. Only one watch at a time may write into it")
      .Value("DIR");
  verb.Add("--keep", watch.keep, "delete captures that ended longer ago than this (default 24h)")
      .Value("TIME");
  verb.Add("--max-size", watch.max_size,
           "limit the size of all captures together; the oldest are deleted first (default 4G)")
      .Value("SIZE");
  verb.Add("--rotate", watch.rotate,
           "begin a new capture at each full interval in UTC: 10m, 1h … (default 1h)")
      .Value("TIME");
  verb.Add("--rotate-size", watch.rotate_size,
           "begin a new capture when one reaches this size (default: an eighth of --max-size)")
      .Value("SIZE");
  AddSamplingOptions(verb, watch.sampling, watch.buffer_mb);
  AddMeasureOptions(verb, watch.measures, {.lines = true, .messages = true});
  verb.Flag("-q,--quiet", watch.quiet, "do not log processes that start or end");
  if (const auto code = verb.Parse(args)) return *code;
  if (watch.all && !watch.names.empty())
    return Fail({ErrorCode::kUsage, "watch: give either --all or names (-n), not both"});
  Result<capture::WatchOptions> options = MakeOptions(watch);
  if (!options.ok()) return Fail(options.error());
  LogLines log(watch.quiet ? capture::LogLevel::kNotice : capture::LogLevel::kInfo);
  Result<std::unique_ptr<capture::Watch>> running = capture::Watch::Start(options.Take(), &log);
  if (!running.ok()) return Fail(running.error());
  (*running)->Run();
  return kExitOk;
}

}  // namespace clrscope::cli
