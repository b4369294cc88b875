// SPDX-License-Identifier: Apache-2.0
// Which of the agent's builds goes where.
#include "capture/agents/agent_libc.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "capture/agents/agent_image.h"
#include "capture/agents/agent_place.h"
#include "capture/testing/program_files.h"

namespace clrscope::capture {
namespace {

TEST(AgentLibc, TheRuntimesOwnWordDecides) {
  EXPECT_EQ(LibcOf("linux-musl-x64", false), Libc::kMusl);
  EXPECT_EQ(LibcOf("linux-musl-arm64", true), Libc::kMusl);
  EXPECT_EQ(LibcOf("alpine.3.20-x64", false), Libc::kMusl);
  EXPECT_EQ(LibcOf("linux-x64", false), Libc::kGlibc);
  EXPECT_EQ(LibcOf("linux-x64", true), Libc::kGlibc) << "something else mapped a musl";
}

TEST(AgentLibc, WithoutItTheLoaderDecides) {
  EXPECT_EQ(LibcOf("", true), Libc::kMusl);
  EXPECT_EQ(LibcOf("", false), Libc::kGlibc);
  EXPECT_EQ(LibcOf("freebsd-x64", true), Libc::kMusl);
}

class ProgramFile : public ProgramFiles {
 protected:
  // An executable with one program header before the loader's name.
  static std::string Elf(const std::string& loader) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_phoff = sizeof header;
    header.e_phnum = 2;
    Elf64_Phdr parts[2] = {};
    parts[0].p_type = PT_LOAD;
    parts[1].p_type = loader.empty() ? PT_NOTE : PT_INTERP;
    parts[1].p_offset = sizeof header + sizeof parts;
    parts[1].p_filesz = loader.size() + 1;
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(parts), sizeof parts);
    return bytes + loader + '\0';
  }
};

TEST_F(ProgramFile, ItsLoaderTells) {
  EXPECT_EQ(LibcOfProgram(Write("musl", Elf("/lib/ld-musl-x86_64.so.1"))), Libc::kMusl);
  EXPECT_EQ(LibcOfProgram(Write("glibc", Elf("/lib64/ld-linux-x86-64.so.2"))), Libc::kGlibc);
}

TEST_F(ProgramFile, AScriptsIsItsInterpreters) {
  const std::string shell = Write("shell", Elf("/lib/ld-musl-x86_64.so.1"));
  const std::string script = Write("script", "#! " + shell + " -e\nexec dotnet app.dll\n");
  EXPECT_EQ(LibcOfProgram(script), Libc::kMusl);
  EXPECT_EQ(LibcOfProgram(Write("outer", "#!" + script)), Libc::kMusl);
  EXPECT_EQ(LibcOfProgram(Write("env", "#!/usr/bin/env " + shell + "\n")), Libc::kMusl);
  EXPECT_EQ(LibcOfProgram(Write("ring", "#!" + dir_.path() + "/ring\n")), LibcOfMachine());
}

TEST_F(ProgramFile, ANameIsLookedForInThePath) {
  Write("clrscope-test-program", Elf("/lib/ld-musl-x86_64.so.1"));
  const char* variable = std::getenv("PATH");
  const std::string before = variable == nullptr ? "" : variable;
  ::setenv("PATH", ("/nowhere:" + dir_.path() + ":" + before).c_str(), 1);
  EXPECT_EQ(LibcOfProgram("clrscope-test-program"), Libc::kMusl);
  ::setenv("PATH", before.c_str(), 1);
}

TEST_F(ProgramFile, WhatNamesNoLoaderHasTheMachines) {
  for (const std::string& path :
       {Write("static", Elf("")), Write("cut", Elf("x").substr(0, 70)), Write("empty", ""),
        Write("script", "#!\n"), dir_.path() + "/nothing", std::string("clrscope-no-such")})
    EXPECT_EQ(LibcOfProgram(path), LibcOfMachine()) << path;
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AgentImage, EachLibcHasItsOwn) {
  ASSERT_TRUE(HasAgentFor(Libc::kGlibc));
  ASSERT_FALSE(AgentImage(Libc::kGlibc).empty());
  EXPECT_EQ(HasAgentFor(Libc::kMusl), !AgentImage(Libc::kMusl).empty());
  if (!HasAgentFor(Libc::kMusl)) GTEST_SKIP() << "this build has no agent for musl";
  EXPECT_NE(AgentFileName(Libc::kGlibc), AgentFileName(Libc::kMusl));
  for (const Libc libc : {Libc::kGlibc, Libc::kMusl}) {
    EXPECT_TRUE(AgentFileName(libc).starts_with("clrscope-agent-"));
    EXPECT_GE(AgentFileName(libc).size(), 30u) << "it has a build id";
  }
}

TEST(AgentImage, WhatIsPlacedIsTheOneForTheProcess) {
  const ipc::testing::TempDir dir;
  ipc::ProcessFacts facts;
  facts.pid = 7;
  facts.uid = ::geteuid();
  facts.tmp_dir = dir.path();
  for (const Libc libc : {Libc::kGlibc, Libc::kMusl}) {
    const Result<PlacedAgent> placed = PlaceAgent(facts, libc);
    if (!HasAgentFor(libc)) {
      ASSERT_FALSE(placed.ok());
      EXPECT_EQ(placed.error().code, ErrorCode::kRefused);
      EXPECT_NE(placed.error().message.find("built without an agent for musl"), std::string::npos);
      EXPECT_EQ(std::filesystem::directory_iterator(dir.path()),
                std::filesystem::directory_iterator());
      continue;
    }
    ASSERT_TRUE(placed.ok());
    const Bytes image = AgentImage(libc);
    const std::string written = Content(placed->path());
    ASSERT_EQ(written.size(), image.size());
    EXPECT_EQ(std::memcmp(written.data(), image.data(), image.size()), 0);
  }
}

}  // namespace
}  // namespace clrscope::capture
