// SPDX-License-Identifier: Apache-2.0
// One process's runtime as a recording uses it: sessions are opened, stopped, dropped. The seam
// between the engine and the world; tests put recorded streams behind it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "capture/streams/stream_ring.h"
#include "ipc/protocol/session_config.h"

namespace clrscope::capture {

struct OpenedStream {
  uint64_t id = 0;                   // for Stop()
  std::shared_ptr<StreamRing> ring;  // being filled from now on, closed when the stream ends
};

// Calls wait for the runtime, and come from any thread.
class RuntimeLink {
 public:
  virtual ~RuntimeLink() = default;
  virtual Result<OpenedStream> Open(const ipc::SessionConfig& config) = 0;
  // Returns when the session has ended, its rundown included.
  virtual Status Stop(uint64_t id) = 0;
  // Stops reading without a word; never waits. The ring is closed.
  virtual void Drop(const std::shared_ptr<StreamRing>& ring) = 0;
};

// Makes the runtime look again at what is asked of it, by a session that asks for next to nothing.
// Best effort; waits for the runtime.
void Remind(RuntimeLink& link);

}  // namespace clrscope::capture
