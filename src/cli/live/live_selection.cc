// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_selection.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "cli/options/sampling_option.h"
#include "cli/terminal/output.h"
#include "clr/process_name.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/process_finder.h"

namespace clrscope::cli {
namespace {
constexpr std::chrono::milliseconds kStopPatience{3000};
}  // namespace

void AddLiveSelection(VerbOptions& verb, LiveSelection& s) {
  verb.Add("-p,--pid,--process-id", s.pids, "a process (repeatable)").Value("PID");
  verb.Add("-n,--name", s.names,
           "processes of this name, including those that start later (repeatable)")
      .Value("NAME");
  verb.Flag("--all", s.all, "every .NET process, including those that start later");
  AddSamplingOptions(verb, s.sampling, s.buffer_mb);
}

void AddPoolOption(VerbOptions& verb, LiveSelection& s) {
  verb.Flag("--pool", s.pool,
            "also show the thread pool: how many threads it has and how many work items wait, from "
            "the runtime's counters once a second");
}

Result<std::unique_ptr<capture::SessionEngine>> StartEngine(
    const LiveSelection& s, bool keep_tables,
    const std::function<void(capture::SessionEngine&)>& prepare) {
  if ((s.all ? 1 : 0) + (s.names.empty() ? 0 : 1) + (s.pids.empty() ? 0 : 1) != 1)
    return Error{ErrorCode::kUsage,
                 "which processes? Give one of -p PID, -n NAME and --all; clrscope ps lists them"};
  capture::EngineOptions options;
  ASSIGN_OR_RETURN(options.target.sampling, ParseSampling(s.sampling));
  options.target.buffer_mb = s.buffer_mb;
  bool live = false;
  RETURN_IF_ERROR(ChooseMeasures(s.measures, &live, options.target));
  options.target.pool = s.pool;
  if (live)
    return Error{ErrorCode::kUsage,
                 "live objects and gc-cpu need the agent: `clrscope record --live` loads it"};
  options.discover = s.discovers();
  options.start_now = true;
  options.keep_tables = keep_tables;
  if (!s.names.empty())
    options.wanted = [names = s.names](const ipc::DotnetProcess& p) {
      return std::any_of(names.begin(), names.end(), [&p](const std::string& name) {
        return clr::NameMatches(name, p.name, p.entry_assembly);
      });
    };
  ASSIGN_OR_RETURN(std::unique_ptr<capture::SessionEngine> engine,
                   capture::SessionEngine::Start(std::move(options)));
  prepare(*engine);
  for (const int pid : s.pids) {
    ASSIGN_OR_RETURN(ipc::DotnetProcess process, ipc::FindProcess(pid));
    if (!process.attachable) {
      if (const auto blocker = ipc::Diagnose(pid).blocker()) return *blocker;
      return Error{process.reason_code,
                   fmt::format("process {} cannot be looked at: {}", pid, process.reason)};
    }
    RETURN_IF_ERROR(engine->Join(process));
  }
  return engine;
}

Result<LiveEngine> StartLive(const LiveSelection& s) {
  LiveEngine live;
  ASSIGN_OR_RETURN(live.engine, StartEngine(s, false, [&](capture::SessionEngine& engine) {
                     live.view = std::make_unique<capture::LiveView>(&engine);
                     engine.AddObserver(live.view.get());
                   }));
  return live;
}

void SuspendLive(capture::SessionEngine& engine, const std::function<void(bool)>& screen) {
  (void)engine.StopAll(kStopPatience, [] { return true; });
  if (screen) screen(false);
  ::raise(SIGSTOP);
  for (const std::string& lost : engine.ReopenAll()) Warn(lost);
  if (screen) screen(true);
}

void StopLive(capture::SessionEngine& engine) {
  (void)engine.StopAll(kStopPatience, [] { return true; });
  engine.Close();
}

}  // namespace clrscope::cli
