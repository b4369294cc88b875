// SPDX-License-Identifier: Apache-2.0
#include "store/column_codec.h"

#include <zstd.h>

#include <memory>

namespace clrscope::store {
namespace {
constexpr int kLevel = 1;
}  // namespace

double ColumnReader::Number() {
  const uint64_t v = reader_.VarU64();
  return v & 1 ? reader_.F64() : static_cast<double>(v >> 1);
}

std::string CompressBlob(std::string_view bytes) {
  // Its tables cost more to make than most blobs cost to compress.
  thread_local const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                ZSTD_freeCCtx);
  CHECK(context != nullptr);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t n =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  CHECK(!ZSTD_isError(n));
  out.resize(n);
  return out;
}

Result<std::vector<std::byte>> DecompressBlob(Bytes blob) {
  const Error damaged{ErrorCode::kCorrupt, "a blob is damaged"};
  const unsigned long long size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
      size > ColumnReader::kMaxBlobBytes)
    return damaged;
  std::vector<std::byte> out(static_cast<size_t>(size));
  const size_t n = ZSTD_decompress(out.data(), out.size(), blob.data(), blob.size());
  if (ZSTD_isError(n) || n != out.size()) return damaged;
  return out;
}

Result<ColumnReader> ColumnReader::Open(Bytes blob) {
  ColumnReader r;
  ASSIGN_OR_RETURN(r.bytes_, DecompressBlob(blob));
  r.reader_ = ByteReader(Bytes(r.bytes_));
  return r;
}

}  // namespace clrscope::store
