// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "capture/agents/agent_image.h"
#include "capture/agents/agent_place.h"
#include "ipc/processes/clr_config.h"

namespace clrscope::capture {
namespace {

// Why nothing can be loaded from `folder`; "" when it may work.
std::string Unfit(const std::string& folder) {
  struct stat s {};
  if (::stat(folder.c_str(), &s) != 0) return std::strerror(errno);
  if (!S_ISDIR(s.st_mode)) return "is no folder";
  struct statvfs fs {};
  if (::statvfs(folder.c_str(), &fs) != 0) return std::strerror(errno);
  if ((fs.f_flag & ST_RDONLY) != 0) return "is read-only";
  if ((fs.f_flag & ST_NOEXEC) != 0) return "is mounted noexec";
  return {};
}

// As the process sees them, each once.
std::vector<std::string> FoldersFor(const ipc::ProcessFacts& facts) {
  std::vector<std::string> folders = {facts.tmp_dir, "/tmp", "/dev/shm", "/var/tmp"};
  if (const auto home = ipc::FindVariable(facts.environ, "HOME")) folders.push_back(*home);
  std::vector<std::string> out;
  for (std::string& folder : folders) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (folder.empty() || folder[0] != '/') continue;
    if (std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(std::move(folder));
  }
  return out;
}

}  // namespace

PlacedAgent::~PlacedAgent() {
  if (folder_.valid())
    (void)::unlinkat(folder_.get(), path_.substr(path_.rfind('/') + 1).c_str(), 0);
}

Status WriteAgent(const std::string& path, uid_t uid, Libc libc) {
  if (!HasAgentFor(libc)) return Error{ErrorCode::kRefused, kNoAgentForMusl};
  // Under a name that nobody can guess, and then renamed: in /tmp others may have put something at
  // ours, and what is loaded there must be what was written here.
  const std::string temporary = fmt::format("{}.{:08x}", path, std::random_device{}());
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0500));
  const auto fail = [&](std::string_view what) {
    const int error = errno;
    (void)::unlink(temporary.c_str());
    return Error{error == EACCES || error == EPERM ? ErrorCode::kPermission : ErrorCode::kIo,
                 fmt::format("{} {}: {}", what, path, std::strerror(error))};
  };
  if (!fd.valid()) return fail("cannot write");
  Bytes left = AgentImage(libc);
  while (!left.empty()) {
    const ssize_t n = ::write(fd.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("cannot write");
    left = left.subspan(static_cast<size_t>(n));
  }
  if (uid != ::geteuid() && ::fchown(fd.get(), uid, static_cast<gid_t>(-1)) != 0)
    return fail("cannot give the target");
  if (::fchmod(fd.get(), 0500) != 0) return fail("cannot set the mode of");
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail("cannot write");
  return OkStatus();
}

Result<PlacedAgent> PlaceAgent(const ipc::ProcessFacts& facts, Libc libc) {
  if (!HasAgentFor(libc))
    return Error{ErrorCode::kRefused,
                 fmt::format("process {} runs on musl, and {}", facts.pid, kNoAgentForMusl)};
  std::string reasons;
  bool permission = true;
  for (const std::string& folder : FoldersFor(facts)) {
    std::string why = Unfit(facts.root + folder);
    const std::string path = folder + "/" + AgentFileName(libc);
    if (why.empty()) {
      const Status written = WriteAgent(facts.root + path, facts.uid, libc);
      if (written.ok())
        return PlacedAgent(
            path, Fd(::open((facts.root + folder).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
      permission = permission && written.error().code == ErrorCode::kPermission;
      why = written.error().message;
    } else {
      permission = false;
    }
    reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", folder, why);
  }
  return Error{permission ? ErrorCode::kPermission : ErrorCode::kRefused,
               fmt::format("process {} has no folder that the agent could be loaded from: {}",
                           facts.pid, reasons)};
}

std::string WhyNoPlace(const ipc::ProcessFacts& facts) {
  std::string reasons;
  for (const std::string& folder : FoldersFor(facts)) {
    const std::string why = Unfit(facts.root + folder);
    if (why.empty()) return {};
    reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", folder, why);
  }
  return "there is no folder that it could be loaded from: " + reasons;
}

}  // namespace clrscope::capture
