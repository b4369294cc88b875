// SPDX-License-Identifier: Apache-2.0
// Whether samples of the runtime's sampler report which threads ran managed code. Some runtimes
// report nearly all threads as outside of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope::analysis {

// .NET 9 does not, whatever its samples say.
bool ThreadModesNeverTold(std::string_view runtime);

// `runtime`: as profile::Process::runtime. `methods`: the process told of compiled code, which
// Native AOT does not. `managed` of `all` samples are of threads in managed code.
//
// .NET 9 never reports it; a thread that starts is an exception (dotnet/runtime#123996, repaired in
// release/10.0 by #124084 and in .NET 11). .NET before 7 does not on Windows (dotnet/runtime#45179,
// repaired by #59974). Native AOT does since .NET 11 (dotnet/runtime#125764). Measured on Linux:
// .NET Core 3.1, .NET 8, 10.0.11 and 11 report it; .NET 9.0.22 and Native AOT 10.0.12 do not. Of
// versions in between and unknown ones the share of managed samples decides, once there are some:
// threads that start are a handful.
bool ThreadModesTold(std::string_view runtime, bool methods, uint64_t managed, uint64_t all);

}  // namespace clrscope::analysis
