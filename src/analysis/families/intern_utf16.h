// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/string_pool.h"
#include "base/utf.h"

namespace clrscope::analysis {

// `scratch`: memory that the next text uses again.
inline StringId InternUtf16(Utf16View text, StringPool& strings, std::string& scratch) {
  scratch.clear();
  AppendUtf8(scratch, text);
  return strings.Intern(scratch);
}

}  // namespace clrscope::analysis
