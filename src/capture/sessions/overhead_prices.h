// SPDX-License-Identifier: Apache-2.0
// What events take the process that makes them, of its CPU time: docs/performance.md.
#pragma once

namespace clrscope::capture {

inline constexpr double kNsPerAllocationEvent = 5'000;
inline constexpr double kNsPerThrow = 3'000;
// A start and a stop.
inline constexpr double kNsPerWait = 7'600;
// Samples of CPU time: by the kernel (an upper bound) and by the agent.
inline constexpr double kNsPerKernelSample = 25'000, kNsPerAgentSample = 2'500;

}  // namespace clrscope::capture
