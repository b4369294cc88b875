// SPDX-License-Identifier: Apache-2.0
// A GC's events by hand, for tests of the timeline. It lies here because src/analysis may not use
// the payload builders of src/nettrace/testing.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "analysis/families/gc/gc_timeline.h"
#include "nettrace/testing/gc_payloads.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture::testing {

using namespace nettrace::testing;
using clr::EventTag;
using profile::GcRecord;

inline constexpr uint32_t kBlocking = 0, kBackground = 1, kForeground = 2;
inline constexpr uint32_t kUser = 100, kBgc = 200, kServer0 = 300, kServer1 = 301;

// As a runtime sends them.
class Script {
 public:
  Script() : timeline(&strings, &gcs, &facts, &losses, 3) {}

  Script& Event(EventTag tag, uint32_t version, uint64_t thread, int64_t time,
                const std::string& payload, uint32_t node = 0) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.thread = thread;
    e.payload = AsBytes(payload.data(), payload.size());
    timeline.OnEvent(e, time, node);
    return *this;
  }
  Script& Suspend(uint64_t thread, int64_t begin, int64_t end, uint32_t reason = 1) {
    Event(EventTag::kGcSuspendEeBegin, 1, thread, begin, SuspendBeginPayload(1, reason));
    if (end >= 0) Event(EventTag::kGcSuspendEeEnd, 1, thread, end, "\0\0");
    return *this;
  }
  Script& Restart(uint64_t thread, int64_t time) {
    return Event(EventTag::kGcRestartEeEnd, 1, thread, time, "\0\0");
  }
  Script& Start(uint64_t thread, int64_t time, uint32_t number, uint32_t generation,
                uint32_t type = kBlocking, uint32_t reason = 0) {
    return Event(EventTag::kGcStart, 2, thread, time,
                 GcStartPayload(2, number, generation, reason, type));
  }
  Script& End(uint64_t thread, int64_t time, uint32_t number, int64_t gen0 = 0) {
    Event(EventTag::kGcEnd, 1, thread, time, GcEndPayload(1, number, 0));
    return Event(EventTag::kGcHeapStats, 2, thread, time, HeapStatsPayload(2, {gen0, 0, 0, 0, 0}));
  }
  // A whole blocking GC of `time`..`time`+10 on the user's thread.
  Script& Blocking(int64_t time, uint32_t number, uint32_t type = kBlocking) {
    return Suspend(kUser, time, time + 1)
        .Start(kUser, time + 2, number, 0, type)
        .End(kUser, time + 8, number, number)
        .Restart(kUser, time + 10);
  }
  Script& Global(uint64_t thread, uint32_t heaps, uint32_t mechanisms, uint32_t generation = 0) {
    GlobalHistoryFields f;
    f.heaps = heaps;
    f.generation = generation;
    f.mechanisms = mechanisms;
    f.phases = {0, 0, 0, 0, 0, 0, 0};
    return Event(EventTag::kGcGlobalHeapHistory, 4, thread, 0, GlobalHistoryPayload(4, f));
  }
  Script& PerHeap(uint64_t thread, uint32_t heap, const GenerationFields& each) {
    PerHeapHistoryFields f;
    f.heap = heap;
    f.generations.assign(5, each);
    return Event(EventTag::kGcPerHeapHistory, 3, thread, 0, PerHeapHistoryPayload(f));
  }
  GcRecord Gc(uint32_t number) {
    for (const profile::PackedGc& r : gcs)
      if (r.number == number) return r.Unpack();
    ADD_FAILURE() << "GC " << number << " is missing";
    return {};
  }

  StringPool strings;
  profile::GcRecords gcs;
  profile::GcFacts facts;
  LossCounters losses;
  analysis::GcTimeline timeline;
};

}  // namespace clrscope::capture::testing
