// SPDX-License-Identifier: Apache-2.0
// Where a runtime puts its socket, seen from here: through /proc/PID/root for another mount
// namespace. Source: dotnet/runtime src/native/eventpipe/ds-ipc-pal-socket.c, PAL_GetTransportName
#include "ipc/transport/socket_search_linux.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>

#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_text.h"
#include "ipc/transport/deadline.h"
#include "ipc/transport/socket.h"

namespace clrscope::ipc {
namespace {

constexpr std::chrono::milliseconds kPeekTimeout{50};

bool IsSocket(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

bool IsFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// As the target sees it, with a slash at its end.
std::string TmpDirOf(const ProcessFacts& facts) {
  std::string dir = FindVariable(facts.environ, "TMPDIR").value_or("");
  if (dir.empty()) return "/tmp/";
  if (dir.front() != '/') dir = ReadLink(fmt::format("/proc/{}/cwd", facts.pid)) + "/" + dir;
  if (dir.back() != '/') dir += '/';
  return dir;
}

// Whether the process itself called listen(2) on the socket at `path`.
bool ListensItself(const std::string& path, pid_t pid) {
  const Result<Fd> fd = ConnectUnix(path, Deadline::After(kPeekTimeout));
  if (!fd.ok()) return false;
  const std::optional<PeerIds> peer = PeerOf(fd->get());
  return peer && peer->pid == pid;
}

// Folders to look in, as we see them. When the target's environment may not be read, our own TMPDIR
// is the best guess beside /tmp.
std::vector<std::string> FoldersOf(const ProcessFacts& facts) {
  std::vector<std::string> folders = {facts.root + facts.tmp_dir};
  if (facts.environ_readable && !facts.environ.empty()) return folders;
  if (const char* ours = std::getenv("TMPDIR"); ours != nullptr && *ours == '/')
    folders.push_back(fmt::format("{}/", ours));
  return folders;
}

}  // namespace

std::vector<std::string> SocketsOfUnseenProcesses() {
  std::vector<std::string> folders = {"/tmp/"};
  if (const char* ours = std::getenv("TMPDIR"); ours != nullptr && *ours == '/')
    folders.push_back(fmt::format("{}/", ours));
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    for (const std::string& file : ListFolder(folder)) {
      if (!ParseSocketName(file) || !IsSocket(folder + file)) continue;
      const Result<Fd> fd = ConnectUnix(folder + file, Deadline::After(kPeekTimeout));
      const std::optional<PeerIds> peer = fd.ok() ? PeerOf(fd->get()) : std::nullopt;
      if (peer && peer->pid == 0) found.push_back(folder + file);
    }
  }
  return found;
}

void FindSocket(ProcessFacts& facts) {
  facts.tmp_dir = TmpDirOf(facts);
  const std::string name = FormatSocketName({facts.inner_pid, facts.start_ticks});
  facts.socket_name_too_long = facts.tmp_dir.size() + name.size() >= sizeof(sockaddr_un{}.sun_path);
  for (const std::string& folder : FoldersOf(facts)) {
    if (!IsSocket(folder + name)) continue;
    facts.socket_path = folder + name;
    return;
  }
}

void FindOtherSockets(ProcessFacts& facts) {
  facts.tmp_dir_exists = IsFolder(facts.root + facts.tmp_dir);
  for (const std::string& folder : FoldersOf(facts)) {
    for (const std::string& file : ListFolder(folder)) {
      const std::optional<SocketName> name = ParseSocketName(file);
      if (!name || name->pid != facts.inner_pid || !IsSocket(folder + file)) continue;
      if (facts.socket_path.empty() && ListensItself(folder + file, facts.pid))
        facts.socket_path = folder + file;
      else
        facts.stale_sockets.push_back(folder + file);
    }
  }
}

}  // namespace clrscope::ipc
