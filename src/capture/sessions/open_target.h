// SPDX-License-Identifier: Apache-2.0
// Opens the sessions of a process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/sessions/open_sampler.h"
#include "capture/sessions/runtime_link.h"
#include "capture/sessions/target_options.h"
#include "ipc/processes/dotnet_process.h"
#include "profile/estimate/source.h"
#include "symbol_files/module_files.h"

namespace clrscope::capture {

// The sessions of a process that has been asked for them and is not yet a target: what arrives
// waits in the rings. Streams that nobody takes over are dropped.
struct OpenedTarget {
  // kRundown and kSettings are stopped early, for what their stop brings.
  enum class Kind : uint8_t {
    kMain,
    kCounts,
    kExceptions,
    kExceptionsEnding,  // being stopped, as a storm begins
    kWindow,            // exceptions, for a moment
    kCounter,           // how many exceptions there are
    kAllocations,
    kAllocationsEnding,  // being stopped, as windows begin
    kAllocationWindow,   // allocations, for a moment
    kAllocationCounter,  // how much there is allocated
    kLocks,
    kThreadSamples,  // the runtime's sampler
    kPool,           // counters of the thread pool
    kRequests,
    kRequestsEnding,  // being stopped, as windows begin
    kRequestWindow,   // requests, for a moment
    kTasks,           // what threads do for requests
    kTasksEnding,     // being stopped: it would cost too much
    kTaskWindow,      // … for a moment
    kRouting,         // what paths of requests are routed to, for a moment
    kRequestCounter,
    kEntryPoints,
    kLines,  // maps of code to IL
    kRundown,
    kSettings
  };
  struct Stream {
    OpenedStream opened;
    Kind kind = Kind::kMain;
  };

  OpenedTarget() = default;
  OpenedTarget(OpenedTarget&&) = default;
  OpenedTarget& operator=(OpenedTarget&&) = default;
  ~OpenedTarget();

  ipc::DotnetProcess process;
  std::shared_ptr<RuntimeLink> link;
  profile::Source source = profile::Source::kTick;
  std::vector<Stream> streams;
  std::optional<symbol_files::ModuleFiles> files;  // nothing: they may not be seen
  std::string request_counter;                     // the identifier of that session
  OpenedSampler sampler;
  std::vector<std::string> notes;
  bool rundown_failed = false;
  bool fresh = false;
};

// Opens the sessions; waits for the runtime, and may run on any thread. `fresh`: the runtime is
// starting, so there is nothing to run down yet.
Result<OpenedTarget> OpenTarget(const ipc::DotnetProcess& process,
                                std::shared_ptr<RuntimeLink> link, const TargetOptions& options,
                                bool fresh);

}  // namespace clrscope::capture
