// SPDX-License-Identifier: Apache-2.0
// What lies before a return address.
#pragma once

#include <cstddef>

#include "base/byte_reader.h"

namespace clrscope::unwind {

inline constexpr size_t kLongestCall = 7;  // bytes

// Whether a call ends where `code` does, of which kLongestCall bytes are enough. Source: Intel 64
// and IA-32 Architectures Software Developer's Manual, CALL: E8 rel32; FF /2 with every kind of
// operand.
bool EndsWithCall(Bytes code);

}  // namespace clrscope::unwind
