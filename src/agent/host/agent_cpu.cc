// SPDX-License-Identifier: Apache-2.0
// The agent's part in samples of CPU time: when they are taken, and who is sent them.
#include <algorithm>

#include "agent/host/agent.h"
#include "profile/overhead/overhead_prices.h"

namespace clrscope::agent {

void Agent::BeginCpu() {
  if (options_.cpu_hz == 0) return;
  uint32_t hz = options_.cpu_hz;
  if (options_.max_overhead > 0) {
    // Half of what it may take: the rest is for everything else.
    const double most = options_.max_overhead / 2 * 1e9 / profile::kNsPerAgentSample;
    hz = std::min(hz, static_cast<uint32_t>(most));
  }
  if (Status s = cpu_.Start(hz, Now()); !s.ok()) failure_ = s.error().message;
}

void Agent::StepCpu(int64_t now) {
  cpu_.Step(now, !owner_is_missing(), [this](std::string_view batch) { return SendCpu(batch); });
}

void Agent::FinishCpu() {
  cpu_.Finish([this](std::string_view batch) { return SendCpu(batch); });
}

// Before somebody listens nothing is lost: nobody has begun to record.
bool Agent::SendCpu(std::string_view batch) {
  return !control_.has_subscriber() || control_.Send(batch);
}

}  // namespace clrscope::agent
