// SPDX-License-Identifier: Apache-2.0
#include "symbols/pdb/sequence_points.h"

#include "symbols/metadata/compressed.h"

namespace clrscope::symbols {
namespace {

// What the format allows.
constexpr int64_t kMostOffset = 0x20000000, kMostLine = 0x20000000, kMostColumn = 0x10000;

bool Below(int64_t value, int64_t most) { return value >= 0 && value < most; }

// Lines and columns, each told as the way from the visible point before.
class PointDecoder {
 public:
  // False: out of range.
  bool Place(ByteReader& in, SequencePoint& out) {
    const int64_t lines = ReadCompressed(in);
    const int64_t columns = lines == 0 ? int64_t{ReadCompressed(in)} : ReadCompressedSigned(in);
    if (lines == 0 && columns == 0) return true;  // hidden
    line_ += first_ ? int64_t{ReadCompressed(in)} : ReadCompressedSigned(in);
    column_ += first_ ? int64_t{ReadCompressed(in)} : ReadCompressedSigned(in);
    first_ = false;
    if (!Below(line_, kMostLine) || !Below(line_ + lines, kMostLine) ||
        !Below(column_, kMostColumn) || !Below(column_ + columns, kMostColumn))
      return false;
    out.start_line = static_cast<uint32_t>(line_);
    out.end_line = static_cast<uint32_t>(line_ + lines);
    out.start_column = static_cast<uint16_t>(column_);
    out.end_column = static_cast<uint16_t>(column_ + columns);
    return true;
  }

 private:
  int64_t line_ = 0, column_ = 0;
  bool first_ = true;
};

}  // namespace

Result<std::vector<SequencePoint>> DecodeSequencePoints(Bytes blob, uint32_t document) {
  std::vector<SequencePoint> out;
  if (blob.empty()) return out;
  ByteReader in(blob);
  const auto damaged = [&in] {
    return Error::At(ErrorCode::kCorrupt, in.position(), "a method's lines in the PDB are damaged");
  };
  ReadCompressed(in);  // the signature of its locals
  if (document == 0) document = ReadCompressed(in);
  PointDecoder places;
  uint32_t il_offset = 0;
  while (in.ok() && in.remaining() != 0) {
    const uint32_t delta = ReadCompressed(in);
    if (delta == 0 && !out.empty()) {
      document = ReadCompressed(in);
      continue;
    }
    il_offset += delta;
    SequencePoint point{il_offset, document};
    if (il_offset >= kMostOffset || !places.Place(in, point)) return damaged();
    out.push_back(point);
  }
  if (!in.ok()) return damaged();
  return out;
}

}  // namespace clrscope::symbols
