// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions as people write them.
// Source: Itanium C++ ABI §5.1
#pragma once

#include <string>
#include <string_view>

namespace clrscope::symbols {

// "_ZN3GCH8AllocateEv" → "GCH::Allocate()"; what is no such name comes back as it is. So does one
// that might be very long when it is written out: names refer to their own parts, and a hundred
// bytes can mean gigabytes. Of real libraries that is less than one name in a hundred.
std::string Demangle(std::string_view mangled);

}  // namespace clrscope::symbols
