// SPDX-License-Identifier: Apache-2.0
#include "capture/record/choose_sampler.h"

#include <memory>

#include "capture/kernel/kernel_sampler.h"

namespace clrscope::capture {

Result<ChosenSampler> ChooseSampler(SamplerChoice choice, std::span<const pid_t> pids,
                                    bool agent_can) {
  using profile::CpuSampler;
  if (choice == SamplerChoice::kKernel) return ChosenSampler{CpuSampler::kKernel, {}};
  if (choice == SamplerChoice::kAgent) return ChosenSampler{CpuSampler::kAgent, {}};
  if (!agent_can) return ChosenSampler{CpuSampler::kKernel, {}};
  for (const pid_t pid : pids) {
    const Result<std::unique_ptr<KernelSampler>> kernel = KernelSampler::Open(pid, {});
    if (kernel.ok()) continue;
    if (kernel.error().code == ErrorCode::kNotFound) return kernel.error();
    return ChosenSampler{
        CpuSampler::kAgent,
        kernel.error().message + "; so the agent samples CPU time, and is taken out at the end"};
  }
  return ChosenSampler{CpuSampler::kKernel, {}};
}

}  // namespace clrscope::capture
