// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "capture/agents/agent_link.h"
#include "capture/sessions/open_sampler.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/process_finder.h"
#include "ipc/protocol/resume.h"
#include "report/rows/process_json.h"
#include "report/text/shorten.h"
#include "report/text/wrap.h"

namespace clrscope::cli {
namespace {

constexpr std::chrono::milliseconds kResumeTimeout{10'000};

std::string_view Word(ipc::Verdict verdict) {
  return verdict == ipc::Verdict::kOk ? "ok" : verdict == ipc::Verdict::kWarn ? "warn" : "fail";
}

// A pid, or the name of exactly one process.
Result<pid_t> TargetOf(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error == std::errc{} && end == text.data() + text.size() && pid > 0) return pid;
  const std::vector<ipc::DotnetProcess> found = ipc::FindByName(text);
  if (found.size() == 1) return found.front().pid;
  if (found.empty())
    return Error{ErrorCode::kNotFound,
                 fmt::format("no .NET process is called '{}': `clrscope ps` lists them", text)};
  std::string pids;
  for (const ipc::DotnetProcess& p : found)
    pids += fmt::format("{}{}", pids.empty() ? "" : ", ", p.pid);
  return Error{
      ErrorCode::kUsage,
      fmt::format("several processes are called '{}': give one of the pids {}", text, pids)};
}

void WriteText(const ipc::Diagnosis& d, const report::Style& style, Output& out) {
  const size_t width = OutputWidth();
  if (!d.process.name.empty()) {
    std::string head = fmt::format("{} ({})", report::Printable(d.process.name), d.process.pid);
    if (!d.process.clr_version.empty())
      head += ", .NET " + report::Printable(d.process.clr_version);
    out.Write(style.Bold(head) + "\n");
  }
  size_t names = 0;
  for (const ipc::Check& c : d.checks) names = std::max(names, c.name.size());
  const size_t indent = 8 + names + 2;  // "✓ ok    NAME  "
  for (const ipc::Check& c : d.checks) {
    const std::string_view word = Word(c.verdict);
    const std::string mark = fmt::format("{} {:<4}",
                                         c.verdict == ipc::Verdict::kOk     ? "✓"
                                         : c.verdict == ipc::Verdict::kWarn ? "!"
                                                                            : "✗",
                                         word);
    out.Write(c.verdict == ipc::Verdict::kOk     ? style.Good(mark)
              : c.verdict == ipc::Verdict::kWarn ? style.Caution(mark)
                                                 : style.Bad(mark));
    out.Write(fmt::format("  {:<{}}  ", c.name, names));
    out.Write(report::Wrap(report::Printable(c.what), indent, indent, width));
    if (c.fix.empty()) continue;
    out.Write(std::string(indent, ' ') + style.Bold("fix:") + " ");
    out.Write(report::Wrap(report::Printable(c.fix), indent + 5, indent + 5, width));
  }
  const bool blocked = d.blocker().has_value();
  out.Write("\n" +
            (blocked ? style.Bad("It cannot be profiled:") + " see the fix of the first failure.\n"
                     : style.Good("It can be profiled:") +
                           fmt::format(" clrscope record -p {}\n", d.process.pid)));
}

void WriteJson(const ipc::Diagnosis& d, Output& out) {
  const auto blocker = d.blocker();
  report::Json head{{"schema_version", 1}, {"pid", d.process.pid}, {"can_be_profiled", !blocker}};
  head["exit_code"] = blocker ? ExitCodeOf(blocker->code) : 0;
  head["process"] = report::ProcessJson(d.process);
  head["process"]["attachable"] = !blocker;
  JsonDocument document(out, head, "checks");
  for (const ipc::Check& c : d.checks)
    document.Row({{"name", c.name},
                  {"verdict", Word(c.verdict)},
                  {"what", c.what},
                  {"fix", c.fix.empty() ? report::Json() : report::Json(c.fix)},
                  {"code", c.verdict == ipc::Verdict::kFail ? report::Json(report::CodeName(c.code))
                                                            : report::Json()}});
  document.End();
}

// Who samples its CPU time.
ipc::Check CheckSamplers(const ipc::DotnetProcess& process) {
  const capture::SamplersThere there = capture::ExamineSamplers(process);
  ipc::Check check;
  check.name = "cpu";
  check.verdict =
      there.by == profile::CpuSampler::kKernel ? ipc::Verdict::kOk : ipc::Verdict::kWarn;
  check.what = there.what;
  check.fix = there.fix;
  return check;
}

// Whether objects can be followed.
ipc::Check CheckAgent(const ipc::DotnetProcess& process) {
  ipc::Check check;
  check.name = "agent";
  const std::string why = capture::WhyNoAgent(process);
  if (why.empty()) {
    check.what = "the agent can be loaded (`record --live`, `attach`)";
    return check;
  }
  check.verdict = ipc::Verdict::kWarn;
  check.what = "the agent cannot be loaded: " + why;
  check.fix = "`record` without --live works; it needs no agent";
  return check;
}

}  // namespace

int RunDoctor(const Args& args) {
  FormatOptions format;
  ColorMode color = ColorMode::kAuto;
  std::string target;
  VerbOptions verb(
      "doctor", "PID [options]",
      "Reports everything that prevents a process from being profiled, and how to fix it. The exit "
      "code is that of the first obstacle.",
      "  clrscope doctor 1234\n"
      "  clrscope doctor orders\n"
      "  clrscope doctor 1234 --json | jq .can_be_profiled\n"
      "  clrscope doctor 1234 --resume    a program that waits at its start for a tool that is "
      "gone\n");
  verb.Add("target,-p,--pid,--process-id", target, "a process, by pid or name").Value("PID|NAME");
  bool resume = false;
  verb.Flag("--resume", resume, "resume a program that waits at its start, then check it");
  AddFormatOptions(verb, format, /*csv=*/false);
  AddColorOption(verb, color);
  if (const auto code = verb.Parse(args)) return *code;
  if (target.empty())
    return Fail({ErrorCode::kUsage, "doctor needs a pid or a name: `clrscope ps` lists processes"});
  const Result<pid_t> pid = TargetOf(target);
  if (!pid.ok()) return Fail(pid.error());
  if (resume) {
    const Result<ipc::ProcessFacts> facts = ipc::GatherFacts(*pid);
    if (!facts.ok()) return Fail(facts.error());
    if (Status s = ipc::ResumeAtStart(*facts, ipc::Deadline::After(kResumeTimeout)); !s.ok())
      return Fail(s.error());
  }
  ipc::Diagnosis diagnosis = ipc::Diagnose(*pid);
  if (!diagnosis.blocker()) {
    diagnosis.checks.push_back(CheckAgent(diagnosis.process));
    diagnosis.checks.push_back(CheckSamplers(diagnosis.process));
  }
  Output out;
  if (format.json)
    WriteJson(diagnosis, out);
  else
    WriteText(diagnosis, StyleFor(color), out);
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  const auto blocker = diagnosis.blocker();
  return blocker ? ExitCodeOf(blocker->code) : kExitOk;
}

}  // namespace clrscope::cli
