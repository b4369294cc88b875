// SPDX-License-Identifier: Apache-2.0
// UTF-16 → UTF-8, tolerant of what ill-behaved programs put into their names.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_reader.h"

namespace clrscope {

// Appends `text` as UTF-8. A lone surrogate becomes U+FFFD.
void AppendUtf8(std::string& out, Utf16View text);
std::string ToUtf8(Utf16View text);
// UTF-8 → UTF-16 code units; an ill-formed sequence becomes U+FFFD.
std::u16string ToUtf16(std::string_view text);

}  // namespace clrscope
