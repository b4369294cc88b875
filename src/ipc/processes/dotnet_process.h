// SPDX-License-Identifier: Apache-2.0
// A .NET process as clrscope's users see it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace clrscope::ipc {

enum class Tristate : uint8_t { kUnknown, kNo, kYes };

struct GcFlavour {
  Tristate server = Tristate::kUnknown;
  Tristate concurrent = Tristate::kUnknown;
};
// "server, concurrent", "workstation", "unknown" …
std::string Describe(GcFlavour gc);

// Which event samples allocations.
enum class SamplingEvent : uint8_t {
  kUnknown,
  kAllocationTick,     // up to .NET 9: a fixed stride of 100 KB, biased
  kAllocationSampled,  // .NET 10: each byte has the same chance
};

// Both by the runtime's version, "10.0.12"; 0 and kUnknown when it is not known.
int MajorVersion(std::string_view clr_version);
SamplingEvent SamplingEventOf(std::string_view clr_version);

struct DotnetProcess {
  pid_t pid = 0;             // in clrscope's pid namespace
  pid_t inner_pid = 0;       // in its own
  uint64_t start_ticks = 0;  // since boot; with the pid it tells a process from a later one
  std::string name;          // what people call it: "MyApp", not "dotnet"
  std::string command_line;  // arguments separated by blanks
  uid_t uid = 0;             // effective
  uint64_t rss_bytes = 0;
  double uptime_s = 0;

  std::string socket_path;  // as clrscope can reach it; "" when there is none
  bool attachable = false;
  std::string reason;                          // why it is not, one sentence; "" when it is
  ErrorCode reason_code = ErrorCode::kFailed;  // meaningful when it is not

  // By talking to it; otherwise from the path of libcoreclr.so, or "".
  std::string clr_version;
  std::string entry_assembly;  // "" when it did not answer, or before .NET 6
  std::string arch;            // "" likewise
  std::string rid;             // "linux-x64", "linux-musl-x64"; "" likewise, and before .NET 8
  size_t open_sessions = 0;    // of other tools
  SamplingEvent sampling = SamplingEvent::kUnknown;
  GcFlavour gc;
  bool event_sources_off = false;  // by its runtimeconfig.json, where that is seen
  bool native_aot = false;         // its events have no stacks, and it takes no profiler
};

}  // namespace clrscope::ipc
