// SPDX-License-Identifier: Apache-2.0
// Frames of stacks that are no code of the process. They stand in trees as addresses that no
// program can run at, of 48 bits as all of a tree: user code is below half of them.
#pragma once

#include <cstdint>

namespace clrscope::profile {

inline constexpr uint64_t kKernelAddress = 0xFFFF'FFFF'FF10;      // "[kernel]"
inline constexpr uint64_t kCollectorAddress = 0xFFFF'FFFF'FF30;   // "Garbage Collector"
inline constexpr uint64_t kRunnableAddress = 0xFFFF'FFFF'FF50;    // "(waiting for a CPU)"
inline constexpr uint64_t kNotSampledAddress = 0xFFFF'FFFF'FF20;  // "(not sampled)"
// "[clrscope agent]", which only earlier captures have.
inline constexpr uint64_t kAgentAddress = 0xFFFF'FFFF'FF40;

// Whether an address, cut to 48 bits or not, is of the kernel's half. Those above are.
constexpr bool IsOfKernel(uint64_t address) { return (address >> 47 & 1) != 0; }

}  // namespace clrscope::profile
