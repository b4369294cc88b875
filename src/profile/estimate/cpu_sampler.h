// SPDX-License-Identifier: Apache-2.0
// Who took the samples of CPU time.
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope::profile {

// The values are stored in captures.
enum class CpuSampler : uint8_t {
  kNone = 0,     // nobody, or unknown
  kKernel = 1,   // perf_event_open
  kAgent = 2,    // signals inside the process; only in earlier captures
  kRuntime = 3,  // the runtime's own sample profiler
  kPtrace = 4,   // stops from outside
};
inline constexpr uint8_t kCpuSamplers = 5;

// "" for kNone.
constexpr std::string_view SamplerName(CpuSampler s) {
  constexpr std::string_view kNames[kCpuSamplers] = {"", "kernel", "agent", "runtime", "ptrace"};
  return kNames[static_cast<uint8_t>(s)];
}

}  // namespace clrscope::profile
