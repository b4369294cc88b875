// SPDX-License-Identifier: Apache-2.0
// Who samples the CPU time of a process: the kernel where it may, else stops from outside.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "capture/kernel/kernel_sampler.h"
#include "capture/kernel/stop_sampler.h"
#include "capture/sessions/target_options.h"
#include "ipc/processes/dotnet_process.h"
#include "profile/estimate/cpu_sampler.h"

namespace clrscope::capture {

struct OpenedSampler {
  profile::CpuSampler by = profile::CpuSampler::kNone;  // kNone: there are no samples
  uint32_t hz = 0;                                      // as many as the limit leaves
  std::unique_ptr<KernelSampler> kernel;
  std::unique_ptr<StopSampler> stops;
  std::string fallback;  // that stops took the kernel's place, and why; of this machine
  std::string note;      // why there are none
};

// The sampler of `options`, whose cpu_hz is not 0. Waits for the agent, where only that can give us
// the right to trace the process. errors: kNotFound; else where there is none and cpu_may_lack is
// false: kPermission with what would allow one, kFailed
Result<OpenedSampler> OpenSampler(const ipc::DotnetProcess& process, const TargetOptions& options);

// Whether this one, or of kNone any, can work here at all, before it is known on which process.
// `children`: on those that we start. errors: kPermission
Status MaySampleHere(profile::CpuSampler by, bool children);

// Whether nobody may sample this process until the agent in it allows it. Loading the agent takes a
// second or so, and is to be done before sessions begin.
bool OnlyAgentAllowsSampling(const ipc::DotnetProcess& process, const TargetOptions& options);

// For `doctor`.
struct SamplersThere {
  profile::CpuSampler by = profile::CpuSampler::kNone;  // what `record --cpu` would take
  std::string what;                                     // one sentence
  std::string fix;  // what would allow a better one; "" when there is none
};
SamplersThere ExamineSamplers(const ipc::DotnetProcess& process);

}  // namespace clrscope::capture
