// SPDX-License-Identifier: Apache-2.0
// What the agent's thread does, in memory that clrscope reads when the agent does not answer: a
// memfd that the agent has open. Both sides agree on this layout; it has one writer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clrscope {

struct HeartbeatPage {
  static constexpr const char* kFileName = "clrscope-heartbeat";  // /memfd:… in /proc/PID/fd
  static constexpr uint64_t kMagic = 0x31'74'61'65'62'72'6c'63;   // "clrbeat1"
  static constexpr size_t kNameBytes = 56;                        // zeros behind a shorter name
  // The wait for something to do, which is a call as well.
  static constexpr std::string_view kWait = "poll";

  uint64_t magic = kMagic;
  std::atomic<uint64_t> sequence{0};  // odd while the rest is changed
  // Of the last call, by CLOCK_MONOTONIC, ns. 0: there was none; … of the end: it goes on.
  std::atomic<int64_t> begin_ns{0}, end_ns{0};
  std::array<std::atomic<uint64_t>, kNameBytes / 8> name{};
};
static_assert(sizeof(HeartbeatPage) == 88 && std::atomic<uint64_t>::is_always_lock_free);

}  // namespace clrscope
