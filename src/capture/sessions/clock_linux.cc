// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include "capture/sessions/clock.h"

namespace clrscope::capture {
namespace {

int64_t Read(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  int64_t monotonic_ns() const override { return Read(CLOCK_MONOTONIC); }
  int64_t unix_ns() const override { return Read(CLOCK_REALTIME); }
};

}  // namespace

const Clock& Clock::System() {
  static const SystemClock clock;
  return clock;
}

}  // namespace clrscope::capture
