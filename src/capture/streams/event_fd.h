// SPDX-License-Identifier: Apache-2.0
// Wakes whoever polls an eventfd.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace clrscope::capture {

inline void Notify(int event_fd) {
  const uint64_t one = 1;
  (void)!::write(event_fd, &one, sizeof(one));
}

}  // namespace clrscope::capture
