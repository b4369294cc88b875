// SPDX-License-Identifier: Apache-2.0
// Files that may be gzipped, as what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

struct z_stream_s;

namespace clrscope::import {

// Fills the front of a room; 0 at the end. errors: kIo
using ByteSource = std::function<Result<size_t>(std::span<std::byte>)>;

// "-": standard input. errors: kNotFound, kPermission, kIo
Result<ByteSource> OpenSource(const std::string& path);

// Bytes in pieces: those of a gzip stream unpacked, all of its members one after the other, others
// as they are.
class MaybeGzipped {
 public:
  explicit MaybeGzipped(ByteSource source);

  // Fills the front of a room; 0 at the end. errors: the source's; kCorrupt and kTruncated with the
  // offset in the compressed bytes, after everything before it
  Result<size_t> Read(std::span<std::byte> room);
  bool gzipped() const { return stream_ != nullptr; }  // known from the first Read() on

 private:
  Status Fill();
  Result<size_t> Inflate(std::span<std::byte> room);

  ByteSource source_;
  std::vector<std::byte> packed_;  // what was read of the source and not taken yet, at its end
  size_t at_ = 0;                  // the first of them
  uint64_t read_ = 0;              // of the source
  bool began_ = false, ended_ = false, done_ = false;
  bool next_ = false;  // a member has ended
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
};

inline constexpr size_t kMostBytes = size_t{512} << 20;

// Its first bytes, as far as they can be read.
std::string ReadHead(MaybeGzipped& bytes, size_t size);
// All of it. errors: as Read(); kFailed past `most` bytes
Result<std::string> ReadAll(MaybeGzipped& bytes, size_t most = kMostBytes);

}  // namespace clrscope::import
