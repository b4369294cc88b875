// SPDX-License-Identifier: Apache-2.0
// Small file and folder readers, correct under EINTR and for files that grow or vanish.
#include "ipc/processes/proc_linux.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "base/fd.h"

namespace clrscope::ipc {
namespace {

Error FileError(int error, const std::string& path) {
  ErrorCode code = ErrorCode::kIo;
  if (error == ENOENT || error == ESRCH || error == ENOTDIR) code = ErrorCode::kNotFound;
  if (error == EACCES || error == EPERM) code = ErrorCode::kPermission;
  return Error{code, fmt::format("{}: {}", path, std::strerror(error))};
}

// O_NONBLOCK: what looks like a file in a target's folder may be a pipe.
Fd OpenToRead(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

ssize_t ReadSome(int fd, char* out, size_t size) {
  ssize_t n = 0;
  do n = ::read(fd, out, size);
  while (n < 0 && errno == EINTR);
  return n;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  const Fd fd = OpenToRead(path);
  if (!fd.valid()) return FileError(errno, path);
  std::string text;
  std::array<char, 16384> chunk;
  while (text.size() < limit) {
    const ssize_t n = ReadSome(fd.get(), chunk.data(), std::min(chunk.size(), limit - text.size()));
    if (n < 0) return FileError(errno, path);
    if (n == 0) break;
    text.append(chunk.data(), static_cast<size_t>(n));
  }
  return text;
}

Result<ProcStatus> ReadProcStatus(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(fmt::format("/proc/{}/status", pid)));
  return ParseProcStatus(text);
}

std::string ReadLink(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
  return n > 0 ? std::string(target.data(), static_cast<size_t>(n)) : std::string();
}

std::vector<std::string> ListFolder(const std::string& path, size_t limit) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (folder == nullptr) return names;
  while (names.size() < limit) {
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

bool FileHolds(const std::string& path, std::string_view needle, size_t limit) {
  const Fd fd = OpenToRead(path);
  if (!fd.valid()) return false;
  std::string window;  // the last chunk, with the end of the one before it in front
  std::vector<char> chunk(1u << 20);
  for (size_t done = 0; done < limit;) {
    const ssize_t n = ReadSome(fd.get(), chunk.data(), std::min(chunk.size(), limit - done));
    if (n <= 0) break;
    done += static_cast<size_t>(n);
    window.append(chunk.data(), static_cast<size_t>(n));
    if (window.find(needle) != std::string::npos) return true;
    window.erase(0, window.size() - std::min(window.size(), needle.size()));
  }
  return false;
}

}  // namespace clrscope::ipc
