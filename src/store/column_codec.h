// SPDX-License-Identifier: Apache-2.0
// Columns of integers as a compressed blob: varints, column after column, then zstd. What mostly
// repeats or is mostly zero costs next to nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "base/varint_writer.h"

namespace clrscope::store {

// Bytes as one zstd frame, and back. errors: kCorrupt
std::string CompressBlob(std::string_view bytes);
Result<std::vector<std::byte>> DecompressBlob(Bytes blob);

class ColumnWriter : public VarintWriter {
 public:
  void Float(float v) { Fixed(v); }
  // The compressed blob; the writer is empty afterwards.
  std::string Finish() { return CompressBlob(Take()); }
};

class ColumnReader {
 public:
  // Blobs that claim more than this are damaged.
  static constexpr uint64_t kMaxBlobBytes = 48 << 20;

  static Result<ColumnReader> Open(Bytes blob);
  uint64_t Unsigned() { return reader_.VarU64(); }
  int64_t Signed() {
    const uint64_t v = reader_.VarU64();
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  double Number();
  float Float() { return reader_.Read<float>(); }
  bool ok() const { return reader_.ok(); }
  // Bytes left: an upper bound of how many values can follow.
  size_t remaining() const { return reader_.remaining(); }

 private:
  std::vector<std::byte> bytes_;
  ByteReader reader_;
};

}  // namespace clrscope::store
