// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

namespace clrscope::agent {

inline int64_t ClockNs(clockid_t clock) {
  timespec t{};
  (void)::clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
inline int64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

}  // namespace clrscope::agent
