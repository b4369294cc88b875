// SPDX-License-Identifier: Apache-2.0
// Files that may be gzipped, as bytes.
#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::import {

inline constexpr size_t kMostBytes = size_t{512} << 20;

inline bool LooksGzipped(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

// All members of a gzip stream, one after the other. errors: kCorrupt, kTruncated with the offset
// in the compressed bytes; kFailed past `most` bytes
Result<std::string> Gunzip(Bytes bytes, size_t most = kMostBytes);

// errors: kNotFound, kIo; as Gunzip()
Result<std::string> ReadMaybeGzipped(const std::string& path);

}  // namespace clrscope::import
