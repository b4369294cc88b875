// SPDX-License-Identifier: Apache-2.0
// The names that the runtime gives to the garbage collector's own threads, as the system shows
// them: one for each heap of server GC, one that collects in the background. Source: dotnet/runtime
// src/coreclr/gc/gc.cpp (create_thread_support, bgc_thread_function)
#pragma once

#include <string_view>

namespace clrscope::clr {

inline constexpr std::string_view kServerGcThread = ".NET Server GC";
inline constexpr std::string_view kBackgroundGcThread = ".NET BGC";

}  // namespace clrscope::clr
