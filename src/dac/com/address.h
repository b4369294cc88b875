// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/com/unknown.h"

namespace clrscope::dac {

using Address = uint64_t;  // CLRDATA_ADDRESS, in the target

}  // namespace clrscope::dac
