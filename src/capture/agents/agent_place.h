// SPDX-License-Identifier: Apache-2.0
// Puts the agent's library where a process can load it: in its own mount namespace, as its own
// user, in a folder that is neither read-only nor noexec; and takes it away again.
#pragma once

#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "capture/agents/agent_libc.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::capture {

class PlacedAgent {
 public:
  // `folder`: of the file, open, so that it can be found when the process, and with it the way to
  // its root, is gone.
  PlacedAgent(std::string path, Fd folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  PlacedAgent(PlacedAgent&&) noexcept = default;
  PlacedAgent& operator=(PlacedAgent&&) = delete;
  ~PlacedAgent();  // a loaded library stays mapped

  const std::string& path() const { return path_; }  // as the process sees it

 private:
  std::string path_;
  Fd folder_;
};

// The library for that C library. errors: kPermission or kRefused, with what was wrong with each
// folder; kRefused when there is no agent for it
Result<PlacedAgent> PlaceAgent(const ipc::ProcessFacts& facts, Libc libc);

// Why no folder will do, one sentence; "" where one may. Nothing is written.
std::string WhyNoPlace(const ipc::ProcessFacts& facts);

// Writes the library to `path`, mode 0500 and owned by `uid` where we may say so. Replaces what is
// there. errors: kIo, kPermission, kRefused
Status WriteAgent(const std::string& path, uid_t uid, Libc libc);

}  // namespace clrscope::capture
