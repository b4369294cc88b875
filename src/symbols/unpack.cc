// SPDX-License-Identifier: Apache-2.0
#include "symbols/unpack.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace clrscope::symbols {

Result<std::vector<std::byte>> Inflate(Bytes deflated, size_t size) {
  // No deflate stream makes more than 1032 bytes of one.
  constexpr size_t kMostRatio = 1032;
  if (size > kMostUnpacked || deflated.size() > std::numeric_limits<uInt>::max())
    return Error{ErrorCode::kFailed, fmt::format("{} bytes are too many to unpack", size)};
  if (size / kMostRatio > deflated.size())
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{} bytes cannot unpack to {}", deflated.size(), size)};
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return Error{ErrorCode::kFailed, "zlib does not start"};
  const std::unique_ptr<z_stream, int (*)(z_streamp)> end(&z, &inflateEnd);
  // One byte more than expected, which shows a stream that makes more.
  std::vector<std::byte> out(size + 1);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(deflated.data()));
  z.avail_in = static_cast<uInt>(deflated.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  if (inflate(&z, Z_FINISH) != Z_STREAM_END || z.total_out != size)
    return Error{ErrorCode::kCorrupt, "the deflated bytes are damaged"};
  out.resize(size);
  return out;
}

Result<std::vector<std::byte>> UnpackXz(Bytes packed) {
  // What the highest preset of xz wants is 65 MB.
  constexpr uint64_t kMostMemory = uint64_t{80} << 20;
  constexpr size_t kFirstSize = size_t{64} << 10;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostMemory, 0) != LZMA_OK)
    return Error{ErrorCode::kFailed, "liblzma does not start"};
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> end(&stream, &lzma_end);
  std::vector<std::byte> out(std::min(kFirstSize, kMostUnpacked));
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  for (;;) {
    const size_t done = stream.total_out;
    stream.next_out = reinterpret_cast<uint8_t*>(out.data() + done);
    stream.avail_out = out.size() - done;
    const lzma_ret code = lzma_code(&stream, LZMA_FINISH);
    if (code == LZMA_STREAM_END) break;
    if (code == LZMA_MEMLIMIT_ERROR || (code == LZMA_OK && out.size() >= kMostUnpacked))
      return Error{ErrorCode::kFailed, "the xz stream needs too much memory"};
    if (code != LZMA_OK || stream.avail_out != 0)
      return Error{ErrorCode::kCorrupt, "the xz stream is damaged"};
    out.resize(std::min(out.size() * 2, kMostUnpacked));
  }
  out.resize(stream.total_out);
  return out;
}

}  // namespace clrscope::symbols
