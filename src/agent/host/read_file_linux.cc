// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "agent/host/read_file.h"
#include "base/fd.h"

namespace clrscope::agent {

bool ReadFile(const char* path, std::string* text) {
  const Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  char buffer[16 * 1024];
  while (fd.valid()) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    text->append(buffer, static_cast<size_t>(n));
  }
  return false;
}

}  // namespace clrscope::agent
