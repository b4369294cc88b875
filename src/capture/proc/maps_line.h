// SPDX-License-Identifier: Apache-2.0
// The text of /proc/PID/maps, and a line of it. Source: proc(5)
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace clrscope::capture {

// With W^X the runtime's code lies in a memory file that it maps twice.
// Source: dotnet/runtime src/coreclr/minipal/Unix/doublemapping.cpp
inline constexpr std::string_view kRuntimeCodeFile = "/memfd:doublemapper";

// Views are parts of the line.
struct MapsLine {
  uint64_t start = 0, end = 0, offset = 0, inode = 0;  // what is no number is 0
  std::string_view permissions, device, path;          // "r-xp"; "08:01"; "" = no file
  bool executable() const { return permissions.size() >= 3 && permissions[2] == 'x'; }
};

// `text` without its newline. Returns false where it does not begin with a span of addresses.
bool ParseMapsLine(std::string_view text, MapsLine& out);

// The whole text; "": the process is gone, or it may not be looked at.
std::string MapsOf(pid_t pid);

}  // namespace clrscope::capture
