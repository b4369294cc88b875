// SPDX-License-Identifier: Apache-2.0
#include "clr/event_table.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace clrscope::clr {
namespace {

// The numbers of dotnet/runtime src/coreclr/vm/ClrEtwAll.man.
static_assert(RuntimeEventId(EventTag::kGcStart) == 1);
static_assert(RuntimeEventId(EventTag::kGcRestartEeEnd) == 3);
static_assert(RuntimeEventId(EventTag::kGcSuspendEeBegin) == 9);
static_assert(RuntimeEventId(EventTag::kAllocationTick) == 10);
static_assert(RuntimeEventId(EventTag::kMethodLoadVerbose) == 143);
static_assert(RuntimeEventId(EventTag::kAllocationSampled) == 303);

TEST(EventTable, EachIdIsListedOnceAndIsFound) {
  std::set<std::pair<Provider, uint32_t>> ids;
  for (const EventSpec& spec : kEventTable) {
    EXPECT_TRUE(ids.insert({spec.provider, spec.id}).second) << spec.name;
    EXPECT_EQ(FindEvent(spec.provider, spec.id, spec.name), spec.tag) << spec.name;
  }
  EXPECT_EQ(FindEvent(Provider::kRuntime, 9999), EventTag::kUnknown);
}

}  // namespace
}  // namespace clrscope::clr
