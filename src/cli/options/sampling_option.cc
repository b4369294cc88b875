// SPDX-License-Identifier: Apache-2.0
#include "cli/options/sampling_option.h"

#include <fmt/format.h>

namespace clrscope::cli {

void AddSamplingOptions(VerbOptions& verb, std::string& sampling, unsigned& buffer_mb) {
  verb.Add("--sampling", sampling,
           "how to sample allocations: poisson (AllocationSampled, .NET 10), tick "
           "(AllocationTick), or auto (default: poisson if the runtime has it, else tick)")
      .Value("HOW")
      .OneOf({"auto", "poisson", "tick"});
  verb.Add("--buffersize", buffer_mb,
           fmt::format("size of the runtime's event buffer in MB (default {})",
                       buffer_mb != 0 ? std::to_string(buffer_mb) : "256; 1024 with --types all"))
      .Value("MB");
}

Result<capture::Sampling> ParseSampling(const std::string& text) {
  if (text == "auto") return capture::Sampling::kAuto;
  if (text == "poisson") return capture::Sampling::kPoisson;
  if (text == "tick") return capture::Sampling::kTick;
  return Error{ErrorCode::kUsage, fmt::format("--sampling {}: use auto, poisson or tick", text)};
}

}  // namespace clrscope::cli
