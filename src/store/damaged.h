// SPDX-License-Identifier: Apache-2.0
// What a capture says that cannot be.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/result.h"

namespace clrscope::store {

inline Error Damaged(std::string_view what) {
  return Error{ErrorCode::kCorrupt, fmt::format("the capture is damaged: {}", what)};
}

}  // namespace clrscope::store
