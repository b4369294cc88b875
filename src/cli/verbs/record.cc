// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "capture/proc/program_file.h"
#include "capture/record/capture_output.h"
#include "capture/record/recorder.h"
#include "cli/exit_code.h"
#include "cli/options/sampling_option.h"
#include "cli/terminal/progress.h"
#include "clr/process_name.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/process_finder.h"
#include "profile/overhead/overhead_note.h"
#include "report/input/parse.h"
#include "report/input/symbols.h"
#include "report/text/humanize.h"

namespace clrscope::cli {
namespace {

// errors: kUsage when processes run already, or would not wait for us at their start
Result<profile::CountMode> ParseTypes(const RecordArguments& a) {
  if (a.types.empty()) return profile::CountMode::kUnknown;
  if (a.command.empty())
    return Error{ErrorCode::kUsage,
                 "--types needs a launch (-- COMMAND): a runtime can only be told at its start to "
                 "count by type; what works on a process that runs already is sampling, which "
                 "estimates the same figures: leave --types out"};
  const std::string program = capture::FindProgram(a.command.front());
  if (struct stat s{};
      ::stat(program.c_str(), &s) == 0 && S_ISREG(s.st_mode) && !capture::IsDotnetHost(program))
    return Error{
        ErrorCode::kUsage,
        fmt::format("--types needs a .NET program itself, and {} is none: a runtime counts "
                    "by type only if it is told at its start, and what others start does "
                    "not wait for that; launch `dotnet app.dll` or the application's "
                    "executable, or use --exact",
                    program)};
  return a.types == "all"    ? profile::CountMode::kAll
         : a.types == "high" ? profile::CountMode::kHigh
                             : profile::CountMode::kLow;
}

// What counting costs, as bench/types.py measures it.
std::string_view SlowDown(profile::CountMode mode) {
  return mode == profile::CountMode::kAll
             ? "note: --types all writes an event with its stack for every object: programs that "
               "allocate much take 5 to 9 times as long\n"
             : "note: --types makes every allocation take the runtime's slow path: a program that "
               "does nothing but allocate takes about 1.5 times as long\n";
}

// A file name is made of a program's name: keep what is harmless in a shell.
std::string Harmless(std::string name) {
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
          c == '-' || c == '_'))
      c = '_';
  return name.empty() ? "app" : name;
}

std::string DefaultName(const std::string& app, pid_t pid) {
  return fmt::format("clrscope.{}.{}.{:%Y%m%dT%H%M%SZ}.clrscope", Harmless(app), pid,
                     fmt::gmtime(std::time(nullptr)));
}

// The processes to attach to, each attachable.
Result<std::vector<ipc::DotnetProcess>> FindTargets(const RecordArguments& a) {
  std::vector<ipc::DotnetProcess> out;
  for (const int pid : a.pids) {
    ASSIGN_OR_RETURN(ipc::DotnetProcess p, ipc::FindProcess(pid));
    out.push_back(std::move(p));
  }
  for (const std::string& name : a.all ? std::vector<std::string>() : a.names) {
    std::vector<ipc::DotnetProcess> found = ipc::FindByName(name);
    if (found.empty())
      return Error{ErrorCode::kNotFound,
                   fmt::format("no .NET process is called {}: clrscope ps lists them", name)};
    for (ipc::DotnetProcess& p : found) out.push_back(std::move(p));
  }
  for (const ipc::DotnetProcess& p : out) {
    if (p.attachable) continue;
    if (const auto blocker = ipc::Diagnose(p.pid).blocker()) return *blocker;
    return Error{p.reason_code, fmt::format("process {} cannot be recorded: {}", p.pid, p.reason)};
  }
  return out;
}

std::string FileSize(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 ? report::HumanBytes(static_cast<double>(s.st_size))
                                       : "size unknown";
}

Result<capture::RecordOptions> MakeOptions(const RecordArguments& a) {
  if (!a.command.empty() && (!a.pids.empty() || !a.names.empty()))
    return Error{ErrorCode::kUsage,
                 "give either processes (-p, -n) or a program to launch (-- CMD), not both"};
  if (a.all && (!a.command.empty() || !a.pids.empty()))
    return Error{ErrorCode::kUsage, "--all goes with neither -p nor a program to launch (-- CMD)"};
  if (a.wait_all && a.command.empty())
    return Error{ErrorCode::kUsage,
                 "--wait-all is for a program to launch (-- CMD), whose processes it waits for"};
  if (a.all && a.keep_nettrace)
    return Error{ErrorCode::kUsage, "--keep-nettrace is for named processes, not for --all"};
  if (a.command.empty() && a.pids.empty() && a.names.empty() && !a.all)
    return Error{
        ErrorCode::kUsage,
        "what is to be recorded? Give -p PID, -n NAME, --all, or -- CMD; clrscope ps lists "
        ".NET processes"};
  capture::RecordOptions options;
  ASSIGN_OR_RETURN(options.target.sampling, ParseSampling(a.sampling));
  ASSIGN_OR_RETURN(options.target.types, ParseTypes(a));
  options.target.fold.count_mode = options.target.types;
  const bool flood = options.target.types == profile::CountMode::kAll;
  options.target.buffer_mb = a.buffer_mb != 0 ? a.buffer_mb : flood ? 1024 : 256;
  if (a.exact && a.command.empty())
    return Error{ErrorCode::kUsage,
                 "--exact needs a launch (-- COMMAND): a runtime can only be told at its start to "
                 "report every object"};
  if ((a.live || a.exact) && a.all)
    return Error{ErrorCode::kUsage, "--live and --exact are for named processes, not for --all"};
  bool live = a.live;
  RETURN_IF_ERROR(ChooseMeasures(a.measures, &live, options.target));
  if (options.target.max_overhead > 0 && (a.exact || !a.types.empty()))
    return Error{ErrorCode::kUsage,
                 "--exact and --types count everything, whatever that takes: --max-overhead does "
                 "not go with them"};
  if (options.target.max_overhead > 0 && a.keep_nettrace)
    return Error{ErrorCode::kUsage,
                 "--max-overhead records in windows of time, which --keep-nettrace does not keep"};
  if (!options.target.allocations && (a.exact || !a.types.empty()))
    return Error{ErrorCode::kUsage,
                 "--exact and --types count allocations: --only and --measures leave them out"};
  if (options.target.requests && (a.exact || !a.types.empty()))
    return Error{
        ErrorCode::kUsage,
        "--requests goes with neither --exact nor --types: counts are not kept by request"};
  if (options.target.requests && live && options.target.sampling != capture::Sampling::kAuto)
    return Error{ErrorCode::kUsage,
                 "--live with --requests samples as the agent does: leave --sampling out"};
  if (live && a.all)
    return Error{ErrorCode::kUsage, "live objects and gc-cpu are of named processes, not of --all"};
  if (live || a.exact) {
    options.target.agent = !options.target.requests;
    options.agent = a.exact ? "every=1s,native=1,exact=1" : "every=1s,native=1";
    if (options.target.lines) *options.agent += ",lines=1";
    if (options.target.requests) *options.agent += ",requests=1";
    if (a.cap != 0) *options.agent += fmt::format(",cap={}", a.cap);
  }
  ASSIGN_OR_RETURN(options.target.symbol_folders, report::SymbolFolders(a.symbols));
  options.keep_nettrace = a.keep_nettrace;
  options.replace = a.force;
  options.wait_all = a.wait_all;
  if (!a.duration.empty()) {
    ASSIGN_OR_RETURN(const int64_t ns, report::ParseDuration(a.duration));
    options.duration = std::chrono::nanoseconds(ns);
  }
  ASSIGN_OR_RETURN(options.processes, FindTargets(a));
  options.command = a.command;
  if (const capture::TargetOptions& target = options.target;
      !a.command.empty() && target.cpu_hz != 0 && !target.cpu_may_lack)
    RETURN_IF_ERROR(capture::MaySampleHere(target.sampler, /*children=*/true));
  options.all = a.all;
  if (a.all && !a.names.empty())
    options.wanted = [names = a.names](const ipc::DotnetProcess& p) {
      return std::any_of(names.begin(), names.end(), [&p](const std::string& name) {
        return clr::NameMatches(name, p.name, p.entry_assembly);
      });
    };
  std::string app = a.all && a.names.empty() ? "all" : clr::ProcessName(a.command, {}, {});
  if (a.all && !a.names.empty()) app = a.names.front();
  if (!options.processes.empty()) app = options.processes.front().name;
  options.output = [app, output = a.output](pid_t pid) {
    return output.empty() ? DefaultName(app, pid) : output;
  };
  return options;
}

int FailRecording(const Error& error) {
  fmt::print(stderr, "clrscope record: {}\n", error.message);
  return ExitCodeOf(error.code);
}

bool ToStandardOutput(const RecordArguments& a) {
  return a.output == capture::CaptureOutput::kStandardOutput;
}

// The finished capture goes to standard output, which must be able to take it.
Status CheckStandardOutput(const RecordArguments& a) {
  if (!a.command.empty())
    return Error{ErrorCode::kUsage,
                 "-o - goes with processes that run (-p, -n, --all): the standard output of a "
                 "launched program is its own"};
  if (a.keep_nettrace)
    return Error{ErrorCode::kUsage,
                 "--keep-nettrace writes files beside the capture: name it with -o FILE"};
  if (::isatty(STDOUT_FILENO) != 0)
    return Error{ErrorCode::kUsage,
                 "-o - writes the capture, which is no text, to standard output, and that is a "
                 "terminal: redirect it (-o - > app.clrscope), or name a file with -o FILE"};
  return OkStatus();
}

Status PrepareOutput(const RecordArguments& a) {
  if (ToStandardOutput(a)) return CheckStandardOutput(a);
  if (a.output.empty() || ::access(a.output.c_str(), F_OK) != 0) return OkStatus();
  if (!a.force)
    return Error{
        ErrorCode::kUsage,
        fmt::format("{} exists: choose another name with -o, or overwrite it with -f", a.output)};
  for (const char* suffix : {"", "-wal", "-shm"}) (void)::unlink((a.output + suffix).c_str());
  return OkStatus();
}

void SaySlowHelpers() {
  fmt::print(
      stderr,
      "Objects are counted no more. Until it exits, a program that goes on keeps the runtime's "
      "slow allocation helpers, which cannot be taken back (docs/agent.md tells their price)\n");
}

// The recording is over, the launched program is not.
void SayWaiting(bool exact, bool recorded) {
  fmt::print(stderr, "The recording is {}; the program goes on, and its exit code is waited for\n",
             recorded ? "complete" : "over");
  if (exact && recorded) SaySlowHelpers();
}

void SayLeft(bool exact, const std::string& left) {
  fmt::print(stderr,
             "note: the command has ended; what it left running is no longer recorded: {}; "
             "--wait-all records until that has ended, too\n",
             left);
  if (exact) SaySlowHelpers();
}

}  // namespace

int RunRecord(const RecordArguments& arguments) {
  if (Status s = PrepareOutput(arguments); !s.ok()) return FailRecording(s.error());
  Result<capture::RecordOptions> options = MakeOptions(arguments);
  if (!options.ok()) return FailRecording(options.error());
  const auto duration = options->duration;
  const bool launching = !options->command.empty();
  const bool allocations = options->target.allocations;
  if (!arguments.quiet) {
    options->on_waiting = [exact = arguments.exact](bool recorded) { SayWaiting(exact, recorded); };
    options->on_note = [](const std::string& note) { fmt::print(stderr, "note: {}\n", note); };
  }
  if (options->target.types != profile::CountMode::kUnknown && !arguments.quiet)
    fmt::print(stderr, "{}", SlowDown(options->target.types));
  // As bench/requests.py measures it.
  if (options->target.every_request && !arguments.quiet)
    fmt::print(stderr, "note: --requests=all takes the program about 12 µs of CPU a request\n");
  if (options->target.activities && !arguments.quiet)
    fmt::print(stderr,
               "note: --activities listens to every ActivitySource: the program creates activities "
               "while this goes on, and sends traceparent to the services it calls\n");
  Result<std::unique_ptr<capture::Recorder>> recorder = capture::Recorder::Start(options.Take());
  if (!recorder.ok()) {
    const int code = FailRecording(recorder.error());
    if (!launching) return code;
    return recorder.error().code == ErrorCode::kNotFound     ? 127
           : recorder.error().code == ErrorCode::kPermission ? 126
                                                             : code;
  }
  const bool words = !arguments.quiet;
  if (words && arguments.all)
    fmt::print(stderr, "Recording every .NET process{}{}\n",
               arguments.names.empty() ? "" : " of that name",
               duration ? "" : "; Ctrl-C stops and writes");
  if (words && !launching && !arguments.all) {
    std::string who;
    for (const auto& t : (*recorder)->recording().processes)
      who += fmt::format("{}{} ({})", who.empty() ? "" : ", ",
                         (*recorder)->recording().strings.Get(t->info.name), t->info.pid);
    fmt::print(stderr, "Recording {}{}\n", who, duration ? "" : "; Ctrl-C stops and writes");
  }
  for (const std::string& note : (*recorder)->TakeNotes())
    if (words) fmt::print(stderr, "note: {}\n", note);
  ProgressLine line(words && !arguments.no_progress && !launching, duration);
  Result<capture::RecordSummary> summary =
      (*recorder)->Run([&line](const capture::Progress& p) { line.Show(p); });
  line.Clear();
  if (!summary.ok()) return FailRecording(summary.error());
  for (const std::string& note : summary->notes)
    if (words) fmt::print(stderr, "note: {}\n", note);
  if (words && !summary->left.empty()) SayLeft(arguments.exact, summary->left);
  const bool to_stdout = ToStandardOutput(arguments);
  const std::string& file = (*recorder)->output();
  if (summary->write_error) {
    fmt::print(stderr, "clrscope record: {}; {}\n", summary->write_error->message,
               to_stdout ? "the capture is lost" : file + " holds what was written before");
    return ExitCodeOf(summary->write_error->code);
  }
  if (words) {
    const std::string who = arguments.all ? fmt::format("{} process{}, ", summary->processes,
                                                        summary->processes == 1 ? "" : "es")
                                          : "";
    std::string what;
    if (allocations || summary->samples != 0)
      what = fmt::format(", {} samples", report::Thousands(summary->samples));
    if (summary->happenings != 0 || !allocations)
      what += fmt::format(", {} throws and waits", report::Thousands(summary->happenings));
    fmt::print(stderr, "Wrote {} ({}): {}, {}{}\n", to_stdout ? "to standard output" : file,
               to_stdout ? report::HumanBytes(static_cast<double>((*recorder)->written_bytes()))
                         : FileSize(file),
               report::HumanDuration(static_cast<double>(summary->duration_ns) / 1e9), who,
               what.substr(2));
    if (const std::string said = profile::OverheadNote(summary->overhead); !said.empty())
      fmt::print(stderr, "{}\n", said);
    for (const std::string& raw : summary->kept)
      fmt::print(stderr, "Kept {} ({})\n", raw, FileSize(raw));
    if (!to_stdout && !summary->nothing) fmt::print(stderr, "Next: clrscope report {}\n", file);
  }
  if (summary->nothing) {
    const int code = FailRecording(*summary->nothing);
    // A program that failed says more.
    if (summary->exit_code.value_or(0) == 0 && !summary->interrupted_twice) return code;
  }
  if (summary->exit_code) return *summary->exit_code;
  if (summary->interrupted_twice) return 130;
  if (!arguments.all || summary->processes != 0) return kExitOk;
  fmt::print(stderr, "clrscope record: no .NET process could be recorded\n");
  return kExitEmpty;
}

}  // namespace clrscope::cli
