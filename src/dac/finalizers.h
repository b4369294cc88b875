// SPDX-License-Identifier: Apache-2.0
// Objects that are dead but for their finalizers, which have not run yet.
#pragma once

#include <cstdint>
#include <optional>

#include "dac/runtime.h"

namespace clrscope::dac {

// Nothing while a collection runs, or where it cannot be read.
std::optional<uint64_t> WaitForFinalizers(Runtime& runtime);

}  // namespace clrscope::dac
