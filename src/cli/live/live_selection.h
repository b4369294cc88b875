// SPDX-License-Identifier: Apache-2.0
// What the live verbs share: which processes they look at, and the engine that looks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/sessions/session_engine.h"
#include "capture/watch/live_view.h"
#include "cli/options/measures_option.h"
#include "cli/options/options.h"

namespace clrscope::cli {

struct LiveSelection {
  std::vector<int> pids;
  std::vector<std::string> names;
  bool all = false;
  std::string sampling = "auto";
  unsigned buffer_mb = 64;
  bool pool = false;          // the thread pool's counters
  MeasureArguments measures;  // of verbs that show more than allocations
  bool discovers() const { return all || !names.empty(); }
};
void AddLiveSelection(VerbOptions& verb, LiveSelection& selection);
// --pool
void AddPoolOption(VerbOptions& verb, LiveSelection& selection);

// An engine that looks at them. `prepare` is called with it before the first process is joined.
// errors: usage, no such process, permission, the system's
Result<std::unique_ptr<capture::SessionEngine>> StartEngine(
    const LiveSelection& selection, bool keep_tables,
    const std::function<void(capture::SessionEngine&)>& prepare);

struct LiveEngine {
  std::unique_ptr<capture::SessionEngine> engine;
  std::unique_ptr<capture::LiveView> view;
};
// errors: as StartEngine()
Result<LiveEngine> StartLive(const LiveSelection& selection);

// Ctrl-Z: stops this process until it is continued. A stopped reader would hold up the targets, so
// no session stays open meanwhile; what could not be opened again is warned of.
// `screen`: called with false before, with true after.
void SuspendLive(capture::SessionEngine& engine, const std::function<void(bool)>& screen = {});

// Ends all sessions; a second signal or the patience ends the waiting.
void StopLive(capture::SessionEngine& engine);

}  // namespace clrscope::cli
