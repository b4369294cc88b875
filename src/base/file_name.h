// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace clrscope {

// What follows the last separator: '/', or '\', as a compiler's path may be of Windows.
inline std::string_view FileNameOf(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 = 0
}

}  // namespace clrscope
