// SPDX-License-Identifier: Apache-2.0
// Reading files below /proc, which have no size and may vanish at any time.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ipc/processes/proc_text.h"

namespace clrscope::ipc {

// At most `limit` bytes. errors: kNotFound (also when the process ended while it was read),
// kPermission, kIo
Result<std::string> ReadFile(const std::string& path, size_t limit = 4u << 20);
// errors: of ReadFile()
Result<ProcStatus> ReadProcStatus(pid_t pid);
// Target of a symbolic link, "" when it cannot be read.
std::string ReadLink(const std::string& path);
// Names in a folder without "." and "..", at most `limit`; empty when it cannot be read.
std::vector<std::string> ListFolder(const std::string& path, size_t limit = SIZE_MAX);
// Whether `needle` occurs in the first `limit` bytes of a file that can be read.
bool FileHolds(const std::string& path, std::string_view needle, size_t limit);

}  // namespace clrscope::ipc
