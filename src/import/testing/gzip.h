// SPDX-License-Identifier: Apache-2.0
// Bytes in memory as a source, and gzipped ones.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <string>

#include "base/byte_reader.h"
#include "import/gunzip.h"

namespace clrscope::import::testing {

// In pieces of at most `piece` bytes. The bytes outlive it.
inline ByteSource SourceOf(Bytes bytes, size_t piece) {
  return [bytes, piece](std::span<std::byte> room) mutable -> Result<size_t> {
    const size_t n = std::min({piece, bytes.size(), room.size()});
    std::copy_n(bytes.begin(), n, room.begin());
    bytes = bytes.subspan(n);
    return n;
  };
}

// One member.
inline std::string Gzip(const std::string& text) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace clrscope::import::testing
