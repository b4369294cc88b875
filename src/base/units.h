// SPDX-License-Identifier: Apache-2.0
// Spans of time in nanoseconds, as every time here is told.
#pragma once

#include <cstdint>

namespace clrscope {

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

}  // namespace clrscope
