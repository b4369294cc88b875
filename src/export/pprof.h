// SPDX-License-Identifier: Apache-2.0
// The pprof format: what `go tool pprof`, Pyroscope, Grafana, Parca and speedscope read.
#pragma once

#include "base/byte_sink.h"
#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::exporter {

struct PprofOptions {
  bool keep_machinery = false;  // keep async and thread-pool plumbing
};

// Writes `profile` as an uncompressed profile.proto message (readers take it as it is, or within
// gzip: see GzipSink). Does not finish `sink`.
//   sample types  alloc_objects/count (only when objects are known), alloc_space/bytes: estimates
//                 of all allocations, never raw samples; their sums are the rounded totals
//                 and where live objects were followed inuse_objects/count, inuse_space/bytes: what
//                 lived at the end; the default then. Of a profile of live objects (ShowLive) only
//                 these two
//   stacks        leaf first: the allocated type as a synthetic frame, then methods
//   labels        heap = SOH | LOH | POH; process, when the profile has several; of live objects
//                 generation = 0 | 1 | 2 | LOH | POH and the number age, in seconds: the start of
//                 their age's bucket (kAgeStarts), so that `-tagfocus=age=600s:` is "older than 10
//                 minutes"
//   comments      see Notes()
// The same profile gives the same bytes. Fails only when `sink` does.
// Source: github.com/google/pprof proto/profile.proto
Status WritePprof(const profile::Profile& profile, const PprofOptions& options, ByteSink& sink);

}  // namespace clrscope::exporter
