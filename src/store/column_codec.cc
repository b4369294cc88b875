// SPDX-License-Identifier: Apache-2.0
#include "store/column_codec.h"

#include <zstd.h>

#include <cmath>

namespace clrscope::store {
namespace {
constexpr int kLevel = 3;
constexpr double kWholeLimit = 1e15;
}  // namespace

void ColumnWriter::Number(double v) {
  if (v >= 0 && v < kWholeLimit && v == std::floor(v)) {
    Unsigned(static_cast<uint64_t>(v) << 1);
  } else {
    Unsigned(1);
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof(v));
  }
}

double ColumnReader::Number() {
  const uint64_t v = reader_.VarU64();
  return v & 1 ? reader_.F64() : static_cast<double>(v >> 1);
}

std::string ColumnWriter::Finish() {
  std::string out(ZSTD_compressBound(bytes_.size()), '\0');
  const size_t n = ZSTD_compress(out.data(), out.size(), bytes_.data(), bytes_.size(), kLevel);
  CHECK(!ZSTD_isError(n));
  out.resize(n);
  bytes_.clear();
  return out;
}

Result<ColumnReader> ColumnReader::Open(Bytes blob) {
  const unsigned long long size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxBlobBytes)
    return Error{ErrorCode::kCorrupt, "a column blob is damaged"};
  ColumnReader r;
  r.bytes_.resize(static_cast<size_t>(size));
  const size_t n = ZSTD_decompress(r.bytes_.data(), r.bytes_.size(), blob.data(), blob.size());
  if (ZSTD_isError(n) || n != r.bytes_.size())
    return Error{ErrorCode::kCorrupt, "a column blob is damaged"};
  r.reader_ = ByteReader(Bytes(r.bytes_));
  return r;
}

}  // namespace clrscope::store
