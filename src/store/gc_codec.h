// SPDX-License-Identifier: Apache-2.0
// The blobs of table `gc_detail`: of consecutive collections, everything that is not in their rows
// of table `gc`. docs/capture-format.md describes them.
#pragma once

#include <span>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profile/gc/gc_record.h"

namespace clrscope::store {

inline constexpr size_t kMaxGcDetails = 4096;  // of one blob
std::string EncodeGcDetails(std::span<const profile::GcRecord> gcs);
// Into records of which number, generation, type, reason, start, end and sizes are there already.
// errors: kCorrupt
Status DecodeGcDetails(Bytes blob, std::span<profile::GcRecord> gcs);

// The numbers of GcFacts by name: table `gc_fact`. visit(name, number), a reference.
template <class Facts, class Visit>
void ForEachGcFact(Facts& f, Visit&& visit) {
  visit("pauses", f.pauses);
  visit("paused_ns", f.paused_ns);
  visit("started", f.started);
  visit("caused_by_allocation", f.caused_by_allocation);
  visit("missing", f.missing);
  visit("counted_only", f.counted_only);
  visit("orphan_ends", f.orphan_ends);
  visit("other_suspensions", f.other_suspensions);
  visit("other_suspended_ns", f.other_suspended_ns);
  visit("finalized_objects", f.finalized_objects);
  visit("finalized_ns", f.finalized_ns);
  visit("startup_flags", f.startup_flags);
  visit("server_threads", f.server_threads);
  visit("server_cpu_ns", f.server_cpu_ns);
  visit("background_threads", f.background_threads);
  visit("background_cpu_ns", f.background_cpu_ns);
  visit("process_cpu_ns", f.process_cpu_ns);
  visit("cpu_from_ns", f.cpu_from_ns);
  visit("cpu_to_ns", f.cpu_to_ns);
  visit("hard_limit_bytes", f.hard_limit_bytes);
  visit("loh_threshold_bytes", f.loh_threshold_bytes);
  visit("physical_memory_bytes", f.physical_memory_bytes);
  visit("gen0_min_budget_bytes", f.gen0_min_budget_bytes);
  visit("gen0_max_budget_bytes", f.gen0_max_budget_bytes);
  visit("high_memory_percent", f.high_memory_percent);
  visit("setting_bits", f.setting_bits);
}

}  // namespace clrscope::store
