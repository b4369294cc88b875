// SPDX-License-Identifier: Apache-2.0
// Which function of a precompiled image is a method's.
// Source: dotnet/runtime docs/design/coreclr/botr/readytorun-format.md (METHODDEF_ENTRYPOINTS)
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbols/pe/pe_image.h"
#include "symbols/r2r/native_array.h"
#include "symbols/r2r/r2r_header.h"

namespace clrscope::symbols {

// View of the section of an assembly, in its own image or in a composite one.
class MethodEntryPoints {
 public:
  // Those of `header`'s assembly in `image`; none where it has no such section.
  // errors: kTruncated
  static Result<MethodEntryPoints> Read(const PeImage& image, const R2rHeader& header);

  // Rows of MethodDef that may have code; those of generic methods have none here.
  uint32_t size() const { return array_.size(); }
  // The index of the main function of a MethodDef's row, from 1. Nothing: it is not precompiled.
  std::optional<uint32_t> FunctionOf(uint32_t method_row) const;

 private:
  Bytes section_;
  NativeArray array_;
};

}  // namespace clrscope::symbols
