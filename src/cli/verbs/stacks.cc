// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/stacks.h"

#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "inspect/look.h"
#include "ipc/processes/process_finder.h"
#include "report/rows/process_json.h"
#include "report/rows/threads_json.h"
#include "report/text/threads.h"

namespace clrscope::cli {

int RunStacks(const Args& args) {
  FormatOptions format;
  ColorMode color = ColorMode::kAuto;
  report::ThreadsTextOptions text;
  unsigned pid = 0;
  unsigned frames = 30;
  VerbOptions verb(
      "stacks", "-p PID [options]",
      "Shows what every thread does now: its managed stack, its state, the lock it waits for and "
      "who holds that lock; deadlocks, finalizers that do not run, a starved thread pool, threads "
      "that spin. It works on a program that hangs: nothing needs to be prepared, and the program "
      "itself takes no part.",
      "  clrscope stacks -p 1234\n"
      "  clrscope stacks -p 1234 --all              idle workers and the runtime's threads, too\n"
      "  clrscope stacks -p 1234 --json | jq '.findings[].text'\n");
  verb.Add("-p,--pid,--process-id", pid, "the process").Value("PID");
  verb.Flag("--all", text.all,
            "also show idle workers of the pool, the runtime's own threads and native threads");
  verb.Add("--frames", frames,
           "show at most this many frames of each stack (default 30); 0 shows all")
      .Value("N");
  AddFormatOptions(verb, format, /*csv=*/false);
  AddColorOption(verb, color);
  if (const auto code = verb.Parse(args)) return *code;
  if (pid == 0)
    return Fail({ErrorCode::kUsage, "stacks needs a process: -p PID; `clrscope ps` lists them"});

  const auto id = static_cast<pid_t>(pid);
  const Result<ipc::ProcessFacts> facts = ipc::GatherFacts(id);
  if (!facts.ok()) return Fail(facts.error());
  const Result<inspect::Picture> picture = inspect::Look(*facts);
  if (!picture.ok()) return Fail(picture.error());
  // Afterwards, as it asks the runtime for its version, which a program that hangs need not answer.
  Result<ipc::DotnetProcess> process = ipc::FindProcess(id);
  ipc::DotnetProcess known;
  known.pid = id;
  known.name = facts->comm;
  if (process.ok()) known = process.Take();

  Output out;
  if (format.json) {
    report::Json head{{"schema_version", 1}, {"process", report::ProcessJson(known)}};
    head.update(report::ThreadsHeadJson(*picture));
    JsonDocument document(out, head, "threads");
    for (const inspect::Thread& t : picture->threads) document.Row(report::ThreadJson(*picture, t));
    document.End();
  } else {
    text.max_frames = frames;
    text.width = OutputWidth();
    out.Write(report::ThreadsText(*picture, known, text, StyleFor(color)));
  }
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  return picture->managed_stacks ? kExitOk : kExitIncomplete;
}

}  // namespace clrscope::cli
