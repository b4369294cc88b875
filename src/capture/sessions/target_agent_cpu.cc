// SPDX-License-Identifier: Apache-2.0
// CPU time that the agent samples: who takes its batches.
#include "capture/agents/agent_cpu.h"
#include "capture/sessions/target.h"

namespace clrscope::capture {

void Target::BeginAgentCpu() {
  if (options_.cpu_hz == 0 || options_.sampler != profile::CpuSampler::kAgent) return;
  agent_cpu_ =
      std::make_unique<AgentCpu>(process_.pid, process_.inner_pid, options_.cpu_hz, &fold_->cpu(),
                                 home_.clock, tables_, &gc_threads_, KnowCode(), RetireLater());
  fold_->TellCode(&agent_cpu_->stacks());
  if (options_.requests) fold_->requests().FollowRuns();
}

void Target::TickAgentCpu(int64_t now_ns) {
  if (agent_cpu_ == nullptr) return;
  agent_cpu_->Tick(now_ns);
  TakeAgentCpuNotes();
}

void Target::EndAgentCpu() {
  if (agent_cpu_ == nullptr) return;
  agent_cpu_->End();
  TakeAgentCpuNotes();
}

void Target::TakeAgentCpuNotes() {
  for (std::string& note : agent_cpu_->TakeNotes()) notes_.push_back(std::move(note));
}

}  // namespace clrscope::capture
