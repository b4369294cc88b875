// SPDX-License-Identifier: Apache-2.0
// The types that signatures name by one byte.
// Source: ECMA-335 §II.23.1.16 (CorElementType)
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope::clr {

// "System.Int32" of 0x08; "" of what is no type by itself: arrays, pointers, classes …
std::string_view ElementTypeName(uint32_t element);

}  // namespace clrscope::clr
