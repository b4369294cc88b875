// SPDX-License-Identifier: Apache-2.0
// Where an engine's processes come from. The seam between discovery and recording; tests bring
// processes of their own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "capture/sessions/runtime_link.h"
#include "capture/streams/drain.h"
#include "ipc/processes/dotnet_process.h"

namespace clrscope::capture {

// A process that may be .NET, by what cannot change.
struct ProcessKey {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // a later process of the same pid has another
  auto operator<=>(const ProcessKey&) const = default;
};

class ProcessSource {
 public:
  virtual ~ProcessSource() = default;
  // Readable when Take() has something; -1 = never.
  virtual int fd() const = 0;
  // Processes that have appeared since the last call.
  virtual std::vector<ProcessKey> Take() = 0;
  // What can be said of it now; asks the process itself. On any thread. errors: kNotFound (it has
  // ended)
  virtual Result<ipc::DotnetProcess> Examine(const ProcessKey& key) = 0;
  // The way to its runtime. On any thread. errors: why it cannot be recorded
  virtual Result<std::shared_ptr<RuntimeLink>> Connect(const ipc::DotnetProcess& process) = 0;
};

// The machine's processes, by ipc::ProcessWatch on a thread of its own. `discover` false: nobody
// appears, only those that are asked for are connected to. `drain` must outlive the feed and its
// links.
Result<std::unique_ptr<ProcessSource>> LiveProcesses(bool discover, Drain* drain,
                                                     std::shared_ptr<RingPool> pool);

}  // namespace clrscope::capture
