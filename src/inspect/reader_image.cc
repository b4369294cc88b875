// SPDX-License-Identifier: Apache-2.0
#include "inspect/reader_image.h"

extern "C" {
extern const std::byte clrscope_dac_image[];      // NOLINT(readability-identifier-naming)
extern const std::byte clrscope_dac_image_end[];  // NOLINT(readability-identifier-naming)
}

namespace clrscope::inspect {

Bytes ReaderImage() {
  return {clrscope_dac_image, static_cast<size_t>(clrscope_dac_image_end - clrscope_dac_image)};
}

}  // namespace clrscope::inspect
