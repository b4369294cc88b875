// SPDX-License-Identifier: Apache-2.0
// Walks the calling thread's stack by the rules of a CodeTable: no lock, no allocation, a table
// lookup a frame, and never outside of the thread's own stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/code_table.h"
#include "agent/native_map.h"

namespace clrscope::agent {

inline constexpr size_t kMaxDepth = 512;  // frames of one stack; what is below is [truncated]

// All but kDone leave the stack to the runtime's own walk.
enum class WalkEnd : uint8_t {
  kDone,
  kNew,       // an address that nobody looked at yet: the next walk will know it
  kNoRule,    // a method whose first instructions do not tell its frame
  kStub,      // code of no method and no unwind table: a marshalling stub
  kDisagree,  // rsp and rbp cannot both be right
  kOutside,   // the caller's frame would lie outside of the thread's stack
  kNoRoom,    // the table of addresses is full, or the stack has no end
};
inline constexpr size_t kWalkEnds = 7;

struct Registers {
  uintptr_t ip = 0, sp = 0, rbp = 0;
};

// The end of the calling thread's stack; 0 when it is not known. Costs nothing.
uintptr_t StackTop(uintptr_t sp);

// Frame ids, leaf first, into `frames`; `count` is set in every case. Native code that is new is
// looked up in `native`, which may be null.
WalkEnd WalkStack(CodeTable& code, const NativeMap* native, Registers at, uintptr_t top,
                  uint32_t (&frames)[kMaxDepth], size_t* count);

// Collects what the runtime's own walk (DoStackSnapshot) reports; the same shape.
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
