// SPDX-License-Identifier: Apache-2.0
// Which programs are runtimes from their start on.
#include "capture/proc/program_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "capture/testing/program_files.h"

namespace clrscope::capture {
namespace {

// In two parts: this program is no host.
const std::string kHostFunction = std::string("hostfxr_main_") + "startupinfo";

class HostFile : public ProgramFiles {};

TEST_F(HostFile, AnExecutableThatCallsTheHostsMain) {
  EXPECT_TRUE(IsDotnetHost(Write("apphost", ELFMAG + std::string(1000, 'x') + kHostFunction)));
  EXPECT_FALSE(IsDotnetHost(Write("native", ELFMAG + std::string(1000, 'x'))));
  EXPECT_FALSE(IsDotnetHost(Write("text", "see " + kHostFunction)));
  EXPECT_FALSE(IsDotnetHost("/proc/self/exe"));
  EXPECT_FALSE(IsDotnetHost("/bin/sh"));
}

TEST_F(HostFile, WhereverInTheFile) {
  constexpr size_t kMegabyte = size_t{1} << 20;
  for (size_t cut = 0; cut <= kHostFunction.size(); ++cut) {
    std::string bytes = ELFMAG;
    bytes.resize(kMegabyte - cut, 'x');
    EXPECT_TRUE(IsDotnetHost(Write("host", bytes + kHostFunction))) << cut;
  }
}

TEST_F(HostFile, AScriptIsWhatInterpretsIt) {
  const std::string host = Write("clrscope-test-host", ELFMAG + kHostFunction);
  EXPECT_TRUE(IsDotnetHost(Write("app.cs", "#!" + host + " run\n")));
  EXPECT_FALSE(IsDotnetHost(Write("start.sh", "#!/bin/sh\nexec " + host + " app.dll\n")));
  const char* variable = std::getenv("PATH");
  const std::string before = variable == nullptr ? "" : variable;
  ::setenv("PATH", (before + ":" + dir_.path()).c_str(), 1);
  EXPECT_TRUE(IsDotnetHost("clrscope-test-host"));
  EXPECT_TRUE(IsDotnetHost(Write("env.cs", "#!/usr/bin/env clrscope-test-host\n")));
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(IsDotnetHost(Write("ring", "#!" + dir_.path() + "/ring\n")));
}

TEST_F(HostFile, WhatTheSdkRuns) {
  const std::string dotnet = Write("dotnet", ELFMAG + kHostFunction);
  const std::string dll = Write("app.dll", "MZ"), source = Write("app.cs", "#!" + dotnet + "\n");
  for (const auto& command : std::vector<std::vector<std::string>>{
           {dotnet, "run"}, {dotnet, "no.dll"}, {dotnet, source}, {dotnet, dir_.path()}, {source}})
    EXPECT_TRUE(IsSdkCommand(command)) << command.back();
  for (const auto& command : std::vector<std::vector<std::string>>{{dotnet},
                                                                   {dotnet, dll},
                                                                   {dotnet, "--list-runtimes"},
                                                                   {dotnet, "exec", dll},
                                                                   {dll, "run"},
                                                                   {"/bin/sh", "run"}})
    EXPECT_FALSE(IsSdkCommand(command)) << command.back();
}

TEST_F(HostFile, WhatIsNotThereIsNone) {
  EXPECT_FALSE(IsDotnetHost("clrscope-no-such-program"));
  EXPECT_FALSE(IsDotnetHost(dir_.path() + "/nothing"));
  EXPECT_FALSE(IsDotnetHost(dir_.path()));
  EXPECT_FALSE(IsDotnetHost(Write("empty", "")));
}

}  // namespace
}  // namespace clrscope::capture
