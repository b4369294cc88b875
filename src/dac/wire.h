// SPDX-License-Identifier: Apache-2.0
// What the reader process and clrscope say to each other over a socket pair. The reader asks, and
// sends what it found as parts, so that what came before a crash is kept. Both are of one build.
#pragma once

#include <cstdint>

namespace clrscope::dac {

enum class Op : uint32_t {
  kRead = 1,  // `address`, `size`: at most kPageBytes; reply: uint32_t n, n bytes of the target
  kSnapshot,  // `size` SnapshotThread follow; reply: uint32_t n, n ThreadRegisters
  kPart,      // `size` bytes of JSON follow: one object of one member; no reply
  kDone,      // nothing more comes
};
struct Request {
  Op op = Op::kDone;
  uint32_t size = 0;
  uint64_t address = 0;
};
inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint32_t kMaxThreads = 20'000;
inline constexpr uint32_t kMaxPartBytes = 4u << 20;

struct SnapshotThread {
  uint64_t os_id = 0;
  uint64_t object = 0;  // the runtime's Thread, which is copied together with the stack
};
// As of the moment when the thread's stack was copied.
struct ThreadRegisters {
  enum Have : uint32_t { kNothing, kPointers, kAll };
  uint64_t os_id = 0;
  Have have = kNothing;  // kPointers: rip and rsp only, of a thread that blocks in a system call
  uint32_t padding = 0;
  uint64_t rax = 0, rcx = 0, rdx = 0, rbx = 0, rsp = 0, rbp = 0, rsi = 0, rdi = 0;
  uint64_t r8 = 0, r9 = 0, r10 = 0, r11 = 0, r12 = 0, r13 = 0, r14 = 0, r15 = 0, rip = 0;
};

}  // namespace clrscope::dac
