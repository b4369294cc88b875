// SPDX-License-Identifier: Apache-2.0
#include "capture/agents/agent_permission.h"

#include <chrono>
#include <memory>

#include "capture/agents/agent_link.h"
#include "capture/kernel/trace_right.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskPatience = 5s, kLoadPatience = 30s;

Status AskForPermission(pid_t pid) {
  const Result<std::string> answer = AskAgent(pid, "ptracer", ipc::Deadline::After(kAskPatience));
  return answer.ok() ? OkStatus() : Status(answer.error());
}

}  // namespace

void AskForTraceRight(pid_t pid) {
  if (const auto refusal = WhyNotTraced(pid); refusal && refusal->by_yama)
    (void)AskForPermission(pid);
}

Status LoadAgentForTraceRight(pid_t pid) {
  const auto deadline = ipc::Deadline::After(kLoadPatience);
  RETURN_IF_ERROR(AttachAgent(pid, "owned=1,idle=1", deadline));
  // It goes when its owner does, which we are; what it has allowed stays.
  ASSIGN_OR_RETURN(const std::unique_ptr<AgentSubscription> owner,
                   AgentSubscription::Open(pid, deadline));
  return AskForPermission(pid);
}

bool HasOrMayGetAgent(const ipc::DotnetProcess& process) {
  return WhyNoAgent(process).empty() ||
         AskAgent(process.pid, "status", ipc::Deadline::After(kAskPatience)).ok();
}

}  // namespace clrscope::capture
