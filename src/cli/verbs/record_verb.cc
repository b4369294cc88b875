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
  verb.Add("-p,--pid,--process-id", record.pids, "a process (repeatable)").Value("PID");
  verb.Add("-n,--name", record.names, "record the processes of this name (repeatable)")
      .Value("NAME");
  verb.Flag("--all", record.all,
            "record every .NET process, including those that start during the recording; with -n, "
            "those of this name");
  verb.Add("-d,--duration", record.duration, "stop after this time: 30, 30s, 5m, 1h30m or 00:00:30")
      .Value("TIME");
  verb.Flag("--wait-all", record.wait_all,
            "record until all processes that the command started have ended, also servers in the "
            "background. Default: until the command has ended, and up to 3 s longer for its "
            "children");
  verb.Add("-o,--output", record.output,
           "the capture to write. Default: a name made of program, pid and time. '-' writes to "
           "standard output at the end; until then the capture stays in memory")
      .Value("FILE");
  verb.Flag("-f,--force", record.force, "overwrite the output if it exists");
  AddSamplingOptions(verb, record.sampling, record.buffer_mb);
  verb.Add("--types", record.types,
           "count objects and bytes per type by the runtime's own events: low (about 5 a second "
           "per type and thread), high (about 100) or all (one per object, exact). Works for a "
           "launched program only, and slows it down")
      .Value("HOW")
      .OneOf({"low", "high", "all"})
      .Excludes("--sampling");
  AddMeasureOptions(verb, record.measures,
                    {.activities = true, .lines = true, .messages = true, .agent = true});
  verb.Flag("--live", record.live,
            "load the agent into the processes, and remove it at the end. It reports which sampled "
            "objects are alive, how old they are, and what the GC costs")
      .Excludes("--types");
  verb.Add("--live-cap", record.cap, "follow at most this many objects (default 20000)")
      .Value("N")
      .Between(16, 1'000'000);
  verb.Flag("--exact", record.exact,
            "record every allocation with its stack, by the agent. Works for a launched program "
            "only, which then uses about twice the CPU. After -d the program keeps the runtime's "
            "slow allocation helpers until it exits")
      .Excludes("--types")
      .Excludes("--live");
  verb.Flag(
      "--keep-nettrace", record.keep_nettrace,
      "also write the raw event streams beside the capture, as .nettrace files for other tools");
  verb.Add("--symbols", record.symbols,
           "search this folder for PDBs and native symbols, as `report` does. clrscope always "
           "searches the files themselves and /usr/lib/debug")
      .Value("DIR")
      .OneAtATime();
  verb.Flag("-q,--quiet", record.quiet, "print errors only");
  verb.Flag("--no-progress", record.no_progress, "print no progress line");
  const auto dashes = std::find(args.begin(), args.end(), "--");
  if (const auto code = verb.Parse(Args(args.begin(), dashes))) return *code;
  if (dashes != args.end()) record.command.assign(dashes + 1, args.end());
  return RunRecord(record);
}

}  // namespace clrscope::cli
