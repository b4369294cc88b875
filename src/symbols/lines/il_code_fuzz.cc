// SPDX-License-Identifier: Apache-2.0
// Any bytes as a method's body, and the statement of a call at each of its offsets, with a
// sequence point at every third of them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbols/lines/line_lookup.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbols;
  const Result<IlCode> code = ReadIlCode(AsBytes(data, size));
  if (!code.ok()) return 0;
  constexpr uint32_t kMostOffsets = 300;
  std::vector<SequencePoint> points;
  for (uint32_t il = 0; il < kMostOffsets; il += 3) {
    SequencePoint point;
    point.il_offset = il;
    point.start_line = il % 9 == 0 ? 0 : il + 1;
    points.push_back(point);
  }
  for (uint32_t il = 0; il < kMostOffsets; ++il) {
    (void)PointOfCall(points, *code, il, il + 1 + il % 40, MapOf::kPlainCode);
    (void)PointOfCall(points, *code, il, ~0u, MapOf::kOptimisedCode);
  }
  return 0;
}
