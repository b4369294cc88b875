// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/record_verb.h"

#include <algorithm>

#include "cli/options/options.h"
#include "cli/options/sampling_option.h"
#include "cli/verbs/record.h"

namespace clrscope::cli {

int RunRecordVerb(const Args& args) {
  RecordArguments record;
  VerbOptions verb(
      "record", "[options] (-p PID | -n NAME | --all | -- COMMAND…)",
      "Records who allocates in running .NET processes, or in a command that it starts.",
      "  clrscope record -p 1234                  until Ctrl-C, which stops and writes\n"
      "  clrscope record -n orders -d 30s -o orders.clrscope\n"
      "  clrscope record --all -d 10m             every .NET process, also those that start "
      "meanwhile\n"
      "  clrscope record -- dotnet run.dll --port 5000\n"
      "  clrscope record --types all -- dotnet run.dll    exact counts and bytes per type\n"
      "  clrscope record -p 1234 --exceptions --locks -d 30s    what is thrown, who waits for "
      "whom\n"
      "  clrscope record -p 1234 --live           which objects live, and what the GC costs\n");
  verb.Add("-p,--pid,--process-id", record.pids, "a process; may be given several times")
      .Value("PID");
  verb.Add("-n,--name", record.names, "every process of that name").Value("NAME");
  verb.Flag("--all", record.all,
            "every .NET process, those that start meanwhile included; with -n, those of that "
            "name");
  verb.Add("-d,--duration", record.duration, "stop after 30, 30s, 5m, 1h30m or 00:00:30")
      .Value("TIME");
  verb.Add("-o,--output", record.output,
           "the capture to write; a name made of program, pid and time by default; -: standard "
           "output, once it is finished (kept in memory until then)")
      .Value("FILE");
  verb.Flag("-f,--force", record.force, "overwrite the output if it exists");
  AddSamplingOptions(verb, record.sampling, record.buffer_mb);
  verb.Add("--types", record.types,
           "count objects and bytes per type, as the runtime itself counts them: low, high "
           "or all (every object has its event: exact). A launched program only, which it "
           "slows down")
      .Value("HOW")
      .OneOf({"low", "high", "all"})
      .Excludes("--sampling");
  AddMeasureOptions(verb, record.measures, true, true, true, true);
  verb.Flag("--live", record.live,
            "load the agent into the processes: which of the sampled objects live, how old they "
            "are, what the GC costs. It is taken out again at the end")
      .Excludes("--types");
  verb.Add("--live-cap", record.cap, "follow at most so many objects (20000)")
      .Value("N")
      .Between(16, 1'000'000);
  verb.Flag("--exact", record.exact,
            "every single allocation with its stack, by the agent. A launched program only, "
            "which takes about twice the CPU; after -d it keeps the runtime's slow allocation "
            "helpers until it exits")
      .Excludes("--types")
      .Excludes("--live");
  verb.Flag("--keep-nettrace", record.keep_nettrace,
            "also write the raw streams beside the capture, as .nettrace files for other tools");
  verb.Add("--symbols", record.symbols,
           "a folder with PDBs and symbols of native code, as report has it; those of the files "
           "themselves "
           "and in /usr/lib/debug are looked for anyway")
      .Value("DIR")
      .OneAtATime();
  verb.Flag("-q,--quiet", record.quiet, "no words but errors");
  verb.Flag("--no-progress", record.no_progress, "no progress line");
  const auto dashes = std::find(args.begin(), args.end(), "--");
  if (const auto code = verb.Parse(Args(args.begin(), dashes))) return *code;
  if (dashes != args.end()) record.command.assign(dashes + 1, args.end());
  return RunRecord(record);
}

}  // namespace clrscope::cli
