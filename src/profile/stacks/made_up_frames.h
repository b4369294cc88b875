// SPDX-License-Identifier: Apache-2.0
// Frames of stacks that are no code of the process. They stand in trees as addresses that no
// program can run at, of 48 bits as all of a tree: user code is below half of them.
#pragma once

#include <cstdint>

namespace clrscope::profile {

inline constexpr uint64_t kKernelAddress = 0xFFFF'FFFF'FF10;      // "[kernel]"
inline constexpr uint64_t kAgentAddress = 0xFFFF'FFFF'FF30;       // "[clrscope agent]"
inline constexpr uint64_t kNotSampledAddress = 0xFFFF'FFFF'FF20;  // "(not sampled)"

}  // namespace clrscope::profile
