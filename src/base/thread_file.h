// SPDX-License-Identifier: Apache-2.0
// Small files of the threads of a process. Source: proc(5), /proc/PID/task
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace clrscope {

// `tasks`: a descriptor of that folder. The file's text, as far as there is room; "" when it cannot
// be read.
std::string_view ReadThreadFile(int tasks, uint64_t thread, const char* file, std::span<char> room);

}  // namespace clrscope
