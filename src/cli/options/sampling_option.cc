// SPDX-License-Identifier: Apache-2.0
#include "cli/options/sampling_option.h"

#include <fmt/format.h>

namespace clrscope::cli {

void AddSamplingOptions(VerbOptions& verb, std::string& sampling, unsigned& buffer_mb) {
  verb.Add("--sampling", sampling,
           "auto, poisson (AllocationSampled, .NET 10) or tick (AllocationTick)")
      .Value("HOW")
      .OneOf({"auto", "poisson", "tick"});
  verb.Add("--buffersize", buffer_mb,
           "MB that the runtime may buffer events in; 256 "
           "by default")
      .Value("MB");
}

Result<capture::Sampling> ParseSampling(const std::string& text) {
  if (text == "auto") return capture::Sampling::kAuto;
  if (text == "poisson") return capture::Sampling::kPoisson;
  if (text == "tick") return capture::Sampling::kTick;
  return Error{ErrorCode::kUsage, fmt::format("--sampling {}: use auto, poisson or tick", text)};
}

}  // namespace clrscope::cli
