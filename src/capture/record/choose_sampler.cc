// SPDX-License-Identifier: Apache-2.0
#include "capture/record/choose_sampler.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "capture/agents/agent_image.h"
#include "capture/agents/agent_libc.h"
#include "capture/agents/agent_place.h"
#include "capture/kernel/kernel_sampler.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::capture {
namespace {

constexpr int kAgentSince = 8;

}  // namespace

std::string WhyNoAgent(const ipc::DotnetProcess& process) {
  const int major = ipc::MajorVersion(process.clr_version);
  if (major != 0 && major < kAgentSince)
    return fmt::format("it needs .NET {} or later", kAgentSince);
  const Result<ipc::ProcessFacts> facts = ipc::GatherFacts(process.pid);
  if (!facts.ok()) return facts.error().message;
  if (!HasAgentFor(LibcOf(process, *facts)))
    return fmt::format("the process runs on musl, and {}", kNoAgentForMusl);
  const auto on = ipc::FindVariable(facts->environ, "CORECLR_ENABLE_PROFILING");
  if (on && *on == "1") return "another profiler was loaded when the process began";
  return WhyNoPlace(*facts);
}

Result<ChosenSampler> ChooseSampler(SamplerChoice choice, std::span<const pid_t> pids,
                                    bool agent_can) {
  using profile::CpuSampler;
  if (choice == SamplerChoice::kKernel) return ChosenSampler{CpuSampler::kKernel, {}};
  if (choice == SamplerChoice::kPtrace) return ChosenSampler{CpuSampler::kPtrace, {}};
  if (choice == SamplerChoice::kAgent) return ChosenSampler{CpuSampler::kAgent, {}};
  if (choice == SamplerChoice::kRuntime)
    return ChosenSampler{CpuSampler::kRuntime,
                         "the runtime's sampler stops the program 1,000 times a second, and tells "
                         "managed code alone"};
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

SamplersThere ExamineSamplers(const ipc::DotnetProcess& process) {
  SamplersThere out;
  const std::string why_no_agent = WhyNoAgent(process);
  out.agent = why_no_agent.empty();
  const Result<std::unique_ptr<KernelSampler>> kernel = KernelSampler::Open(process.pid, {});
  out.kernel = kernel.ok();
  if (out.kernel && (*kernel)->sees_kernel()) {
    out.what = "CPU time is sampled by the kernel (perf_event_open), its own time included";
    return out;
  }
  if (out.kernel) {
    out.what =
        "CPU time is sampled by the kernel (perf_event_open); of time in the kernel it tells how "
        "much, not who caused it";
    out.fix = "kernel.perf_event_paranoid=1 or the capability CAP_PERFMON would tell who";
    return out;
  }
  out.what = kernel.error().message;
  out.what += out.agent ? "; `record --cpu` loads the agent, which samples in its place"
                        : fmt::format("; the agent cannot sample in its place: {}", why_no_agent);
  out.fix =
      "kernel.perf_event_paranoid=2 or the capability CAP_PERFMON, and in a container a seccomp "
      "profile with perf_event_open, would allow the kernel's sampler";
  return out;
}

}  // namespace clrscope::capture
