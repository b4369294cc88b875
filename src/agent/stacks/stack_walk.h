// SPDX-License-Identifier: Apache-2.0
// Walks the calling thread's stack by the rules of a CodeTable: no lock, no allocation, a table
// lookup a frame. The thread's own stack is read in place; any other, a fiber's or that of a signal
// handler, through the kernel, which says when there is nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/stacks/code_table.h"
#include "agent/stacks/native_map.h"
#include "agent/stacks/stack_bounds.h"

namespace clrscope::agent {

inline constexpr size_t kMaxDepth = 512;  // frames of one stack; what is below is [truncated]

// Not where only async callers are missing (AsyncEnd).
inline bool IsCut(std::span<const uint32_t> frames) {
  return frames.size() + 1 >= kMaxDepth && frames.back() == kTruncatedFrame;
}

// All but kDone leave the stack to the runtime's own walk.
enum class WalkEnd : uint8_t {
  kDone,
  kNew,       // an address that nobody looked at yet: the next walk will know it
  kNoRule,    // a method whose first instructions do not tell its frame
  kStub,      // code of no method and no unwind table: a marshalling stub
  kDisagree,  // rsp and rbp cannot both be right
  kOutside,   // the caller's frame would lie outside of the stack, or cannot be read
  kNoRoom,    // the table of addresses is full, or the stack has no end
};
inline constexpr size_t kWalkEnds = 7;

struct Registers {
  uintptr_t ip = 0, sp = 0, rbp = 0;
};

inline constexpr size_t kStackWindow = 1024;
inline constexpr size_t kFrameWords = 512;

// Where on the stack a frame lies.
struct FrameSpan {
  uintptr_t low = 0, high = 0;
};

// Where frame ids go, leaf first, and what else a walk needs: none of it on a stack that may be
// near its end.
struct WalkRoom {
  uint32_t (&frames)[kMaxDepth];
  std::byte (&window)[kStackWindow];
  FrameSpan* spans = nullptr;  // of managed frames, by their index; null: nobody asks
  // For FollowAsyncCallers(): a frame's words, of a stack that cannot be read in place.
  uintptr_t* words = nullptr;
};

// What becomes of native frames between methods.
enum class NativeRuns : uint8_t {
  kOne,   // a kNativeFrame for all that follow on each other
  kEach,  // each of them, up to kMostNative; a kNativeFrame for the rest
};
inline constexpr size_t kMostNative = 32;

// `own`: of the calling thread's stack; empty when it is not known. `count` is set in every case.
// Native code that is new is looked up in `native`, which may be null. kNew: `fresh`, if any, gets
// the frame at which it ended.
WalkEnd WalkStack(CodeTable& code, const NativeMap* native, Registers at, const StackBounds& own,
                  WalkRoom room, size_t* count, NativeRuns runs = NativeRuns::kOne,
                  uint32_t* fresh = nullptr);

// Collects what the runtime's own walk (DoStackSnapshot) reports; the same shape. Whose code an
// address is, it learns from there.
class SnapshotCollector {
 public:
  SnapshotCollector(CodeTable& code, uint32_t (&frames)[kMaxDepth])
      : code_(code), frames_(frames) {}
  // false: enough.
  bool Add(uintptr_t function, uintptr_t ip);
  size_t count() const { return count_; }

 private:
  CodeTable& code_;
  uint32_t (&frames_)[kMaxDepth];
  size_t count_ = 0;
  bool native_ = false;
};

}  // namespace clrscope::agent
