// SPDX-License-Identifier: Apache-2.0
// What the system says of a process's memory at one moment. -1 = it does not say.
#pragma once

#include <cstdint>

namespace clrscope::profile {

struct MemoryReading {
  int64_t at_ns = 0;  // since the recording's start
  int64_t rss_bytes = -1;
  // The parts of it: private memory, mapped files, shared memory (tmpfs, memfd).
  int64_t private_bytes = -1, file_bytes = -1, shared_bytes = -1;
  int64_t swap_bytes = -1;  // of private memory, in no part
  int64_t threads = -1;

  // What moves to the swap is still the process's.
  int64_t total() const { return rss_bytes + (swap_bytes > 0 ? swap_bytes : 0); }
};

}  // namespace clrscope::profile
