// SPDX-License-Identifier: Apache-2.0
// speedscope's own JSON format, for its flame graph, left-heavy and sandwich views.
#pragma once

#include "base/byte_sink.h"
#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::exporter {

struct SpeedscopeOptions {
  bool keep_machinery = false;  // keep async and thread-pool plumbing
  bool only_shown = false;      // nothing but the figure that is shown
};

// Streams one JSON document (UTF-8, one line feed at its end). For each measure (see
// FiguresOf) and each process a "sampled" profile of either quantity, the one that tables sort by
// first: bytes, then, when they are known, objects (unit "none"). Of events a quantity that is 0
// throughout is left out. Stacks are root first and end with the type where the measure has one.
// Weights are whole numbers that sum to the rounded total of the process. Does not finish `sink`;
// fails only when it does. Source: speedscope.app/file-format-schema.json
Status WriteSpeedscope(const profile::Profile& profile, const SpeedscopeOptions& options,
                       ByteSink& sink);

}  // namespace clrscope::exporter
