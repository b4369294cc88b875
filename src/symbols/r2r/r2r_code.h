// SPDX-License-Identifier: Apache-2.0
// Precompiled code of an image: its functions, which of them is a method's, and their maps.
// Source: dotnet/runtime docs/design/coreclr/botr/readytorun-format.md
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbols/lines/il_map.h"
#include "symbols/pe/pe_image.h"
#include "symbols/r2r/method_entry_points.h"
#include "symbols/r2r/native_array.h"
#include "symbols/r2r/r2r_header.h"

namespace clrscope::symbols {

// RVAs of the first instruction and of what follows the last. Methods have one main function, which
// handlers (and cold code) follow as functions of their own.
struct R2rFunction {
  uint32_t begin = 0, end = 0;
};

// Views into the image.
class R2rCode {
 public:
  // errors: kNotFound when it has none (of a component: it is in its composite image); kTruncated
  static Result<R2rCode> Read(const PeImage& image);

  uint16_t major() const { return major_; }
  uint32_t function_count() const { return function_count_; }
  // Both zero when there is none of that index.
  R2rFunction Function(uint32_t index) const;
  std::optional<uint32_t> FunctionAt(uint32_t rva) const;

  // Of the image's own assembly. A composite has none: its assemblies have, by ReadR2rComponents().
  const MethodEntryPoints& entry_points() const { return entry_points_; }

  // The main function of the method that has code at `rva`, of which its maps are from.
  std::optional<uint32_t> MainFunctionAt(uint32_t rva) const;
  // errors: kNotFound when it is no main function; as DecodeDebugBounds()
  Result<IlMap> MapOf(uint32_t main_function) const;

 private:
  Bytes functions_;
  uint32_t function_count_ = 0, function_size_ = 0;  // bytes
  MethodEntryPoints entry_points_;
  Bytes debug_section_;
  NativeArray debug_info_;
  uint16_t major_ = 0;
};

}  // namespace clrscope::symbols
