// SPDX-License-Identifier: Apache-2.0
// The agent's part in samples of CPU time: when they are taken, and who is sent them.
#include "agent/host/agent.h"

namespace clrscope::agent {

void Agent::BeginCpu() {
  if (options_.cpu_hz == 0) return;
  if (Status s = cpu_.Start(options_.cpu_hz, Now()); !s.ok()) failure_ = s.error().message;
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
