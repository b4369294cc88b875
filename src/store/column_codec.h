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

namespace clrscope::store {

// Bytes as one zstd frame, and back. errors: kCorrupt
std::string CompressBlob(std::string_view bytes);
Result<std::vector<std::byte>> DecompressBlob(Bytes blob);

class ColumnWriter {
 public:
  void Unsigned(uint64_t v) {
    while (v >= 0x80) {
      bytes_.push_back(static_cast<char>(v | 0x80));
      v >>= 7;
    }
    bytes_.push_back(static_cast<char>(v));
  }
  void Signed(int64_t v) {
    Unsigned(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63));
  }
  // Whole numbers are short, others take nine bytes.
  void Number(double v);
  void Float(float v) { bytes_.append(reinterpret_cast<const char*>(&v), sizeof(v)); }

  // The compressed blob; the writer is empty afterwards.
  std::string Finish();

 private:
  std::string bytes_;
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
