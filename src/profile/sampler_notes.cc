// SPDX-License-Identifier: Apache-2.0
#include "profile/sampler_notes.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace clrscope::profile {
namespace {

std::string WhyUntold(std::string_view runtime) {
  // docs/cpu.md has the versions.
  if (runtime.starts_with(".NET 9."))
    return "the sampler of " + std::string(runtime) + " does not report it (dotnet/runtime#123996)";
  return "fewer than one sample in 1,000, or a handful of all, is of a thread in managed code; the "
         "samplers of .NET 9 and the first releases of .NET 10 (dotnet/runtime#123996), of Native "
         "AOT before .NET 11, and of .NET before 7 on Windows (dotnet/runtime#45179) do not report "
         "it";
}

}  // namespace

std::string ModesNote(const Profile& p) {
  std::set<std::string> reasons;
  size_t untold = 0;
  for (const Process& process : p.processes) {
    if (process.modes_told) continue;
    ++untold;
    reasons.insert(WhyUntold(p.str(process.runtime)));
  }
  if (untold == 0) return "";
  std::string out = "Which threads ran is not known";
  if (p.processes.size() > 1)
    out += " of " + std::to_string(untold) + " of the " + std::to_string(p.processes.size()) +
           " processes";
  std::string_view between = ": ";
  for (const std::string& reason : reasons) out.append(std::exchange(between, "; ")) += reason;
  return out +=
         ". Their CPU time is not known, and `unknown` is the time in which they may have run.";
}

std::string SamplerNote(const Profile& p, const Figure& figure) {
  if (figure.source == Source::kThreadCpu) {
    std::string note =
        "The runtime's sampler tells in which managed code threads were, at points where they can "
        "be stopped. CPU time of native code, of the runtime and of the kernel is not in it, and a "
        "thread that waited for a processor counts as running. Each round of samples stopped the "
        "program.";
    if (const std::string modes = ModesNote(p); !modes.empty()) note += " " + modes;
    return note;
  }
  if (figure.source != Source::kThreadWall) return "";
  std::string note = "The runtime's sampler looks at managed threads alone.";
  const std::string modes = ModesNote(p);
  if (std::any_of(p.processes.begin(), p.processes.end(),
                  [](const Process& process) { return process.modes_told; }))
    note +=
        " `running` is managed code, also where it waited for a processor; native code that a "
        "thread called counts as blocked.";
  note += " Each round of samples stopped the program.";
  if (!modes.empty()) note += " " + modes;
  return note;
}

}  // namespace clrscope::profile
