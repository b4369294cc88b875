// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "capture/proc/thread_names.h"

namespace clrscope::capture {

void ReadThreadNames(pid_t pid, StringPool& strings, std::map<uint64_t, StringId>& names) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir.get())) {
    const uint64_t thread = std::strtoull(entry->d_name, nullptr, 10);
    if (thread == 0) continue;
    const Fd file(::open(fmt::format("{}/{}/comm", folder, thread).c_str(), O_RDONLY | O_CLOEXEC));
    char text[64];
    const ssize_t n = file.valid() ? ::read(file.get(), text, sizeof text) : -1;
    if (n <= 0) continue;
    std::string_view name(text, static_cast<size_t>(n));
    while (name.ends_with('\n')) name.remove_suffix(1);
    if (names.size() < kMostThreadNames || names.contains(thread))
      names[thread] = strings.Intern(name);
  }
}

}  // namespace clrscope::capture
