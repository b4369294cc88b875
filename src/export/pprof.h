// SPDX-License-Identifier: Apache-2.0
// The pprof format: what `go tool pprof`, Pyroscope, Grafana, Parca and speedscope read.
#pragma once

#include "base/byte_sink.h"
#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::exporter {

struct PprofOptions {
  bool keep_machinery = false;  // keep async and thread-pool plumbing
  bool only_shown = false;      // nothing but the figure that is shown
};

// Writes `profile` as an uncompressed profile.proto message (readers take it as it is, or within
// gzip: see GzipSink). Does not finish `sink`.
// Sample types, stacks and labels are those of pprof/memory_writer.h, as in the agent's files:
//   values    estimates of all allocations, never raw samples, and of what lived at the end; their
//             sums are the rounded totals. Objects only when they are known; of a profile of live
//             objects (ShowLive) nothing but these
//   events    a pair of values for each measure of events that was recorded; their samples have a
//             label `thread`, and no type as their leaf where the measure has none
//   process   a label when the profile has several
//   comments  see Notes()
// The same profile gives the same bytes. Fails only when `sink` does.
Status WritePprof(const profile::Profile& profile, const PprofOptions& options, ByteSink& sink);

}  // namespace clrscope::exporter
