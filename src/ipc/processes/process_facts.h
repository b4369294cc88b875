// SPDX-License-Identifier: Apache-2.0
// Everything that the system says about one process and its diagnostics socket, without a word to
// the process itself. The judgement over it is in diagnosis.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ipc/processes/dotnet_process.h"

namespace clrscope::ipc {

enum class RuntimeKind : uint8_t {
  kNone,          // no sign of .NET
  kCoreClr,       // libcoreclr.so is mapped
  kSingleFile,    // the runtime is linked into the executable, which still has a JIT
  kNativeAot,     // compiled ahead of time: no JIT, no libcoreclr.so
  kUndetermined,  // .NET threads or a socket are there, but its memory map may not be read
};

struct ProcessFacts {
  pid_t pid = 0;
  pid_t inner_pid = 0;
  char state = '?';  // as in /proc/PID/stat
  uint64_t start_ticks = 0;
  double uptime_s = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  uint64_t rss_bytes = 0;
  bool kernel_thread = false;  // then nothing below is known
  std::string comm;
  std::string exe;  // "" when it may not be read
  std::vector<std::string> argv;
  bool environ_readable = false;
  std::vector<std::string> environ;  // as it was when the program started
  std::string runtime_config;        // the text of its runtimeconfig.json; "": it is not seen

  RuntimeKind runtime = RuntimeKind::kNone;
  std::string coreclr_path;          // as the target sees it
  bool musl = false;                 // its C library, as far as its memory map may be read
  std::vector<std::string> threads;  // names of the runtime's own threads (".NET Finalizer" …)

  bool other_pid_namespace = false;
  bool other_mount_namespace = false;
  // Its root may not be followed, so none of its files can be reached but those that are ours, too.
  bool root_denied = false;
  std::string root;     // "" or "/proc/PID/root": put before a path of the target's to make it ours
  std::string tmp_dir;  // where the target puts its socket, as it sees it
  bool tmp_dir_exists = true;
  std::string socket_path;                 // as we see it; "" = none
  std::vector<std::string> stale_sockets;  // of its pid, left by earlier processes
  size_t open_sessions = 0;                // other tools' connections to it, as a rule sessions
  bool socket_name_too_long = false;       // the runtime then makes no socket

  // Ports that it dials to be resumed, and where nobody listens; as it sees them.
  std::vector<std::string> unheard_ports;

  bool HasThread(std::string_view name) const;
  // The runtime answers, but waits to be resumed before it runs the program.
  bool suspended_at_start() const;
};

// errors: kNotFound (no such process, or it ended meanwhile)
Result<ProcessFacts> GatherFacts(pid_t pid);
// The same in two steps. The first is cheap enough for every process of a machine, time and again:
// it finds the socket and leaves `runtime` at kNone; the second tells the runtime.
Result<ProcessFacts> GatherSocketFacts(pid_t pid);
void GatherRuntimeFacts(ProcessFacts& facts);

// What an executable that has the runtime linked into it is, by the names that it exports to
// debuggers: kSingleFile, kNativeAot, or kUndetermined (also when it cannot be read).
RuntimeKind KindOfExecutable(const std::string& path);

// All pids in /proc, ascending.
std::vector<pid_t> ListPids();

// The runtimeconfig.json of a process; "" where it cannot be found: in a single-file program it is
// inside of the executable, Native AOT has none, a host of its own may have another, and one that
// was written since the process began is not what it has read.
std::string ReadRuntimeConfig(const ProcessFacts& facts);

// Server or workstation, concurrent or not: by the runtime's threads, its environment and its
// runtimeconfig.json, in this order.
GcFlavour DetectGc(const ProcessFacts& facts);

// The runtime writes no event of a managed EventSource then: no request, no task, no counter. Its
// own events, which are native, go on. No variable of the environment has this switch. Source:
// dotnet/runtime src/libraries/System.Private.CoreLib/src/System/Diagnostics/Tracing/EventSource.cs
inline constexpr std::string_view kEventSourceSwitch =
    "System.Diagnostics.Tracing.EventSource.IsSupported";
// By its runtimeconfig.json; false where that is not seen.
bool EventSourcesOff(const ProcessFacts& facts);

}  // namespace clrscope::ipc
