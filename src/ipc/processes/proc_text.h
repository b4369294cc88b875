// SPDX-License-Identifier: Apache-2.0
// The texts of /proc and the names of diagnostics sockets, as pure functions.
// Source: proc(5); dotnet/diagnostics ipc-protocol.md § Transport
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clrscope::ipc {

struct ProcStat {
  std::string comm;          // at most 15 bytes, any character at all
  char state = '?';          // R S D Z T t X …
  uint64_t start_ticks = 0;  // since boot; 1/sysconf(_SC_CLK_TCK) s
};
// Of a process that has ended, though its parent may not know yet.
constexpr bool HasEnded(char state) { return state == 'Z' || state == 'X'; }
// errors: kCorrupt
Result<ProcStat> ParseProcStat(std::string_view text);

// In bytes; -1 = the kernel does not say.
struct ProcMemory {
  int64_t rss_bytes = -1;
  int64_t private_bytes = -1, file_bytes = -1, shared_bytes = -1;  // the parts of it
  int64_t swap_bytes = -1;
};
struct ProcStatus {
  uid_t uid = 0;  // effective
  gid_t gid = 0;  // effective
  pid_t parent = 0;
  pid_t inner_pid = 0;   // last of NSpid: how the process sees itself; 0 = not told
  bool nested = false;   // NSpid has several values: another pid namespace
  pid_t tracer_pid = 0;  // who traces it (gdb, strace); 0: nobody that is seen from here
  ProcMemory memory;
  int64_t threads = -1;
  uint64_t capabilities = 0;                   // effective; a bit each, of linux/capability.h
  std::optional<uint64_t> voluntary_switches;  // how many times it gave its CPU up to wait
};
ProcStatus ParseProcStatus(std::string_view text);

// "a\0b\0" → {"a", "b"}: cmdline and environ.
std::vector<std::string> SplitNul(std::string_view text);

// Path of the first mapping in /proc/PID/maps whose file name is `file_name`; "" when there is
// none.
std::string FindMapping(std::string_view maps, std::string_view file_name);

// Whether the process of these /proc/PID/maps runs on musl in place of glibc: by its loader, which
// is its C library. Alpine maps it as /lib/ld-musl-x86_64.so.1, Debian as
// /lib/x86_64-linux-musl/libc.so.
bool MapsMusl(std::string_view maps);

// Whether /proc/PID/net/unix names a socket that listens at `path`.
bool ListensAt(std::string_view net_unix, std::string_view path);
// How many connections a listener of that file name has accepted and not closed.
size_t ConnectionsTo(std::string_view net_unix, std::string_view file_name);

// dotnet-diagnostic-{pid}-{key}-socket
struct SocketName {
  pid_t pid = 0;     // in the target's own pid namespace
  uint64_t key = 0;  // its start time in ticks since boot
};
std::optional<SocketName> ParseSocketName(std::string_view file_name);
std::string FormatSocketName(SocketName name);

}  // namespace clrscope::ipc
