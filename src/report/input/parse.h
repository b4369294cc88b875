// SPDX-License-Identifier: Apache-2.0
// Durations and sizes as people type them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace clrscope::report {

// "30" and "30s", "1.5s", "250ms", "5m", "1h30m", "2d", "00:00:30" (h:m:s), "00:00:00:30"
// (d:h:m:s), "05:30" (m:s). Nanoseconds, never negative. errors: kUsage
Result<int64_t> ParseDuration(std::string_view text);

// "512", "512k", "64M", "2G", with or without "B" or "iB"; k is 1024. Bytes. errors: kUsage
Result<uint64_t> ParseSize(std::string_view text);

}  // namespace clrscope::report
