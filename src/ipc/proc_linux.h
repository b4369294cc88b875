// SPDX-License-Identifier: Apache-2.0
// Reading files below /proc, which have no size and may vanish at any time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clrscope::ipc {

// At most `limit` bytes. errors: kNotFound (also when the process ended while it was read),
// kPermission, kIo
Result<std::string> ReadFile(const std::string& path, size_t limit = 4u << 20);
// Target of a symbolic link, "" when it cannot be read.
std::string ReadLink(const std::string& path);
// Names in a folder without "." and "..", at most `limit`; empty when it cannot be read.
std::vector<std::string> ListFolder(const std::string& path, size_t limit = SIZE_MAX);
// The first of `needles` that occurs in the first `limit` bytes of a file; "" if none does.
std::string_view FindInFile(const std::string& path, const std::vector<std::string_view>& needles,
                            size_t limit);

}  // namespace clrscope::ipc
