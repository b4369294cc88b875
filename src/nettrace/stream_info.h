// SPDX-License-Identifier: Apache-2.0
// What a nettrace stream says about itself at its beginning.
#pragma once

#include <cstdint>

namespace clrscope::nettrace {

struct StreamInfo {
  uint32_t version = 0;       // 4, 5 or 6
  uint32_t pointer_size = 8;  // of the target, bytes
  uint32_t pid = 0;           // 0 = unknown (V6 may hold many processes)
  uint32_t processors = 0;
  int64_t sampling_ns = 0;   // between samples of a CPU, as it was asked for; 0 = unknown
  int64_t sync_unix_ns = 0;  // wall clock at `sync_ticks`, ms precision
  int64_t sync_ticks = 0;
  int64_t ticks_per_second = 1'000'000'000;
};

}  // namespace clrscope::nettrace
