// SPDX-License-Identifier: Apache-2.0
// The metadata of a module in its image, where the runtime has it in memory.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/stacks/own_reader.h"
#include "symbols/metadata/metadata.h"
#include "symbols/pe/pe_image.h"

namespace clrscope::agent {

// Views into the image at `base`, good as long as the module is loaded. Nothing where no assembly
// of this layout lies there, or the kernel does not let this process read its own memory: that
// which is not there would end the program.
std::optional<symbols::Metadata> MetadataInPlace(const uint8_t* base, symbols::PeLayout layout,
                                                 const OwnReader& memory);

}  // namespace clrscope::agent
