// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/open_sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "capture/agents/agent_permission.h"
#include "capture/kernel/trace_right.h"
#include "profile/overhead/overhead_prices.h"

namespace clrscope::capture {
namespace {

using profile::CpuSampler;

constexpr const char* kWithoutRights =
    "`--sampler runtime` needs no right, but stops the whole program 1,000 times a second";
constexpr const char* kAllowsKernel =
    "kernel.perf_event_paranoid=2 or the capability CAP_PERFMON, and in a container a seccomp "
    "profile with perf_event_open, would allow the kernel's sampler";

// As many as are asked for and the limit leaves.
uint32_t SampleRate(const TargetOptions& options, CpuSampler by) {
  if (options.max_overhead <= 0) return options.cpu_hz;
  // Half of it: the rest is for everything else.
  const double taken = by == CpuSampler::kPtrace ? profile::kNsPerStop + profile::kNsPerStopMade
                                                 : profile::kNsPerKernelSample;
  const double most = options.max_overhead / 2 * 1e9 / (taken + profile::kNsPerSampleRead);
  return std::min(options.cpu_hz, static_cast<uint32_t>(std::max(1.0, most)));
}

Status OpenKernelSampler(const ipc::DotnetProcess& process, const TargetOptions& options,
                         OpenedSampler& out) {
  KernelSampler::Options sampler;
  sampler.rate_hz = SampleRate(options, CpuSampler::kKernel);
  // Each CPU has samples of all that runs there, with a copy of the stack: not too many.
  constexpr size_t kMostCpusAsAWhole = 32;
  sampler.most_cpus_as_a_whole = kMostCpusAsAWhole;
  ASSIGN_OR_RETURN(out.kernel, KernelSampler::Open(process.pid, sampler));
  out.by = CpuSampler::kKernel;
  out.hz = sampler.rate_hz;
  return OkStatus();
}

Status OpenStopSampler(const ipc::DotnetProcess& process, const TargetOptions& options,
                       OpenedSampler& out) {
  const uint32_t hz = SampleRate(options, CpuSampler::kPtrace);
  AskForTraceRight(process.pid);
  ASSIGN_OR_RETURN(out.stops, StopSampler::Open(process.pid, hz));
  out.by = CpuSampler::kPtrace;
  out.hz = hz;
  return OkStatus();
}

std::string ByStops(const Error& kernel) {
  return "CPU time is sampled by stopping threads that run, for some 40 µs each: " + kernel.message;
}

Error NeitherOf(const Error& kernel, const Error& stops) {
  return {ErrorCode::kPermission,
          fmt::format("CPU time cannot be sampled: {}. Threads may not be stopped for samples, "
                      "either: {}. {}",
                      kernel.message, stops.message, kWithoutRights)};
}

Status OpenEither(const ipc::DotnetProcess& process, const TargetOptions& options,
                  OpenedSampler& out) {
  const Status kernel = OpenKernelSampler(process, options, out);
  if (kernel.ok() || kernel.error().code == ErrorCode::kNotFound) return kernel;
  const Status stops = OpenStopSampler(process, options, out);
  if (!stops.ok())
    return stops.error().code == ErrorCode::kNotFound ? stops
                                                      : NeitherOf(kernel.error(), stops.error());
  out.fallback = ByStops(kernel.error());
  return OkStatus();
}

Status OpenChosen(const ipc::DotnetProcess& process, const TargetOptions& options,
                  OpenedSampler& out) {
  switch (options.sampler) {
    case CpuSampler::kNone:
      return OpenEither(process, options, out);
    case CpuSampler::kKernel:
      return OpenKernelSampler(process, options, out);
    case CpuSampler::kPtrace:
      return OpenStopSampler(process, options, out);
    case CpuSampler::kRuntime:  // an event provider of the main session
      out.by = options.sampler;
      out.hz = options.cpu_hz;
      return OkStatus();
    case CpuSampler::kAgent:
      break;
  }
  return Error{ErrorCode::kUsage, "nothing samples CPU time by signals any more"};
}

}  // namespace

Result<OpenedSampler> OpenSampler(const ipc::DotnetProcess& process, const TargetOptions& options) {
  OpenedSampler out;
  const Status opened = OpenChosen(process, options, out);
  if (opened.ok()) return out;
  if (!options.cpu_may_lack || opened.error().code == ErrorCode::kNotFound) return opened.error();
  OpenedSampler none;
  const bool either = options.sampler == CpuSampler::kNone;  // which says so itself
  none.note = (either ? "" : "CPU time is not sampled: ") + opened.error().message;
  return none;
}

Status MaySampleHere(CpuSampler by, bool children) {
  const auto kernel = [] {
    // Of one's own process it is allowed where it is allowed at all.
    const Result<std::unique_ptr<KernelSampler>> own = KernelSampler::Open(::getpid(), {});
    return own.ok() ? OkStatus() : Status(own.error());
  };
  const auto stops = [children] {
    const auto refusal = WhyNobodyTraced(children);
    return refusal ? Status(refusal->error()) : OkStatus();
  };
  if (by == CpuSampler::kKernel) return kernel();
  if (by == CpuSampler::kPtrace) return stops();
  if (by != CpuSampler::kNone) return OkStatus();
  const Status first = kernel();
  if (first.ok()) return first;
  const Status second = stops();
  return second.ok() ? second : Status(NeitherOf(first.error(), second.error()));
}

bool OnlyAgentAllowsSampling(const ipc::DotnetProcess& process, const TargetOptions& options) {
  if (options.cpu_hz == 0 ||
      (options.sampler != CpuSampler::kNone && options.sampler != CpuSampler::kPtrace))
    return false;
  const auto refusal = WhyNotTraced(process.pid);
  if (!refusal || !refusal->by_yama) return false;
  return options.sampler == CpuSampler::kPtrace || !KernelSampler::Open(process.pid, {}).ok();
}

SamplersThere ExamineSamplers(const ipc::DotnetProcess& process) {
  const Result<std::unique_ptr<KernelSampler>> kernel = KernelSampler::Open(process.pid, {});
  if (kernel.ok() && (*kernel)->sees_kernel())
    return {CpuSampler::kKernel,
            "CPU time is sampled by the kernel (perf_event_open), its own time included",
            {}};
  if (kernel.ok())
    return {CpuSampler::kKernel,
            "CPU time is sampled by the kernel (perf_event_open); of time in the kernel it tells "
            "how much, not who caused it",
            "kernel.perf_event_paranoid=1 or the capability CAP_PERFMON would tell who"};
  const auto refusal = WhyNotTraced(process.pid);
  const bool by_agent = refusal && refusal->by_yama && HasOrMayGetAgent(process);
  if (!refusal || by_agent)
    return {CpuSampler::kPtrace,
            ByStops(kernel.error()) +
                (by_agent ? fmt::format("; {}, but the agent allows it: `record --cpu` loads it "
                                        "for a moment where it is not there",
                                        refusal->why)
                          : ""),
            kAllowsKernel};
  return {CpuSampler::kNone,
          fmt::format("CPU time cannot be sampled: {}; {}", kernel.error().message, refusal->why),
          fmt::format("{}; {}", refusal->fix, kWithoutRights)};
}

}  // namespace clrscope::capture
