// SPDX-License-Identifier: Apache-2.0
// Files as a process sees them: a container has other ones than this machine, and may hold any.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "symbol_files/open_file.h"

namespace clrscope::symbol_files {

class FileRoot {
 public:
  // More than any assembly, library or PDB of a program; less than what would hurt.
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;

  // Of this process itself.
  static FileRoot Own() { return FileRoot(); }
  // What the process `pid` sees, while it lives. Before Linux 5.6 only where that is what we see.
  // Source: proc(5), /proc/PID/root; openat2(2)
  // errors: kNotFound, kPermission
  static Result<FileRoot> Of(pid_t pid);

  // The regular file at an absolute path. Links and ".." never lead out of the root.
  // errors: kNotFound, kPermission, kIo; kRefused for what is no regular file
  Result<OpenFile> Open(std::string_view path) const;
  // The whole of it. It is copied, so that nobody can change or shorten it under a reader; one that
  // changes while it is copied is read again by nobody: ids and checksums tell whether it is whole.
  // errors: as Open(); kRefused past `most` bytes
  Result<std::vector<std::byte>> Read(std::string_view path, uint64_t most = kMostBytes) const;

  // The same number for the same root, as long as this one is open; 0: our own.
  uint64_t identity() const { return identity_; }

 private:
  FileRoot() = default;
  Fd root_;  // none: our own
  uint64_t identity_ = 0;
};

}  // namespace clrscope::symbol_files
