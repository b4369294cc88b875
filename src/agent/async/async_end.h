// SPDX-License-Identifier: Apache-2.0
// How following the callers of a resumed async method ended.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clrscope::agent {

enum class AsyncEnd : uint8_t {
  kNotResumed,  // the stack begins at no resumed async method
  kAll,         // up to a method that nobody awaits
  kNewType,     // a type that nobody looked at yet: the next sample will know it
  kNoBox,       // the method's box was not found on the stack
  kAmbiguous,   // … or two were
  kOther,       // something waits that is not followed
  kUnreadable,  // memory that cannot be read, or that is not what its type says
  kTooDeep,     // there are more than kMostAsyncCallers
};
inline constexpr size_t kAsyncEnds = 8;
inline constexpr size_t kMostAsyncCallers = 32;

// Callers are missing.
constexpr bool IsUnknown(AsyncEnd end) { return end > AsyncEnd::kAll; }

}  // namespace clrscope::agent
