// SPDX-License-Identifier: Apache-2.0
// What the verbs that record share: --sampling and --buffersize.
#pragma once

#include <string>

#include "base/result.h"
#include "capture/sessions/providers.h"
#include "cli/options/options.h"

namespace clrscope::cli {

// `buffer_mb`: the verb's own default; 0: that of `record`.
void AddSamplingOptions(VerbOptions& verb, std::string& sampling, unsigned& buffer_mb);
// errors: kUsage
Result<capture::Sampling> ParseSampling(const std::string& text);

}  // namespace clrscope::cli
