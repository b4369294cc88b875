// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/thread_modes.h"

#include <gtest/gtest.h>

namespace clrscope::analysis {
namespace {

TEST(ThreadModes, DotNet9NeverTellsThem) {
  for (const uint64_t managed : {0u, 6u, 500u, 1000u})
    EXPECT_FALSE(ThreadModesTold(".NET 9.0.22", true, managed, 1'000)) << managed;
}

TEST(ThreadModes, AVersionThatTellsThemIsBelievedOfAProgramThatHardlyRuns) {
  for (const char* runtime : {".NET 7.0.20", ".NET 8.0.33", ".NET 10.0.11", ".NET 10.0.12",
                              ".NET 11.0.0", ".NET 11.0.0-preview.4.26230"}) {
    EXPECT_TRUE(ThreadModesTold(runtime, true, 1, 1'000'000)) << runtime;
    EXPECT_TRUE(ThreadModesTold(runtime, true, 0, 1'000'000)) << runtime << ": nothing ran";
  }
}

TEST(ThreadModes, CompiledAheadOfTimeTheVersionSaysNothing) {
  EXPECT_FALSE(ThreadModesTold(".NET 10.0.12", false, 0, 11'676));
  EXPECT_TRUE(ThreadModesTold(".NET 11.0.0", false, 500, 11'676));
}

TEST(ThreadModes, OfOthersTheShareOfManagedSamplesDecides) {
  for (const char* runtime :
       {"", ".NET Core 3", ".NET 5.0.17", ".NET 6.0.36", ".NET 10.0.2", ".NET x", "Mono 6.12"}) {
    EXPECT_FALSE(ThreadModesTold(runtime, true, 6, 38'410)) << runtime << ": threads that start";
    EXPECT_FALSE(ThreadModesTold(runtime, true, 99, 100'000)) << runtime;
    EXPECT_FALSE(ThreadModesTold(runtime, true, 0, 100)) << runtime;
    EXPECT_FALSE(ThreadModesTold(runtime, true, 6, 100)) << runtime << ": few, and just begun";
    EXPECT_TRUE(ThreadModesTold(runtime, true, 100, 100'000)) << runtime;
    EXPECT_TRUE(ThreadModesTold(runtime, true, 383, 38'912)) << runtime;
  }
}

}  // namespace
}  // namespace clrscope::analysis
