// SPDX-License-Identifier: Apache-2.0
// What the reader process tells, checked: it ran code of somebody else's.
#pragma once

#include <string>
#include <string_view>

#include "inspect/picture.h"

namespace clrscope::inspect {

// Adds one part to the picture. Threads are matched by `os_id`. What makes no sense is left out.
void TakePart(std::string_view json, Picture& picture);

// "Shop.Cart.Total.λ0" of "Shop.Cart+<>c__DisplayClass8_0.<Total>b__0(System.Int32)".
std::string ReadableMethod(std::string_view raw);
std::string ReadableType(std::string_view raw);

}  // namespace clrscope::inspect
