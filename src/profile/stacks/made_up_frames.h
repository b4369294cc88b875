// SPDX-License-Identifier: Apache-2.0
// Frames of stacks that are no code of the process. They stand in trees as addresses that no
// program can run at: the last ones of the kernel's half.
#pragma once

#include <cstdint>

namespace clrscope::profile {

inline constexpr uint64_t kKernelAddress = ~uint64_t{0x10};      // "[kernel]"
inline constexpr uint64_t kNotSampledAddress = ~uint64_t{0x20};  // "(not sampled)"

}  // namespace clrscope::profile
