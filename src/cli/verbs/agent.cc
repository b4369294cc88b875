// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/agent.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "capture/agents/agent_heartbeat.h"
#include "capture/agents/agent_image.h"
#include "capture/agents/agent_link.h"
#include "capture/agents/agent_place.h"
#include "cli/options/measures_option.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "report/input/parse.h"
#include "report/text/humanize.h"

namespace clrscope::cli {
namespace {

constexpr std::chrono::milliseconds kAttachPatience{30'000}, kAnswerPatience{10'000},
    kFirstPatience{5000};

// What attach and env have in common: the agent's options.
struct AgentArguments {
  std::string every, output;
  bool no_live = false;
  uint32_t cap = 0;
  std::vector<std::string> labels;
  MeasureArguments measures;
};

void AddAgentOptions(VerbOptions& verb, AgentArguments& a) {
  verb.Add("--every", a.every, "length of an interval: 30s, 5m … (default 60s)").Value("TIME");
  verb.Add("-o,--output", a.output,
           "the pprof file that the agent writes each interval, as the program sees the path; %n "
           "is the program's name, %p its pid, %t the time")
      .Value("FILE");
  AddMeasureOptions(
      verb, a.measures,
      {.requests = false, .cpu = false, .agent = true, .standard = "allocations, live and gc-cpu"});
  verb.Add("--max-overhead", a.measures.max_overhead,
           "limit profiling cost to this share of the program's CPU time, the agent's own "
           "included, for example 1%. Over the limit, the agent samples allocations and exceptions "
           "in short random windows. Cannot be changed while the agent is loaded")
      .Value("PERCENT");
  verb.Flag("--no-live", a.no_live,
            "do not follow which sampled objects stay alive. Cannot be changed while the agent is "
            "loaded");
  verb.Add("--cap", a.cap,
           "follow at most this many objects (default 20000). Cannot be changed while the agent is "
           "loaded")
      .Value("N")
      .Between(16, 1'000'000);
  verb.Add("--label", a.labels, "add KEY=VALUE to every sample (repeatable)").Value("KEY=VALUE");
}

// A list says all that is measured; single options add to it. errors: kUsage
Result<std::string> MeasureText(const AgentArguments& a) {
  const MeasureArguments& m = a.measures;
  bool live = false;
  capture::TargetOptions chosen;
  RETURN_IF_ERROR(ChooseMeasures(m, &live, chosen));
  if (chosen.requests)
    return Error{
        ErrorCode::kUsage,
        "--requests: the agent does not follow requests, `clrscope record --requests` does"};
  std::string text;
  const auto add = [&](std::string_view key, bool on, bool said) {
    if (said) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, on ? 1 : 0);
  };
  const bool list = !m.measures.empty() || !m.only.empty();
  add("allocations", chosen.allocations, list);
  add("live", live && !a.no_live, list || a.no_live);
  add("exceptions", chosen.exceptions, list || chosen.exceptions);
  add("locks", chosen.locks, list || chosen.locks);
  add("waits", chosen.waits, list || chosen.waits);
  if (chosen.max_overhead > 0)
    text +=
        fmt::format("{}max_overhead={:.6g}", text.empty() ? "" : ",", 100 * chosen.max_overhead);
  return text;
}

// As CLRSCOPE_OPTS has them.
Result<std::string> AgentOptionText(const AgentArguments& a) {
  std::string text;
  const auto add = [&](std::string_view item) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", item);
  };
  if (!a.every.empty()) {
    ASSIGN_OR_RETURN(const int64_t ns, report::ParseDuration(a.every));
    if (ns < 1'000'000'000)
      return Error{ErrorCode::kUsage, "--every: an interval takes at least a second"};
    add(fmt::format("every={}ms", ns / 1'000'000));
  }
  ASSIGN_OR_RETURN(const std::string measures, MeasureText(a));
  if (!measures.empty()) add(measures);
  if (a.cap != 0) add(fmt::format("cap={}", a.cap));
  for (const std::string& label : a.labels) {
    if (label.find('=') == std::string::npos || label.find(',') != std::string::npos)
      return Error{ErrorCode::kUsage,
                   fmt::format("--label {}: it is to be KEY=VALUE, without a comma", label)};
    add("label." + label);
  }
  if (!a.output.empty()) {
    if (a.output.find(',') != std::string::npos)
      return Error{ErrorCode::kUsage, "-o: the agent takes no name with a comma"};
    std::error_code ignored;
    add("output=" +
        (a.output[0] == '/' ? a.output : std::filesystem::absolute(a.output, ignored).string()));
  }
  return text;
}

void AddPid(VerbOptions& verb, int& pid) {
  verb.Add("-p,--pid,--process-id", pid, "the process").Value("PID").Required();
}

Status AsStatus(const Result<std::string>& answer) {
  return answer.ok() ? OkStatus() : Status(answer.error());
}

std::string Rate(double ns, double samples) {
  return samples == 0 ? "-" : fmt::format("{:.2f} µs", ns / samples / 1000);
}

template <class Line>
void WriteOverhead(const report::Json& o, Line&& line) {
  std::string parts;
  for (const report::Json& p : o.value("parts", report::Json::array()))
    parts += fmt::format("{}{} {:.2f}", parts.empty() ? "" : ", ", p.value("part", std::string()),
                         100 * p.value("share", 0.0));
  line("overhead", fmt::format("{:.2f} % of the program's CPU of {:.3g} % that it may be{}",
                               100 * o.value("share", 0.0), 100 * o.value("limit", 0.0),
                               parts.empty() ? "" : " (" + parts + ")"));
  for (const report::Json& p : o.value("parts", report::Json::array()))
    if (const auto windows = p.value("windows", uint64_t{0}); windows != 0)
      line("", fmt::format("{} in {} window{} of time, {} of {}", p.value("part", std::string()),
                           report::Thousands(windows), windows == 1 ? "" : "s",
                           report::HumanDuration(p.value("windows_s", 0.0)),
                           report::HumanDuration(p.value("of_s", 0.0))));
}

void WriteStatus(const report::Json& s, Output& out) {
  const auto number = [&](const char* name) { return s.value(name, 0.0); };
  const auto text = [&](const char* name) { return s.value(name, std::string()); };
  const auto line = [&](std::string_view name, const std::string& value) {
    out.Write(fmt::format("{:<12} {}\n", name, value));
  };
  line("process", fmt::format("{}, {}", s.value("pid", 0), text("runtime")));
  line("sampling", s.value("sampling", false)  ? text("event")
                   : s.value("stopped", false) ? "stopped; clrscope attach starts it again"
                                               : "no");
  std::string measures;
  for (const report::Json& m : s.value("measures", report::Json::array()))
    measures += (measures.empty() ? "" : ", ") + m.get<std::string>();
  if (!measures.empty()) line("measures", measures);
  line("attached", report::HumanDuration(number("uptime_ms") / 1000));
  line("interval", report::HumanDuration(number("every_ms") / 1000));
  line("samples", fmt::format("{}, {} each", report::Thousands(s.value("samples", uint64_t{0})),
                              Rate(number("sample_ns"), number("samples"))));
  if (number("events") > 0)
    line("events", fmt::format("{} exceptions and waits, {} each",
                               report::Thousands(s.value("events", uint64_t{0})),
                               Rate(number("event_ns"), number("events"))));
  line("stacks", fmt::format("{} walked by the runtime instead",
                             report::Thousands(s.value("walk_fallbacks", uint64_t{0}))));
  line("followed",
       s.value("live", false)
           ? fmt::format("{} objects", report::Thousands(s.value("handles", uint64_t{0})))
           : "no objects");
  if (const auto o = s.find("overhead"); o != s.end()) WriteOverhead(*o, line);
  if (!text("longest_call").empty())
    line("longest call", fmt::format("{}, {}", text("longest_call"),
                                     report::HumanDuration(number("longest_call_ns") / 1e9)));
  line("agent CPU", report::HumanDuration(number("agent_cpu_ns") / 1e9));
  if (!text("failure").empty()) line("failure", text("failure"));
}

// Of an agent that does not answer: what its heartbeat says; null where that cannot be read.
std::string SilentJson(int pid, const Result<capture::AgentHeartbeat>& beat) {
  report::Json out = {{"schema_version", 1},       {"pid", pid},         {"answers", false},
                      {"call", nullptr},           {"in_call", nullptr}, {"since_ms", nullptr},
                      {"process_stopped", nullptr}};
  if (!beat.ok()) return out.dump();
  out["process_stopped"] = beat->process_stopped;
  if (beat->call.empty()) return out.dump();
  out["call"] = beat->call;
  out["in_call"] = beat->in_call;
  out["since_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(beat->since).count();
  return out.dump();
}

// An agent that is there already, and nobody's recording: it goes on, with these options.
Result<bool> TakeUpAgent(int pid, const std::string& options) {
  const auto deadline = ipc::Deadline::After(kAnswerPatience);
  const Result<std::string> there = capture::AskAgent(pid, "status", deadline);
  if (!there.ok() && there.error().code == ErrorCode::kTimeout) return there.error();
  if (!there.ok()) return false;
  const report::Json status = report::Json::parse(*there, nullptr, /*allow_exceptions=*/false);
  if (status.is_discarded() || status.value("owned", false))
    return Error{
        ErrorCode::kRefused,
        fmt::format("process {} has a clrscope agent already, which belongs to a recording "
                    "that goes on",
                    pid)};
  if (!options.empty())
    RETURN_IF_ERROR(AsStatus(capture::AskAgent(pid, "set " + options, deadline)));
  RETURN_IF_ERROR(AsStatus(capture::AskAgent(pid, "start", deadline)));
  return true;
}

}  // namespace

int RunAttach(const Args& args) {
  int pid = 0;
  AgentArguments a;
  VerbOptions verb(
      "attach", "[options] -p PID",
      "Loads the agent into a running .NET process and leaves it there. An agent that is loaded "
      "already continues with the options that are given.",
      "  clrscope attach -p 1234 -o '/tmp/profiles/%n-%t.pb' --every 60s\n"
      "  clrscope attach -p 1234 --every 10s      from now on; the rest stays\n"
      "  clrscope attach -p 1234 --measures exceptions,locks -o '/tmp/profiles/%n-%t.pb'\n"
      "  clrscope status -p 1234\n"
      "  clrscope detach -p 1234\n");
  AddPid(verb, pid);
  AddAgentOptions(verb, a);
  if (const auto code = verb.Parse(args)) return *code;
  const Result<std::string> options = AgentOptionText(a);
  if (!options.ok()) return Fail(options.error());
  const Result<bool> taken = TakeUpAgent(pid, *options);
  if (!taken.ok()) return Fail(taken.error());
  if (*taken) {
    fmt::print(stderr, "Process {} has an agent, which {}\n", pid,
               options->empty() ? "goes on as it is" : "goes on with these options");
    return kExitOk;
  }
  const Status attached =
      capture::AttachAgent(pid, *options, ipc::Deadline::After(kAttachPatience));
  if (!attached.ok()) return Fail(attached.error());
  fmt::print(stderr, "Attached to {}; clrscope detach -p {} takes the agent out again\n", pid, pid);
  return kExitOk;
}

int RunDetach(const Args& args) {
  int pid = 0;
  bool stay = false;
  VerbOptions verb("detach", "[options] -p PID", "Removes the agent from a process.",
                   "  clrscope detach -p 1234\n"
                   "  clrscope detach -p 1234 --stay    stops sampling; attach starts it again\n");
  AddPid(verb, pid);
  verb.Flag("--stay", stay, "only stop sampling: the agent stays loaded and idle until attach");
  if (const auto code = verb.Parse(args)) return *code;
  if (stay) {
    const Result<std::string> stopped =
        capture::AskAgent(pid, "stop", ipc::Deadline::After(kAnswerPatience));
    return stopped.ok() ? kExitOk : Fail(stopped.error());
  }
  const auto deadline = ipc::Deadline::After(kAnswerPatience);
  const Result<std::string> answer = capture::AskAgent(pid, "detach", deadline);
  // One that is about to leave by itself hangs up, which is what was wanted.
  const bool hung_up = !answer.ok() && (answer.error().code == ErrorCode::kIo ||
                                        answer.error().code == ErrorCode::kTruncated);
  if (!answer.ok() && !hung_up) return Fail(answer.error());
  // The socket goes once the runtime has been asked to let go.
  while (!deadline.expired()) {
    const Result<std::string> socket = capture::AgentSocket(pid);
    if (!socket.ok() || ::access(socket->c_str(), F_OK) != 0) return kExitOk;
    const timespec pause{0, 10'000'000};
    (void)::nanosleep(&pause, nullptr);
  }
  if (hung_up) return Fail(answer.error());
  return Fail(
      {ErrorCode::kTimeout, fmt::format("the agent of process {} does not go{}", pid,
                                        capture::HeartbeatSuffix(capture::ReadHeartbeat(pid)))});
}

int RunStatus(const Args& args) {
  int pid = 0;
  bool json = false;
  VerbOptions verb("status", "[options] -p PID",
                   "Shows what the agent in a process does and costs.",
                   "  clrscope status -p 1234\n"
                   "  clrscope status -p 1234 --json | jq .samples\n");
  AddPid(verb, pid);
  verb.Flag("--json", json, "print one JSON document");
  if (const auto code = verb.Parse(args)) return *code;
  Result<std::string> answer =
      capture::AskAgent(pid, "status", ipc::Deadline::After(kFirstPatience));
  Output out;
  if (!answer.ok() && answer.error().code == ErrorCode::kTimeout) {
    const Result<capture::AgentHeartbeat> beat = capture::ReadHeartbeat(pid);
    if (!beat.ok() || !capture::IsStuck(*beat, kFirstPatience))
      answer =
          capture::AskAgent(pid, "status", ipc::Deadline::After(kAnswerPatience - kFirstPatience));
    if (!answer.ok() && json) out.Write(SilentJson(pid, beat) + "\n");
    (void)out.Flush();
  }
  if (!answer.ok()) return Fail(answer.error());
  if (json) {
    out.Write(*answer + "\n");
  } else {
    const report::Json status = report::Json::parse(*answer, nullptr, /*allow_exceptions=*/false);
    if (status.is_discarded())
      return Fail({ErrorCode::kCorrupt, "the agent's answer is no JSON; is it another version's?"});
    WriteStatus(status, out);
  }
  if (Status s = out.Flush(); !s.ok()) return Fail(s.error());
  return kExitOk;
}

int RunEnv(const Args& args) {
  AgentArguments a;
  std::string library;
  bool docker = false, musl = false;
  VerbOptions verb("env", "[options]",
                   "Prints the variables that load the agent when a program starts, and writes the "
                   "agent's library to the path that they name.",
                   "  eval \"$(clrscope env -o '/tmp/profiles/%n-%t.pb')\" ; dotnet app.dll\n"
                   "  clrscope env --library /opt/clrscope/agent.so --dockerfile >> Dockerfile\n"
                   "  clrscope env --musl --library /opt/clrscope/agent.so --dockerfile   for "
                   "Alpine\n");
  verb.Add("--library", library,
           "where to write the library (default: a folder in the user's cache)")
      .Value("FILE");
  verb.Flag("--dockerfile", docker, "print ENV lines instead of export commands");
  verb.Flag("--musl", musl,
            "use the library for musl (Alpine). Default: the one for this machine's C library");
  AddAgentOptions(verb, a);
  if (const auto code = verb.Parse(args)) return *code;
  const Result<std::string> options = AgentOptionText(a);
  if (!options.ok()) return Fail(options.error());
  const capture::Libc libc = musl ? capture::Libc::kMusl : capture::LibcOfMachine();
  if (!capture::HasAgentFor(libc)) return Fail({ErrorCode::kRefused, capture::kNoAgentForMusl});
  std::error_code error;
  if (library.empty()) {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::string folder =
        cache != nullptr && *cache == '/'
            ? std::string(cache)
            : std::string(home == nullptr || *home == 0 ? "/tmp" : home) + "/.cache";
    library = folder + "/clrscope/" + capture::AgentFileName(libc);
  }
  library = std::filesystem::absolute(library, error).string();
  std::filesystem::create_directories(std::filesystem::path(library).parent_path(), error);
  if (const Status written = capture::WriteAgent(library, ::geteuid(), libc); !written.ok())
    return Fail(written.error());
  Output out;
  const auto line = [&](std::string_view name, std::string_view value) {
    out.Write(docker ? fmt::format("ENV {}=\"{}\"\n", name, value)
                     : fmt::format("export {}='{}'\n", name, value));
  };
  line("CORECLR_ENABLE_PROFILING", "1");
  line("CORECLR_PROFILER", capture::kAgentClsidText);
  line("CORECLR_PROFILER_PATH", library);
  line("CLRSCOPE_OPTS", *options);
  if (Status s = out.Flush(); !s.ok()) return Fail(s.error());
  return kExitOk;
}

}  // namespace clrscope::cli
