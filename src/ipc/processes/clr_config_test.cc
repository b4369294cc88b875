// SPDX-License-Identifier: Apache-2.0
#include "ipc/processes/clr_config.h"

#include <gtest/gtest.h>

namespace clrscope::ipc {
namespace {

TEST(ClrConfigTest, NumbersAreHexadecimalAndDotnetComesFirst) {
  EXPECT_EQ(FindClrNumber({"COMPlus_X=10"}, "X"), 16u);
  EXPECT_EQ(FindClrNumber({"COMPlus_X=1", "DOTNET_X=0x0"}, "X"), 0u);
  EXPECT_EQ(FindClrNumber({"DOTNET_XY=1"}, "X"), std::nullopt);
  EXPECT_EQ(FindClrNumber({"DOTNET_X=no"}, "X"), std::nullopt);
  EXPECT_EQ(FindClrNumber({"DOTNET_X="}, "X"), std::nullopt);
}

// As .NET 10 reads them.
TEST(ClrConfigTest, NumbersAreReadAsTheRuntimeReadsThem) {
  for (const char* zero : {"0", "00", "0x0", " 0", "0z", "-0"})
    EXPECT_EQ(FindClrNumber({std::string("DOTNET_X=") + zero}, "X"), 0u) << zero;
  EXPECT_EQ(FindClrNumber({"DOTNET_X=", "COMPlus_X=0"}, "X"), 0u);
  EXPECT_EQ(FindClrNumber({"DOTNET_X=no", "COMPlus_X=0"}, "X"), std::nullopt);
  EXPECT_EQ(FindClrNumber({"DOTNET_X=100000000"}, "X"), std::nullopt);
  EXPECT_EQ(FindClrNumber({"DOTNET_X=10000000000000000"}, "X"), std::nullopt);
}

TEST(ClrConfigTest, WhatIsSwitchedOffAndByWhat) {
  EXPECT_EQ(SwitchedOffBy({"DOTNET_EnableDiagnostics=0"}, kIpc), "DOTNET_EnableDiagnostics=0");
  EXPECT_EQ(SwitchedOffBy({"COMPlus_EnableDiagnostics=00"}, kProfilers),
            "COMPlus_EnableDiagnostics=00");
  EXPECT_EQ(SwitchedOffBy({"DOTNET_EnableDiagnostics_IPC=0"}, kIpc),
            "DOTNET_EnableDiagnostics_IPC=0");
  EXPECT_EQ(SwitchedOffBy({"DOTNET_EnableDiagnostics_IPC=0"}, kProfilers), "");
  EXPECT_EQ(SwitchedOffBy({"DOTNET_EnableDiagnostics_Profiler=0"}, kIpc), "");
  EXPECT_EQ(SwitchedOffBy({"DOTNET_EnableDiagnostics_Debugger=0"}, kIpc), "");
  EXPECT_EQ(SwitchedOffBy({"DOTNET_EnableDiagnostics=1", "COMPlus_EnableDiagnostics=0"}, kIpc), "");
}

TEST(ClrConfigTest, PropertiesOfARuntimeconfig) {
  constexpr std::string_view kJson = R"({"runtimeOptions": {
      // "configProperties": {"System.GC.Server": false},
      "configProperties": {"System.GC.Server" : true, "System.GC.Concurrent":false, "X": 3,
                           /* "Z": true, */ "Y": "False", "W": "off"}}, "Z": true})";
  EXPECT_EQ(FindConfigBool(kJson, "System.GC.Server"), true);
  EXPECT_EQ(FindConfigBool(kJson, "System.GC.Concurrent"), false);
  EXPECT_EQ(FindConfigBool(kJson, "Y"), false);
  for (const char* none : {"X", "W", "Z", "V"})
    EXPECT_EQ(FindConfigBool(kJson, none), std::nullopt) << none;
  EXPECT_EQ(FindConfigBool(R"({"System.GC.Server")", "System.GC.Server"), std::nullopt);
  EXPECT_EQ(FindConfigBool(R"({"runtimeOptions": []})", "X"), std::nullopt);
}

TEST(ClrConfigTest, PortsAreReadAsTheRuntimeReadsThem) {
  const auto ports =
      ParsePorts("/a;/b,nosuspend,suspend;;/c,LISTEN;nosuspend,connect;,/d,NoSuspend");
  ASSERT_EQ(ports.size(), 5u);
  EXPECT_EQ(ports[0].path, "/a");
  EXPECT_TRUE(ports[0].suspend);
  EXPECT_FALSE(ports[1].suspend);
  EXPECT_TRUE(ports[2].listen);
  EXPECT_EQ(ports[3].path, "nosuspend");
  EXPECT_TRUE(ports[3].suspend);
  EXPECT_EQ(ports[4].path, "/d");
  EXPECT_FALSE(ports[4].suspend);
}

TEST(ClrConfigTest, OurPortIsRewrittenAndOthersStay) {
  EXPECT_EQ(WithPort("/monitor,nosuspend;/ours", "/ours", false),
            "/monitor,nosuspend;/ours,nosuspend");
  EXPECT_EQ(WithPort("", "/ours", true), "/ours,suspend");
  EXPECT_EQ(WithPort("/monitor", "/ours", true), "/monitor,suspend;/ours,suspend");
}

}  // namespace
}  // namespace clrscope::ipc
