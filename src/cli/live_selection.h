// SPDX-License-Identifier: Apache-2.0
// What the live verbs share: which processes they look at, and the engine that looks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/live_view.h"
#include "capture/session_engine.h"
#include "cli/options.h"

namespace clrscope::cli {

struct LiveSelection {
  std::vector<int> pids;
  std::vector<std::string> names;
  bool all = false;
  std::string sampling = "auto";
  unsigned buffer_mb = 64;
  bool discovers() const { return all || !names.empty(); }
};
void AddLiveSelection(CLI::App& app, LiveSelection& selection);

struct LiveEngine {
  std::unique_ptr<capture::SessionEngine> engine;
  std::unique_ptr<capture::LiveView> view;
};
// errors: usage, no such process, permission, the system's
Result<LiveEngine> StartLive(const LiveSelection& selection);

// Ends all sessions; a second signal or the patience ends the waiting.
void StopLive(capture::SessionEngine& engine);

}  // namespace clrscope::cli
