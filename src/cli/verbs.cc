// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/program_version.h"
#include "cli/man/man_page.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "cli/verbs/agent.h"
#include "cli/verbs/completion.h"
#include "cli/verbs/convert.h"
#include "cli/verbs/diff.h"
#include "cli/verbs/doctor.h"
#include "cli/verbs/gcstats.h"
#include "cli/verbs/inspect.h"
#include "cli/verbs/leaks.h"
#include "cli/verbs/metrics.h"
#include "cli/verbs/ps.h"
#include "cli/verbs/query.h"
#include "cli/verbs/record_verb.h"
#include "cli/verbs/report.h"
#include "cli/verbs/stacks.h"
#include "cli/verbs/top.h"
#include "cli/verbs/watch.h"

namespace clrscope::cli {
namespace {

constexpr Verb kVerbs[] = {
    {"ps", "list the .NET processes on this machine", RunPs},
    {"doctor", "report why a process cannot be profiled, and how to fix it", RunDoctor},
    {"record", "record the allocations of running processes, or of a command", RunRecordVerb},
    {"watch", "record every .NET process continuously, in a size-limited folder", RunWatch},
    {"top", "show live who allocates, on one screen", RunTop},
    {"stacks", "show what every thread does now, and why a program hangs", RunStacks},
    {"metrics", "serve figures of running processes to Prometheus", RunMetrics},
    {"report", "show who allocates: types, sites, methods, call trees", RunReport},
    {"gcstats", "show what the garbage collector did and what it cost", RunGcStats},
    {"leaks", "distinguish leaks from caches: what grows, what is refreshed", RunLeaks},
    {"diff", "show what changed between recordings, and what is noise", RunDiff},
    {"convert", "write a recording as pprof, speedscope, HTML, SQLite …", RunConvert},
    {"query", "query a recording in SQL", RunQuery},
    {"attach", "load the agent into a running process: live objects, GC cost", RunAttach},
    {"detach", "remove the agent from a process", RunDetach},
    {"status", "show what the agent in a process does and costs", RunStatus},
    {"env", "print the variables that load the agent when a program starts", RunEnv},
    {"inspect", "show what a file holds: events, losses, time span", RunInspect},
    {"completion", "print what a shell needs to complete command lines", RunCompletion},
};

constexpr std::string_view kAbout =
    "clrscope profiles running .NET programs: memory, GC, CPU time, locks, requests.\n";
constexpr std::string_view kExamples =
    "  clrscope ps                          which .NET processes are there?\n"
    "  clrscope record -p 1234 -d 30s       record process 1234 for 30 seconds\n"
    "  clrscope report orders.clrscope      top types and who allocates them\n"
    "  clrscope convert trace.nettrace -o trace.html\n"
    "                                       a page with a flame graph, of any trace\n";
constexpr std::string_view kExitCodes =
    "0 done, 1 failure, 2 usage, 3 nothing recorded, or nothing matches,\n"
    "4 no such process or file, or not a .NET process, 5 permission,\n"
    "6 refused, or not supported by the runtime or the format,\n"
    "7 a condition of --fail-on holds,\n"
    "8 incomplete data (clrscope showed what it could read).\n"
    "`record -- COMMAND` has the code of the command: 128 + signal if a signal\n"
    "ended it, 126 if it cannot be run, 127 if it was not found. 130: interrupted\n"
    "twice. 3 or 6 if the command succeeded and nothing of it was recorded,\n"
    "6 also if it was not started, as nothing of it could be recorded.\n";
constexpr std::string_view kEnvironment =
    "every option can be given as CLRSCOPE_ and its long name in\n"
    "capitals, with _ for -: CLRSCOPE_MAX_OVERHEAD=1%.\n";

std::string Help() {
  std::string text = fmt::format("{}\nExamples:\n{}\nVerbs:\n", kAbout, kExamples);
  for (const Verb& verb : kVerbs) text += fmt::format("  {:<11} {}\n", verb.name, verb.summary);
  text += fmt::format(
      "\n`clrscope VERB --help` shows the options of a verb, with examples.\n\nExit codes: {}\n"
      "Environment: {}",
      kExitCodes, kEnvironment);
  return text;
}

// clrscope(1), of the verbs' own texts.
int WriteManPage(std::string_view date) {
  {
    Output out;
    out.Write(ManTitle(Version(), date));
    out.Write(fmt::format(".SH DESCRIPTION\n{}.PP\nVerbs:\n", ManText(kAbout)));
    for (const Verb& verb : kVerbs)
      out.Write(fmt::format(".TP 12\n.B {}\n{}\n", verb.name, ManText(verb.summary)));
    out.Write(fmt::format(".SH EXAMPLES\n{}.SH COMMANDS\n", ManVerbatim(kExamples).substr(4)));
  }
  for (const Verb& verb : kVerbs)
    if (const int code = verb.run({std::string(VerbOptions::kManPage)}); code != kExitOk)
      return code;
  Output out;
  out.Write(fmt::format(".SH EXIT STATUS\n{}.SH ENVIRONMENT\n{}", ManText(kExitCodes),
                        ManText(kEnvironment)));
  return kExitOk;
}

// Levenshtein, for "did you mean".
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

int UnknownVerb(std::string_view word) {
  const Verb* best = nullptr;
  size_t best_distance = 3;  // further away is no slip of the finger
  for (const Verb& verb : kVerbs) {
    const size_t distance = Distance(word, verb.name);
    if (distance >= best_distance) continue;
    best = &verb;
    best_distance = distance;
  }
  const std::string hint = best == nullptr ? "`clrscope --help` lists them"
                                           : fmt::format("did you mean `clrscope {}`?", best->name);
  return Fail({ErrorCode::kUsage, fmt::format("there is no verb '{}': {}", word, hint)});
}

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

int Run(const Args& args, const Build& build) {
  const std::string_view first = args.empty() ? std::string_view{} : args.front();
  if (first == "--version" || first == "-V" || first == "version") {
    Output out;
    out.Write(VersionText(build));
    return kExitOk;
  }
  if (first == "--help" || first == "-h" || (first == "help" && args.size() == 1)) {
    Output out;
    out.Write(Help());
    return kExitOk;
  }
  if (first == VerbOptions::kManPage) return WriteManPage(args.size() > 1 ? args[1] : "");
  if (first.empty()) {
    Warn("a verb is missing: `clrscope --help` lists them, with examples");
    return kExitUsage;
  }
  const bool help = first == "help";
  const std::string_view name = help ? std::string_view(args[1]) : first;
  for (const Verb& verb : kVerbs)
    if (verb.name == name)
      return verb.run(help ? Args{"--help"} : Args(args.begin() + 1, args.end()));
  if (first.starts_with('-'))
    return Fail({ErrorCode::kUsage, fmt::format("{} needs a verb before it: clrscope VERB {} …; "
                                                "`clrscope --help` lists the verbs",
                                                first, first)});
  return UnknownVerb(name);
}

}  // namespace clrscope::cli
