// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/ps.h"

#include <fmt/format.h>

#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/process_finder.h"
#include "report/rows/process_json.h"
#include "report/text/humanize.h"
#include "report/text/text_table.h"

namespace clrscope::cli {
namespace {

void WriteText(const std::vector<ipc::DotnetProcess>& processes, const report::Style& style,
               Output& out) {
  report::TextTable table({{"PID", report::Align::kRight},
                           {"NAME", report::Align::kLeft, report::TextColumn::Fit::kMiddle},
                           {"RUNTIME", report::Align::kLeft},
                           {"GC", report::Align::kLeft},
                           {"RSS", report::Align::kRight},
                           {"UPTIME", report::Align::kRight},
                           {"ATTACHABLE", report::Align::kLeft, report::TextColumn::Fit::kMiddle}});
  bool refused = false;
  for (const ipc::DotnetProcess& p : processes) {
    refused = refused || !p.attachable;
    table.Add({std::to_string(p.pid), p.name, p.clr_version.empty() ? "?" : ".NET " + p.clr_version,
               ipc::Describe(p.gc), report::HumanBytes(static_cast<double>(p.rss_bytes)),
               report::HumanDuration(p.uptime_s), p.attachable ? "yes" : "no: " + p.reason},
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
                   "Lists the .NET processes on this machine, including those in containers.",
                   "  clrscope ps\n"
                   "  clrscope ps --json | jq '.processes[] | select(.attachable) | .pid'\n");
  AddFormatOptions(verb, format, /*csv=*/false);
  AddColorOption(verb, color);
  if (const auto code = verb.Parse(args)) return *code;
  const std::vector<ipc::DotnetProcess> processes = ipc::FindProcesses();
  Output out;
  if (format.json) {
    JsonDocument document(out, report::Json{{"schema_version", 1}}, "processes");
    for (const ipc::DotnetProcess& p : processes) document.Row(report::ProcessJson(p));
    document.End();
  } else if (!processes.empty()) {
    WriteText(processes, StyleFor(color), out);
  }
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (!processes.empty()) return kExitOk;
  if (const auto unseen = ipc::FindUnseenProcesses())
    return Fail({ErrorCode::kEmpty, fmt::format("{}; {}", unseen->what, unseen->fix)});
  return Fail({ErrorCode::kEmpty,
               "no .NET process is running, or none that this user may see: try as root"});
}

}  // namespace clrscope::cli
