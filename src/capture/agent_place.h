// SPDX-License-Identifier: Apache-2.0
// Puts the agent's library where a process can load it: in its own mount namespace, as its own
// user, in a folder that is neither read-only nor noexec; and takes it away again.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "ipc/process_facts.h"

namespace clrscope::capture {

class PlacedAgent {
 public:
  PlacedAgent(std::string path, std::string outer)
      : path_(std::move(path)), outer_(std::move(outer)) {}
  PlacedAgent(PlacedAgent&& o) noexcept
      : path_(std::move(o.path_)), outer_(std::exchange(o.outer_, {})) {}
  PlacedAgent& operator=(PlacedAgent&&) = delete;
  ~PlacedAgent();  // a loaded library stays mapped

  const std::string& path() const { return path_; }  // as the process sees it

 private:
  std::string path_, outer_;
};

// errors: kPermission or kRefused, with what was wrong with each folder
Result<PlacedAgent> PlaceAgent(const ipc::ProcessFacts& facts);

// Writes the library to `path`, mode 0500 and owned by `uid` where we may say so. Replaces what is
// there. errors: kIo, kPermission
Status WriteAgent(const std::string& path, uid_t uid);

}  // namespace clrscope::capture
