// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/source.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace clrscope::profile {
namespace {

TEST(Sources, EveryRowStandsWhereItsIdSays) {
  for (size_t i = 0; i < kSources; ++i) EXPECT_EQ(static_cast<size_t>(kSourceSpecs[i].id), i);
  for (size_t i = 0; i < kMeasures; ++i) EXPECT_EQ(static_cast<size_t>(kMeasureSpecs[i].id), i);
}

// Scripts rest on these names: docs/json.md, docs/sql.md.
TEST(Sources, NamesStayAsTheyAreDocumented) {
  std::set<std::string> measures, quantities, samples, events;
  for (const MeasureSpec& m : kMeasureSpecs) {
    measures.emplace(m.name);
    for (const Quantity& q : {m.count, m.amount}) {
      quantities.emplace(q.name);
      if (!q.pprof.empty()) samples.emplace(q.pprof);
    }
  }
  for (const SourceSpec& s : kSourceSpecs) events.emplace(s.event);
  EXPECT_EQ(measures, (std::set<std::string>{"allocations", "live", "gc-cpu", "exceptions", "locks",
                                             "waits", "requests", "cpu", "wall"}));
  EXPECT_EQ(quantities, (std::set<std::string>{"bytes", "objects", "count", "rethrows", "wait_ns",
                                               "gc_cpu_ns", "intervals", "requests", "duration_ns",
                                               "samples", "cpu_ns", "wall_ns"}));
  EXPECT_EQ(samples, (std::set<std::string>{"alloc_objects", "alloc_space", "inuse_objects",
                                            "inuse_space", "cpu", "exceptions", "rethrows",
                                            "contentions", "delay", "waits", "wait", "requests",
                                            "request_time", "samples", "wall_samples", "wall"}));
  EXPECT_EQ(events, (std::set<std::string>{"pprof", "AllocationTick", "AllocationSampled",
                                           "GCSampledObjectAllocation", "Exception", "Contention",
                                           "WaitHandleWait", "Request", "cpu-clock", "wall-clock",
                                           "ThreadSample", "cpu", "cswitch"}));
  EXPECT_EQ(EventName(Source::kCounted, true), "ObjectAllocated");
}

}  // namespace
}  // namespace clrscope::profile
