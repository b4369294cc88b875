// SPDX-License-Identifier: Apache-2.0
// Gathers what /proc says about one process. Everything but its mere existence may be missing:
// another user's processes show little, and any process may end between two reads.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>

#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/processes/proc_text.h"
#include "ipc/processes/process_facts.h"
#include "ipc/transport/socket_search_linux.h"

namespace clrscope::ipc {
namespace {

constexpr size_t kFirstThreads = 24;  // one of the runtime's own is among a process's first
constexpr size_t kMaxThreads = 4096;  // a server GC has one a core, and the finalizer comes after
constexpr size_t kMapsLimit = 64u << 20;
constexpr size_t kExeLimit = 16u << 20;  // exported names stand near the start of an executable
constexpr std::string_view kThreadPrefix = ".NET ";

// Names of the runtime's threads among the first `limit` threads.
std::vector<std::string> NameThreads(const std::string& proc, size_t limit) {
  std::vector<std::string> names;
  for (const std::string& tid : ListFolder(proc + "/task", limit)) {
    Result<std::string> name = ReadFile(fmt::format("{}/task/{}/comm", proc, tid), 64);
    if (!name.ok()) continue;
    while (!name->empty() && name->back() == '\n') name->pop_back();
    if (name->starts_with(kThreadPrefix)) names.push_back(name.Take());
  }
  return names;
}

// Whether both can be looked at and are not the same folder.
bool AreOther(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 &&
         (x.st_dev != y.st_dev || x.st_ino != y.st_ino);
}

void FindNamespaces(const std::string& proc, ProcessFacts& facts) {
  const std::string theirs = ReadLink(proc + "/ns/mnt");
  facts.other_mount_namespace = !theirs.empty() && theirs != ReadLink("/proc/self/ns/mnt");
  const std::string root = ReadLink(proc + "/root");
  // Wants the right to read its memory. Source: ptrace(2), "Ptrace access mode checking"
  struct stat s {};
  facts.root_denied =
      ::stat((proc + "/root/").c_str(), &s) != 0 && (errno == EACCES || errno == EPERM);
  // Seen from within a chroot, a root that lies outside reads "/", too.
  if (facts.other_mount_namespace || (!root.empty() && root != "/") ||
      AreOther(proc + "/root", "/proc/self/root"))
    facts.root = proc + "/root";
}

void FindRuntime(const std::string& proc, ProcessFacts& facts) {
  const Result<std::string> maps = ReadFile(proc + "/maps", kMapsLimit);
  if (maps.ok()) facts.coreclr_path = FindMapping(*maps, "libcoreclr.so");
  facts.musl = maps.ok() && MapsMusl(*maps);
  if (!facts.coreclr_path.empty()) {
    facts.runtime = RuntimeKind::kCoreClr;
  } else if (!facts.socket_path.empty() || !NameThreads(proc, kFirstThreads).empty()) {
    facts.runtime = maps.ok() ? KindOfExecutable(proc + "/exe") : RuntimeKind::kUndetermined;
  }
  if (facts.runtime != RuntimeKind::kNone) facts.threads = NameThreads(proc, kMaxThreads);
}

void FindUnheardPorts(const std::string& proc, ProcessFacts& facts) {
  const Result<std::string> sockets = ReadFile(proc + "/net/unix", kMapsLimit);
  if (!sockets.ok()) return;
  for (const DiagnosticPort& port :
       ParsePorts(FindClrVariable(facts.environ, "DiagnosticPorts").value_or("")))
    if (port.suspend && !port.path.empty() && !ListensAt(*sockets, port.path))
      facts.unheard_ports.push_back(port.path);
}

void CountSessions(const std::string& proc, ProcessFacts& facts) {
  const Result<std::string> sockets = ReadFile(proc + "/net/unix", kMapsLimit);
  if (sockets.ok())
    facts.open_sessions = ConnectionsTo(
        *sockets, std::string_view(facts.socket_path).substr(facts.socket_path.rfind('/') + 1));
}

}  // namespace

RuntimeKind KindOfExecutable(const std::string& path) {
  // Whole names among the exported ones. The host of single-file programs (singlefilehost 8, 9, 10)
  // exports DotNetRuntimeInfo and also holds, as text of its debugging half, the name that a
  // NativeAOT program exports: so what exports the first is asked for first.
  constexpr std::string_view kSingleFileExport("\0DotNetRuntimeInfo\0", 19);
  constexpr std::string_view kNativeAotExport("\0DotNetRuntimeDebugHeader\0", 26);
  if (FileHolds(path, kSingleFileExport, kExeLimit)) return RuntimeKind::kSingleFile;
  if (FileHolds(path, kNativeAotExport, kExeLimit)) return RuntimeKind::kNativeAot;
  return RuntimeKind::kUndetermined;
}

bool ProcessFacts::HasThread(std::string_view name) const {
  return std::find(threads.begin(), threads.end(), name) != threads.end();
}

bool ProcessFacts::suspended_at_start() const {
  // Measured on .NET 10: the server's thread is there before the pause, the finalizer's comes
  // after.
  return HasThread(".NET EventPipe") && !HasThread(".NET Finalizer");
}

std::vector<pid_t> ListPids() {
  std::vector<pid_t> pids;
  for (const std::string& name : ListFolder("/proc")) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

Result<ProcessFacts> GatherFacts(pid_t pid) {
  ASSIGN_OR_RETURN(ProcessFacts facts, GatherSocketFacts(pid));
  if (!facts.kernel_thread) GatherRuntimeFacts(facts);
  return facts;
}

void GatherRuntimeFacts(ProcessFacts& facts) {
  FindRuntime(fmt::format("/proc/{}", facts.pid), facts);
  if (facts.runtime != RuntimeKind::kNone) facts.runtime_config = ReadRuntimeConfig(facts);
  if (facts.runtime != RuntimeKind::kNone && facts.socket_path.empty()) FindOtherSockets(facts);
  if (!facts.socket_path.empty()) CountSessions(fmt::format("/proc/{}", facts.pid), facts);
  if (facts.suspended_at_start()) FindUnheardPorts(fmt::format("/proc/{}", facts.pid), facts);
}

Result<ProcessFacts> GatherSocketFacts(pid_t pid) {
  const std::string proc = fmt::format("/proc/{}", pid);
  const auto gone = [&] {
    return Error{ErrorCode::kNotFound, fmt::format("there is no process {}", pid)};
  };
  Result<std::string> stat_text = ReadFile(proc + "/stat");
  const Result<ProcStatus> read = ReadProcStatus(pid);
  if (pid <= 0 || !stat_text.ok() || !read.ok()) return gone();
  ASSIGN_OR_RETURN(const ProcStat stat, ParseProcStat(*stat_text));
  const ProcStatus& status = *read;

  ProcessFacts facts;
  facts.pid = pid;
  facts.inner_pid = status.inner_pid > 0 ? status.inner_pid : pid;
  facts.other_pid_namespace = status.nested;
  facts.state = stat.state;
  facts.start_ticks = stat.start_ticks;
  facts.uptime_s = UptimeOf(stat.start_ticks);
  facts.uid = status.uid;
  facts.gid = status.gid;
  facts.rss_bytes = static_cast<uint64_t>(std::max<int64_t>(status.memory.rss_bytes, 0));
  facts.comm = stat.comm;
  facts.exe = ReadLink(proc + "/exe");
  if (const auto cmdline = ReadFile(proc + "/cmdline"); cmdline.ok())
    facts.argv = SplitNul(*cmdline);
  if (facts.argv.empty() && facts.exe.empty() && facts.rss_bytes == 0 && stat.state != 'Z' &&
      status.uid == 0) {
    facts.kernel_thread = true;
    return facts;
  }
  if (const auto environ = ReadFile(proc + "/environ"); environ.ok()) {
    facts.environ_readable = true;
    facts.environ = SplitNul(*environ);
  }
  FindNamespaces(proc, facts);
  FindSocket(facts);
  return facts;
}

}  // namespace clrscope::ipc
