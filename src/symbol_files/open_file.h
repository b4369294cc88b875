// SPDX-License-Identifier: Apache-2.0
// A regular file of others that is open: who it is, and its bytes, copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace clrscope::symbol_files {

// One file in one state, by whatever path and in whatever mount namespace it is seen. Files that
// overlays show twice are two.
struct FileId {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t changed_ns = 0;  // its last change of status, which nobody can set back
  auto operator<=>(const FileId&) const = default;
};

class OpenFile {
 public:
  // `name`: for messages. errors: kRefused for what is no regular file, kIo
  static Result<OpenFile> Of(Fd fd, std::string_view name);

  const FileId& id() const { return id_; }
  uint64_t size() const { return id_.size; }  // bytes, as it was opened
  // A part of it; what lies past its end is left out, and so is what it has lost since. Any thread.
  // errors: kIo
  Result<std::vector<std::byte>> Read(uint64_t offset, uint64_t size) const;
  // The same into room of the caller's; returns how much of it there was.
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) const;

 private:
  OpenFile(Fd fd, std::string_view name, const FileId& id)
      : fd_(std::move(fd)), name_(name), id_(id) {}

  Fd fd_;
  std::string name_;
  FileId id_;
};

}  // namespace clrscope::symbol_files
