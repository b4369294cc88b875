// SPDX-License-Identifier: Apache-2.0
// The name of an agent's control socket, on which both sides agree: it lies where the runtime's
// diagnostics socket does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clrscope {

// `pid`: as the process itself sees it; `start_ticks`: field 22 of its /proc stat.
std::string ControlSocketName(uint32_t pid, uint64_t start_ticks);

// It is bound with this at its end, and then renamed: the path of a socket has at most 107 bytes.
// Source: unix(7)
inline constexpr std::string_view kControlSocketBefore = ".new";
inline constexpr size_t kMostControlPath = 107 - kControlSocketBefore.size();

// Field 22 of a /proc/PID/stat file; 0 when it cannot be read.
uint64_t StartTicks(const char* stat_path);

}  // namespace clrscope
