// SPDX-License-Identifier: Apache-2.0
#include "pprof/words.h"

#include <gtest/gtest.h>

namespace clrscope::pprof {
namespace {

TEST(PprofWords, SystemNamesAreReadAsTheyAreWritten) {
  struct Case {
    const char *module, *raw, *text;
    uint32_t token;
  };
  for (const Case& c :
       {Case{"Shop", "Shop.Repo`1.Load(int32)", "Shop!0x6000002:Shop.Repo`1.Load(int32)",
             0x6000002},
        Case{"Shop", "IL_STUB:x", "Shop!IL_STUB:x", 0}, Case{"", "[native]", "![native]", 0},
        Case{"A", "m", "A!0xffffffff:m", 0xffffffff}}) {
    std::string text = "before";
    MethodSystemName(c.module, c.token, c.raw, text);
    EXPECT_EQ(text, c.text);
    const MethodId id = SplitSystemName(text, c.module);
    EXPECT_EQ(id.token, c.token) << text;
    EXPECT_EQ(id.raw, c.raw) << text;
  }
  EXPECT_EQ(SplitSystemName("main.grow", "app").raw, "main.grow");
  EXPECT_EQ(SplitSystemName("app!0xZZ:f", "app").raw, "0xZZ:f");
}

TEST(PprofWords, TheAgentsOldFormIsStillKnown) {
  for (int8_t g = 0; g < 5; ++g) EXPECT_EQ(OldGeneration(std::to_string(g)), g);
  for (const char* other : {"", "5", "-1", "12", "LOH", "gen2"})
    EXPECT_EQ(OldGeneration(other), -1);
  EXPECT_EQ(OldAgeSeconds("0s-1s"), 0);
  EXPECT_EQ(OldAgeSeconds("30s-1m"), 30);
  EXPECT_EQ(OldAgeSeconds("20m-30m"), 1200);
  EXPECT_EQ(OldAgeSeconds("16h-1d"), 57600);
  EXPECT_EQ(OldAgeSeconds("14d+"), 1209600);
  for (const char* other : {"", "m", "12", "5m", "5x-6x", "-5m-", "99999999999d+"})
    EXPECT_EQ(OldAgeSeconds(other), -1) << other;
}

}  // namespace
}  // namespace clrscope::pprof
