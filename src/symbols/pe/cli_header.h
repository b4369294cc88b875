// SPDX-License-Identifier: Apache-2.0
// What makes a PE file an assembly.
// Source: ECMA-335 §II.25.3.3
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbols/pe/pe_image.h"

namespace clrscope::symbols {

struct CliHeader {
  DataDirectory metadata;
  uint32_t flags = 0;  // 1: IL only
  uint32_t entry_point_token = 0;
  DataDirectory managed_native_header;  // of ReadyToRun code; empty in IL images
};

// errors: kNotFound when it is no assembly, kTruncated
Result<CliHeader> ReadCliHeader(const PeImage& image);

// The metadata's bytes, which begin with its root. errors: as ReadCliHeader()
Result<Bytes> MetadataBytes(const PeImage& image);

}  // namespace clrscope::symbols
