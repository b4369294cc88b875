// SPDX-License-Identifier: Apache-2.0
// What a process's runtime was configured to, without asking it: the protocol has no command for
// that.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "clr/process_name.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::ipc {
namespace {

constexpr double kClocksDiffer = 2;  // seconds

Tristate ToTristate(bool yes) { return yes ? Tristate::kYes : Tristate::kNo; }

// The runtimeconfig.json that `dotnet` was given, or the one beside the entry assembly.
std::string PathOfConfig(const ProcessFacts& facts) {
  const std::string assembly = clr::EntryAssemblyArgument(facts.argv);
  if (assembly.empty()) return facts.exe + ".runtimeconfig.json";  // an apphost: App.dll beside App
  std::string path = assembly.substr(0, assembly.rfind('.')) + ".runtimeconfig.json";
  const auto end = std::find(facts.argv.begin(), facts.argv.end(), assembly);
  const auto given = std::find(facts.argv.begin(), end, "--runtimeconfig");
  if (given != end && given + 1 != end) path = given[1];
  if (path.starts_with('/')) return path;
  return ReadLink(fmt::format("/proc/{}/cwd", facts.pid)) + "/" + path;
}

}  // namespace

std::string ReadRuntimeConfig(const ProcessFacts& facts) {
  if (facts.runtime == RuntimeKind::kSingleFile || facts.runtime == RuntimeKind::kNativeAot)
    return {};
  const std::string path = facts.root + PathOfConfig(facts);
  struct stat file = {};
  if (::stat(path.c_str(), &file) != 0) return {};
  const double age_s = static_cast<double>(::time(nullptr) - file.st_ctime);
  if (facts.uptime_s > age_s + kClocksDiffer) return {};
  Result<std::string> text = ReadFile(path, 1u << 20);
  return text.ok() ? text.Take() : std::string();
}

bool EventSourcesOff(const ProcessFacts& facts) {
  return FindConfigBool(facts.runtime_config, kEventSourceSwitch) == false;
}

GcFlavour DetectGc(const ProcessFacts& facts) {
  GcFlavour gc;
  const std::string& json = facts.runtime_config;
  // The runtime itself asks the environment first and runtimeconfig.json second; without either it
  // takes workstation and concurrent.
  const auto configured = [&](std::string_view variable, std::string_view key, bool otherwise) {
    if (const auto number = FindClrNumber(facts.environ, variable)) return ToTristate(*number != 0);
    if (const auto value = FindConfigBool(json, key)) return ToTristate(*value);
    return facts.environ_readable && !json.empty() ? ToTristate(otherwise) : Tristate::kUnknown;
  };
  gc.server = configured("gcServer", "System.GC.Server", false);
  gc.concurrent = configured("gcConcurrent", "System.GC.Concurrent", true);

  // What runs beats what was asked for (server falls back to workstation on one core). The threads
  // of the server GC start with the runtime, that of the background GC with its first collection.
  if (facts.HasThread(".NET Server GC"))
    gc.server = Tristate::kYes;
  else if (facts.HasThread(".NET Finalizer"))
    gc.server = Tristate::kNo;
  if (facts.HasThread(".NET BGC")) gc.concurrent = Tristate::kYes;
  return gc;
}

}  // namespace clrscope::ipc
