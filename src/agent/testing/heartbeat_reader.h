// SPDX-License-Identifier: Apache-2.0
// The heartbeat of an agent in this process, found as clrscope finds it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <filesystem>
#include <optional>

#include "base/fd.h"
#include "base/heartbeat_page.h"

namespace clrscope::agent {

// Its page, for good; null: there is none.
inline const HeartbeatPage* MapHeartbeatHere() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (!std::filesystem::read_symlink(entry, gone).string().starts_with(HeartbeatPage::kLink))
      continue;
    const Fd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    void* at = ::mmap(nullptr, sizeof(HeartbeatPage), PROT_READ, MAP_SHARED, fd.get(), 0);
    return at == MAP_FAILED ? nullptr : static_cast<const HeartbeatPage*>(at);
  }
  return nullptr;
}

// nullopt: there is none.
inline std::optional<HeartbeatState> ReadHeartbeatHere() {
  const HeartbeatPage* page = MapHeartbeatHere();
  return page == nullptr ? std::nullopt : ReadHeartbeatPage(*page);
}

}  // namespace clrscope::agent
