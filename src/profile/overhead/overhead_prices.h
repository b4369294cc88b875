// SPDX-License-Identifier: Apache-2.0
// What events take the process that makes them, of its CPU time: docs/performance.md.
#pragma once

namespace clrscope::profile {

// An event with its stack, and each frame of that.
inline constexpr double kNsPerAllocationEvent = 1'500, kNsPerThrow = 2'500, kNsPerFrame = 100;
// A session that is opened for a window of time and stopped, with the reminder after it.
inline constexpr double kNsPerWindow = 1'500'000;
// A start and a stop.
inline constexpr double kNsPerWait = 7'600;
// Samples of CPU time: by the kernel (an upper bound), and by stops from outside (50 µs where the
// thread goes on on its processor).
inline constexpr double kNsPerKernelSample = 25'000, kNsPerStop = 350'000;
// What clrscope takes itself: to walk a sample's stack, and for a look at all threads of a program.
inline constexpr double kNsPerSampleRead = 50'000, kNsPerLook = 250'000;
// … and to stop a thread for a sample.
inline constexpr double kNsPerStopMade = 110'000;

}  // namespace clrscope::profile
