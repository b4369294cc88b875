// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/mix_bits.h"
#include "symbol_files/file_root.h"

namespace clrscope::symbol_files {
namespace {

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Error FromErrno(std::string_view path, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound
                         : error == EACCES || error == EPERM ? ErrorCode::kPermission
                                                             : ErrorCode::kIo;
  return {code, fmt::format("{}: {}", path, std::strerror(error))};
}

// "mnt:[4026531841]"; "" when it may not be read.
std::string MountNamespace(const std::string& process) {
  char text[64];
  const ssize_t n = ::readlink((process + "/ns/mnt").c_str(), text, sizeof(text));
  return n > 0 ? std::string(text, static_cast<size_t>(n)) : std::string();
}

bool SeesWhatWeSee(const std::string& process, const struct stat& root) {
  struct stat own;
  const std::string mounts = MountNamespace("/proc/self");
  return ::stat("/", &own) == 0 && own.st_dev == root.st_dev && own.st_ino == root.st_ino &&
         !mounts.empty() && mounts == MountNamespace(process);
}

}  // namespace

Result<FileRoot> FileRoot::Of(pid_t pid) {
  const std::string process = fmt::format("/proc/{}", pid), path = process + "/root";
  FileRoot root;
  root.root_ = Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.root_.valid()) return FromErrno(path, errno);
  struct stat s;
  if (::fstat(root.root_.get(), &s) != 0) return FromErrno(path, errno);
  if (SeesWhatWeSee(process, s)) return Own();  // which needs no openat2
  root.identity_ = MixBits(MixBits(s.st_dev) ^ s.st_ino) | 1;
  return root;
}

Result<OpenFile> FileRoot::Open(std::string_view path) const {
  const std::string name(path);
  if (name.empty() || name.front() != '/' || name.find('\0') != std::string::npos)
    return Error{ErrorCode::kNotFound, fmt::format("'{}' is no absolute path", name)};
  Fd fd;
  if (root_.valid()) {
    open_how how{};
    how.flags = kFlags;
    // RESOLVE_IN_ROOT: absolute links and ".." are taken as the process takes them (Linux 5.6).
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    fd = Fd(static_cast<int>(::syscall(SYS_openat2, root_.get(), name.c_str(), &how, sizeof(how))));
  } else {
    fd = Fd(::open(name.c_str(), kFlags));
  }
  if (!fd.valid()) return FromErrno(path, errno);
  return OpenFile::Of(std::move(fd), path);
}

Result<std::vector<std::byte>> FileRoot::Read(std::string_view path, uint64_t most) const {
  ASSIGN_OR_RETURN(const OpenFile file, Open(path));
  if (file.size() > most)
    return Error{ErrorCode::kRefused, fmt::format("{}: {} MB, more than the {} MB that are read",
                                                  path, file.size() >> 20, most >> 20)};
  return file.Read(0, file.size());
}

}  // namespace clrscope::symbol_files
