// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "symbol_files/open_file.h"

namespace clrscope::symbol_files {
namespace {

Error ReadError(std::string_view name, int error) {
  return {ErrorCode::kIo, fmt::format("{}: {}", name, std::strerror(error))};
}

}  // namespace

Result<OpenFile> OpenFile::Of(Fd fd, std::string_view name) {
  struct stat s;
  if (::fstat(fd.get(), &s) != 0) return ReadError(name, errno);
  if (!S_ISREG(s.st_mode))
    return Error{ErrorCode::kRefused, fmt::format("{}: no regular file", name)};
  const FileId id{s.st_dev, s.st_ino, static_cast<uint64_t>(s.st_size),
                  s.st_ctim.tv_sec * 1'000'000'000 + s.st_ctim.tv_nsec};
  return OpenFile(std::move(fd), name, id);
}

Result<std::vector<std::byte>> OpenFile::Read(uint64_t offset, uint64_t size) const {
  if (offset >= id_.size) return std::vector<std::byte>();
  std::vector<std::byte> bytes(static_cast<size_t>(std::min(size, id_.size - offset)));
  ASSIGN_OR_RETURN(const size_t read, ReadAt(offset, bytes));
  bytes.resize(read);  // it may have become shorter
  return bytes;
}

Result<size_t> OpenFile::ReadAt(uint64_t offset, std::span<std::byte> into) const {
  size_t at = 0;
  while (at < into.size()) {
    const ssize_t n =
        ::pread(fd_.get(), into.data() + at, into.size() - at, static_cast<off_t>(offset + at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ReadError(name_, errno);
    if (n == 0) break;
    at += static_cast<size_t>(n);
  }
  return at;
}

}  // namespace clrscope::symbol_files
