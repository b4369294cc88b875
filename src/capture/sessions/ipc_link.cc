// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/ipc_link.h"

#include <thread>

#include "capture/sessions/settling.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

// How long a runtime may take to open a session, and to stop one (its rundown included).
constexpr auto kOpenTimeout = 5000ms;
constexpr auto kStopTimeout = 15000ms;

}  // namespace

Result<OpenedStream> IpcLink::Open(const ipc::SessionConfig& config) {
  if (TakesEventSources(config))
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(settled_.load()));
  ASSIGN_OR_RETURN(ipc::Session session,
                   client_.CollectTracing(config, ipc::Deadline::After(kOpenTimeout)));
  OpenedStream out{session.id, std::make_shared<StreamRing>(StreamRing::kDefaultBytes, pool_)};
  RETURN_IF_ERROR(drain_->Add(std::move(session.stream), out.ring));
  return out;
}

Status IpcLink::Stop(uint64_t id) {
  return client_.StopTracing(id, ipc::Deadline::After(kStopTimeout));
}

}  // namespace clrscope::capture
