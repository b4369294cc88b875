// SPDX-License-Identifier: Apache-2.0
// Time 0 of a recording: where its first stream began. All streams of one machine share a clock.
#pragma once

#include <cstdint>
#include <optional>

#include "nettrace/stream_info.h"

namespace clrscope::capture {

class RecordingClock {
 public:
  // What to add to the times of a stream that begins like this.
  int64_t OffsetOf(const nettrace::StreamInfo& info) {
    const int64_t start = Nanos(info);
    if (!base_ns_) {
      base_ns_ = start;
      start_unix_ns_ = info.sync_unix_ns;
    }
    return start - *base_ns_;
  }
  bool started() const { return base_ns_.has_value(); }
  int64_t start_unix_ns() const { return start_unix_ns_; }

 private:
  static int64_t Nanos(const nettrace::StreamInfo& info) {
    if (info.ticks_per_second == 1'000'000'000) return info.sync_ticks;
    return static_cast<int64_t>(static_cast<double>(info.sync_ticks) * 1e9 /
                                static_cast<double>(info.ticks_per_second));
  }
  std::optional<int64_t> base_ns_;
  int64_t start_unix_ns_ = 0;
};

}  // namespace clrscope::capture
