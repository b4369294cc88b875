// SPDX-License-Identifier: Apache-2.0
#include "cli/ps.h"

#include <fmt/format.h>

#include "cli/humanize.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/process_json.h"
#include "cli/text_table.h"
#include "ipc/process_finder.h"

namespace clrscope::cli {
namespace {

void WriteText(const std::vector<ipc::DotnetProcess>& processes, const Style& style, Output& out) {
  TextTable table({{"PID", Align::kRight},
                   {"NAME", Align::kLeft, TextColumn::Fit::kMiddle},
                   {"RUNTIME", Align::kLeft},
                   {"GC", Align::kLeft},
                   {"RSS", Align::kRight},
                   {"UPTIME", Align::kRight},
                   {"ATTACHABLE", Align::kLeft, TextColumn::Fit::kMiddle}});
  bool refused = false;
  for (const ipc::DotnetProcess& p : processes) {
    refused = refused || !p.attachable;
    table.Add({std::to_string(p.pid), p.name, p.clr_version.empty() ? "?" : ".NET " + p.clr_version,
               ipc::Describe(p.gc), HumanBytes(static_cast<double>(p.rss_bytes)),
               HumanDuration(p.uptime_s), p.attachable ? "yes" : "no: " + p.reason},
              !p.attachable);
  }
  out.Write(table.Render(OutputWidth(), style));
  (void)out.Flush();
  if (refused) Warn("`clrscope doctor PID` says what to do about a process that is not attachable");
}

}  // namespace

int RunPs(const Args& args) {
  FormatOptions format;
  ColorMode color = ColorMode::kAuto;
  VerbOptions verb("ps", "[options]",
                   "Lists the .NET processes on this machine, those in containers included.",
                   "  clrscope ps\n"
                   "  clrscope ps --json | jq '.processes[] | select(.attachable) | .pid'\n");
  AddFormatOptions(verb, format, /*csv=*/false);
  AddColorOption(verb, color);
  if (const auto code = verb.Parse(args)) return *code;
  const std::vector<ipc::DotnetProcess> processes = ipc::FindProcesses();
  Output out;
  if (format.json) {
    JsonDocument document(out, Json{{"schema_version", 1}}, "processes");
    for (const ipc::DotnetProcess& p : processes) document.Row(ProcessJson(p));
    document.End();
  } else if (!processes.empty()) {
    WriteText(processes, Style::For(color), out);
  }
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (!processes.empty()) return kExitOk;
  return Fail({ErrorCode::kEmpty,
               "no .NET process is running, or none that this user may see: try as root"});
}

}  // namespace clrscope::cli
