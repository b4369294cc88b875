// SPDX-License-Identifier: Apache-2.0
// What a thread did for a span of wall time: the values of LabelKey::kState.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace clrscope::profile {

// The values are stored in captures; 0 is no label.
enum class ThreadState : uint8_t {
  kRunning = 1,
  kRunnable = 2,  // ready, and another thread had the processor
  kLock = 3,
  kWait = 4,  // for an event, a task, another thread
  kSleep = 5,
  kIo = 6,
  kGc = 7,              // stopped for a collection, or collecting
  kIdle = 8,            // a thread of a pool or of the runtime that has nothing to do
  kBlockedUnknown = 9,  // it did not run, and nothing tells why
  kUnknown = 10,        // nothing tells whether it ran
};
inline constexpr size_t kThreadStates = 10;
inline constexpr std::array<std::string_view, kThreadStates> kThreadStateNames = {
    "running", "runnable",        "lock",   "wait", "sleep", "io", "gc",
    "idle",    "blocked_unknown", "unknown"};

// "" of a value that is none.
constexpr std::string_view ThreadStateName(uint64_t label) {
  return label == 0 || label > kThreadStates ? std::string_view() : kThreadStateNames[label - 1];
}
constexpr std::optional<ThreadState> ThreadStateOf(std::string_view name) {
  for (size_t i = 0; i < kThreadStates; ++i)
    if (kThreadStateNames[i] == name) return static_cast<ThreadState>(i + 1);
  return std::nullopt;
}

}  // namespace clrscope::profile
