// SPDX-License-Identifier: Apache-2.0
// Any bytes as a precompiled image: its functions and their maps. Of bytes that are none, as the
// debug information of one method, in every version.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "symbols/r2r/debug_bounds.h"
#include "symbols/r2r/r2r_code.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbols;
  const Bytes bytes = AsBytes(data, size);
  const Result<PeImage> image = PeImage::Parse(bytes, PeLayout::kFile);
  if (!image.ok()) {
    for (uint16_t major = kOldestDebugInfo; major <= kNewestDebugInfo; ++major)
      (void)DecodeDebugBounds(bytes, 0, major);
    return 0;
  }
  const Result<R2rCode> code = R2rCode::Read(*image);
  if (!code.ok()) return 0;
  for (uint32_t i = 0; i < std::min(code->function_count(), 100u); ++i) {
    (void)code->MapOf(i);
    (void)code->entry_points().FunctionOf(i + 1);
    (void)code->MainFunctionAt(code->Function(i).begin);
  }
  return 0;
}
