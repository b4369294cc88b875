// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PE file, on disk and mapped: its headers, debug directory and precompiled code.
#include <cstddef>
#include <cstdint>

#include "symbols/pe/cli_header.h"
#include "symbols/pe/debug_directory.h"
#include "symbols/pe/pe_image.h"
#include "symbols/r2r/r2r_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbols;
  for (const PeLayout layout : {PeLayout::kFile, PeLayout::kMapped}) {
    const Result<PeImage> image = PeImage::Parse(AsBytes(data, size), layout);
    if (!image.ok()) continue;
    (void)MetadataBytes(*image);
    if (const auto debug = ReadDebugDirectory(*image); debug.ok())
      (void)UnpackEmbeddedPdb(debug->embedded);
    if (const auto header = ReadR2rHeader(*image); header.ok())
      (void)ReadR2rComponents(*image, *header);
  }
  return 0;
}
