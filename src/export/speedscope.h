// SPDX-License-Identifier: Apache-2.0
// speedscope's own JSON format, for its flame graph, left-heavy and sandwich views.
#pragma once

#include "base/byte_sink.h"
#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::exporter {

struct SpeedscopeOptions {
  bool keep_machinery = false;  // keep async and thread-pool plumbing
};

// Streams one JSON document (UTF-8, one line feed at its end). For each process a "sampled"
// profile in bytes, then, when objects are known, one in objects (unit "none"); stacks are root
// first and end with the allocated type. Weights are whole numbers that sum to the rounded total
// of the process. Does not finish `sink`; fails only when it does.
// Source: speedscope.app/file-format-schema.json
Status WriteSpeedscope(const profile::Profile& profile, const SpeedscopeOptions& options,
                       ByteSink& sink);

}  // namespace clrscope::exporter
