// SPDX-License-Identifier: Apache-2.0
// Who samples the CPU time of a recording: the kernel where it may, else the agent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "ipc/processes/dotnet_process.h"
#include "profile/estimate/cpu_sampler.h"

namespace clrscope::capture {

// What the user asked for.
enum class SamplerChoice : uint8_t { kAuto, kKernel, kPtrace, kAgent, kRuntime };

struct ChosenSampler {
  profile::CpuSampler sampler = profile::CpuSampler::kKernel;
  std::string note;  // why it is not the kernel, one sentence; "" where there is nothing to say
};

// Of all of these processes together; a program that is yet to be started is asked for by our own.
// `agent_can`: it could be loaded into them. errors: kNotFound; of the kernel's sampler, where
// nothing can take its place
Result<ChosenSampler> ChooseSampler(SamplerChoice choice, std::span<const pid_t> pids,
                                    bool agent_can);

// Why the agent cannot be loaded, one sentence; "" where it can, as far as can be said without
// trying.
std::string WhyNoAgent(const ipc::DotnetProcess& process);

// Which sampler can work on a process, for `doctor`.
struct SamplersThere {
  bool kernel = false, agent = false;
  std::string what;  // one sentence
  std::string fix;   // what would allow a better one; "" when there is none
};
SamplersThere ExamineSamplers(const ipc::DotnetProcess& process);

}  // namespace clrscope::capture
