// SPDX-License-Identifier: Apache-2.0
// What exported files say about themselves.
#include "export/notes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "export/testing/profile_builder.h"

namespace clrscope::exporter {
namespace {

bool Has(const std::vector<std::string>& notes, std::string_view start) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
    return note.compare(0, start.size(), start) == 0;
  });
}

TEST(NotesTest, NameCommandRuntimeEventTotalAndLosses) {
  const auto notes = Notes(testing::ShopProfile());
  EXPECT_TRUE(Has(notes, "clrscope "));
  EXPECT_TRUE(Has(notes, "process: Acme.Shop (1234)"));
  EXPECT_TRUE(Has(notes, "command line: dotnet Acme.Shop.dll --port 5000"));
  EXPECT_TRUE(Has(notes, "runtime: .NET 10.0.12 linux x64"));
  EXPECT_TRUE(Has(notes, "event: AllocationSampled"));
  EXPECT_TRUE(Has(notes, "total bytes: 1000001 ±"));
  EXPECT_TRUE(Has(notes, "total objects: 5003 ±"));
  EXPECT_TRUE(Has(notes, "samples: 82"));
  EXPECT_TRUE(Has(notes, "loss: 17 "));
  EXPECT_FALSE(Has(notes, "biased"));
  EXPECT_FALSE(Has(notes, "incomplete"));
}

TEST(NotesTest, TicksAreCalledBiasedAndHaveNoInterval) {
  profile::Profile p = testing::ShopProfile();
  p.shown().source = profile::Source::kTick;
  p.shown().counts_known = false;
  p.complete = false;
  const auto notes = Notes(p);
  EXPECT_TRUE(Has(notes, "biased: AllocationTick"));
  EXPECT_TRUE(Has(notes, "total bytes: 1000001"));
  EXPECT_FALSE(Has(notes, "total bytes: 1000001 ±"));
  EXPECT_TRUE(Has(notes, "objects are unknown"));
  EXPECT_TRUE(Has(notes, "incomplete"));
}

}  // namespace
}  // namespace clrscope::exporter
