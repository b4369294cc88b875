// SPDX-License-Identifier: Apache-2.0
#include "clr/process_name.h"

#include <gtest/gtest.h>

namespace clrscope::clr {
namespace {

TEST(ProcessNameTest, HostIsSeenThrough) {
  EXPECT_EQ(ProcessName({"dotnet", "bin/My.App.dll", "x.dll"}, "", ""), "My.App");
  EXPECT_EQ(
      ProcessName({"/usr/bin/dotnet", "exec", "--runtimeconfig", "a.json", "App.dll"}, "", ""),
      "App");
  EXPECT_EQ(ProcessName({"dotnet", "--roll-forward", "Major", "App.dll"}, "", ""), "App");
  EXPECT_EQ(ProcessName({"dotnet", "build", "App.dll"}, "", ""), "dotnet build");
  EXPECT_EQ(ProcessName({"dotnet", "build"}, "dotnet", ""), "dotnet build");
  EXPECT_EQ(ProcessName({"dotnet"}, "", ""), "dotnet");
}

TEST(ProcessNameTest, ApphostsKeepTheirName) {
  EXPECT_EQ(ProcessName({"/opt/My.App", "--x"}, "", ""), "My.App");
  EXPECT_EQ(ProcessName({"/opt/host"}, "Real", ""), "Real");
  EXPECT_EQ(ProcessName({}, "", "comm"), "comm");
}

TEST(ProcessNameTest, JoinedCommandLinesAreSplitAtBlanks) {
  EXPECT_EQ(ProcessNameOf("/usr/bin/dotnet exec /app/Orders.dll --port 80"), "Orders");
  EXPECT_EQ(ProcessNameOf("dotnet  --roll-forward Major /app/Orders.dll"), "Orders");
  EXPECT_EQ(ProcessNameOf("/app/orders arg"), "orders");
  EXPECT_EQ(ProcessNameOf("dotnet build "), "dotnet build");
  EXPECT_EQ(ProcessNameOf(""), "");
}

TEST(ProcessNameTest, NamesMatchWithAndWithoutExtension) {
  EXPECT_TRUE(NameMatches("App", "App", ""));
  EXPECT_TRUE(NameMatches("App.dll", "host", "App"));
  EXPECT_FALSE(NameMatches("Ap", "App", "App"));
  EXPECT_FALSE(NameMatches("", "App", ""));
}

}  // namespace
}  // namespace clrscope::clr
