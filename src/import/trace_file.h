// SPDX-License-Identifier: Apache-2.0
// Reads a nettrace file (or standard input), which may be gzipped, through the decoder into a
// recording.
#pragma once

#include <string>

#include "analysis/trace_fold.h"
#include "base/result.h"
#include "nettrace/reader.h"

namespace clrscope::import {

struct TraceSummary {
  nettrace::StreamInfo info;
  LossCounters losses;
  uint64_t events = 0;
  uint64_t bytes = 0;  // unpacked
  // `bytes` and the damage's offset are those of what a gzip stream unpacks to.
  bool unpacked = false;
  // Damaged input: what was wrong and where. Everything before it was read.
  std::optional<Error> damage;
};

// Streams `path` ("-": standard input) into `recording` and `sink`. Only input that cannot be read
// at all is an error; damage and truncation are reported in the summary and in the recording's
// losses.
Result<TraceSummary> ReadTrace(const std::string& path, profile::Recording* recording,
                               profile::SliceSink* sink, const analysis::FoldOptions& options = {});

// The same for any receiver of events. `reader` is left as it was at the end, with its kinds.
Result<TraceSummary> PumpTrace(const std::string& path, nettrace::Reader* reader);

}  // namespace clrscope::import
