// SPDX-License-Identifier: Apache-2.0
// A runtime behind its diagnostics socket; what it sends goes through the drain thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "capture/sessions/runtime_link.h"
#include "capture/streams/drain.h"
#include "ipc/protocol/client.h"
#include "ipc/transport/transport.h"

namespace clrscope::capture {

class IpcLink final : public RuntimeLink {
 public:
  // `drain` must outlive the link. `pool`: memory that its rings share with others', may be null.
  IpcLink(std::unique_ptr<ipc::Transport> transport, Drain* drain, std::shared_ptr<RingPool> pool)
      : transport_(std::move(transport)),
        client_(*transport_),
        drain_(drain),
        pool_(std::move(pool)) {}

  // For a session of EventSources it sleeps until the runtime has settled (settling.h).
  Result<OpenedStream> Open(const ipc::SessionConfig& config) override;
  Status Stop(uint64_t id) override;
  void Drop(const std::shared_ptr<StreamRing>& ring) override { drain_->Remove(ring); }

  // It will have settled in that time; before this is called, it has.
  void SettlesIn(std::chrono::milliseconds time) {
    settled_ = (std::chrono::steady_clock::now() + time).time_since_epoch();
  }

 private:
  std::unique_ptr<ipc::Transport> transport_;
  ipc::Client client_;
  Drain* drain_;
  std::shared_ptr<RingPool> pool_;
  std::atomic<std::chrono::steady_clock::duration> settled_{};  // since that clock began
};

}  // namespace clrscope::capture
