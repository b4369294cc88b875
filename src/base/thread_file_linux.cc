// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "base/fd.h"
#include "base/thread_file.h"

namespace clrscope {

std::string_view ReadThreadFile(int tasks, uint64_t thread, const char* file,
                                std::span<char> room) {
  char path[48];
  (void)std::snprintf(path, sizeof path, "%" PRIu64 "/%s", thread, file);
  const Fd fd(::openat(tasks, path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = fd.valid() ? ::read(fd.get(), room.data(), room.size()) : 0;
  return n > 0 ? std::string_view(room.data(), static_cast<size_t>(n)) : std::string_view();
}

}  // namespace clrscope
