// SPDX-License-Identifier: Apache-2.0
// The heartbeat of an agent in this process, read as clrscope reads it: in a file of /proc.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/heartbeat_page.h"

namespace clrscope::agent {

struct HeartbeatReading {
  std::string call;
  int64_t begin_ns = 0, end_ns = 0;
};

// nullopt: there is none.
inline std::optional<HeartbeatReading> ReadHeartbeatHere() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (!std::filesystem::read_symlink(entry, gone)
             .string()
             .starts_with(std::string("/memfd:") + HeartbeatPage::kFileName))
      continue;
    const Fd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    HeartbeatPage page;
    for (;;) {
      if (::pread(fd.get(), &page, sizeof page, 0) != sizeof page) return std::nullopt;
      const uint64_t sequence = page.sequence.load();
      if (::pread(fd.get(), &page, sizeof page, 0) != sizeof page) return std::nullopt;
      if (sequence % 2 == 0 && page.sequence.load() == sequence) break;
    }
    if (page.magic != HeartbeatPage::kMagic) return std::nullopt;
    const char* name = reinterpret_cast<const char*>(page.name.data());
    return HeartbeatReading{std::string(name, ::strnlen(name, HeartbeatPage::kNameBytes)),
                            page.begin_ns.load(), page.end_ns.load()};
  }
  return std::nullopt;
}

}  // namespace clrscope::agent
