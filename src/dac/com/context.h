// SPDX-License-Identifier: Apache-2.0
// The runtime's CONTEXT of x64, which is that of Windows.
// Source: dotnet/runtime src/coreclr/pal/inc/pal.h
#pragma once

#include <cstdint>
#include <cstring>

#include "dac/wire.h"

namespace clrscope::dac {

inline constexpr uint32_t kContextUsedBytes = 0x100;
inline constexpr uint32_t kContextFlags = 0x10001f;  // CONTEXT_AMD64: control, integer, segments …
inline constexpr uint32_t kFlagsAt = 0x30, kRaxAt = 0x78, kRspAt = 0x98, kRipAt = 0xF8;

inline uint64_t ContextWord(const uint8_t* context, uint32_t at) {
  uint64_t word = 0;
  std::memcpy(&word, context + at, sizeof word);
  return word;
}

inline void WriteContext(const ThreadRegisters& r, uint32_t flags, uint8_t* context) {
  std::memcpy(context + kFlagsAt, &flags, sizeof flags);
  // In the structure's order, which is that of the instruction set but for rip.
  const uint64_t words[] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8,
                            r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  static_assert(kRaxAt + sizeof words == kContextUsedBytes);
  std::memcpy(context + kRaxAt, words, sizeof words);
}

}  // namespace clrscope::dac
