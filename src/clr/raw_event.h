// SPDX-License-Identifier: Apache-2.0
// One event of the runtime, before its payload is decoded: the seam between whoever receives events
// (a nettrace stream, the in-process agent) and whoever understands them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/byte_reader.h"
#include "clr/event_table.h"

namespace clrscope::clr {

using ActivityId = std::array<std::byte, 16>;

// What all events of one kind share; lives as long as the stream that delivers it.
struct EventKind {
  std::string_view provider_name;
  std::string_view event_name;  // usually empty for the runtime's own events
  Provider provider = Provider::kOther;
  EventTag tag = EventTag::kUnknown;
  uint32_t id = 0;
  uint32_t version = 0;
  uint64_t keywords = 0;
  uint32_t level = 0;
};

// What a receiver made of a stack, so that it need not look at it again: the stack's node, and the
// last thing that it looked up for it. `generation` lets the receiver outdate every memo at once.
struct StackMemo {
  uint32_t generation = 0;
  uint32_t node = 0;
  uint64_t key = 0;
  uint32_t value = 0;
};

// A stack as it lies in the stream: pointer-sized instruction pointers, leaf first.
struct StackView {
  const std::byte* data = nullptr;
  uint32_t frames = 0;
  uint8_t pointer_size = 8;
  StackMemo* memo = nullptr;  // null when the stack is not shared between events

  bool empty() const { return frames == 0; }
  uint64_t operator[](uint32_t i) const {
    if (pointer_size == 8) {
      uint64_t v;
      std::memcpy(&v, data + size_t{8} * i, 8);
      return v;
    }
    uint32_t v;
    std::memcpy(&v, data + size_t{4} * i, 4);
    return v;
  }
};

enum class StackState : uint8_t { kPresent, kNone, kMissing };

// Everything in it is valid only during the call that delivers it. An in-process source knows no
// time stamp and no stack of its own: it fills in its own clock and its own walk.
struct RawEvent {
  const EventKind* kind = nullptr;
  uint32_t process = 0;  // pid as the target sees it; 0 = unknown
  uint64_t thread = 0;   // OS thread id that the event is about; 0 = unknown
  int64_t time_ns = 0;   // since the stream's start
  Bytes payload;
  StackView stack;
  StackState stack_state = StackState::kNone;
  uint8_t pointer_size = 8;
  const ActivityId* activity = nullptr;          // null = none
  const ActivityId* related_activity = nullptr;  // null = none
};

}  // namespace clrscope::clr
