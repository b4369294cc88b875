// SPDX-License-Identifier: Apache-2.0
// Where each stretch of a method's IL comes from in its source.
// Source: dotnet/runtime docs/design/specs/PortablePdb-Metadata.md (Sequence Points Blob)
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::symbols {

struct SequencePoint {
  uint32_t il_offset = 0;
  uint32_t document = 0;    // row
  uint32_t start_line = 0;  // from 1; 0: the compiler made this IL, and no line is its own
  uint32_t end_line = 0;
  uint16_t start_column = 0;  // from 1, in UTF-16 units
  uint16_t end_column = 0;
  bool hidden() const { return start_line == 0; }
  bool operator==(const SequencePoint&) const = default;
};

// `document`: the method's, 0 where the blob begins with it. An empty blob has none.
// errors: kCorrupt with the offset in the blob
Result<std::vector<SequencePoint>> DecodeSequencePoints(Bytes blob, uint32_t document);

}  // namespace clrscope::symbols
