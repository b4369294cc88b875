// SPDX-License-Identifier: Apache-2.0
// What an executable with the runtime inside it is, by the names that it exports, and what a
// runtimeconfig.json says.
#include "ipc/processes/process_facts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "ipc/testing/fake_peer.h"

namespace clrscope::ipc {
namespace {

using std::string_literals::operator""s;

const std::string kInfo = "\0DotNetRuntimeInfo\0"s;
const std::string kHeader = "\0DotNetRuntimeDebugHeader\0"s;
constexpr size_t kChunk = 1u << 20;  // files are read in pieces of that size

class KindOfExecutableTest : public ::testing::Test {
 protected:
  RuntimeKind KindOf(const std::string& bytes) const {
    const std::string path = dir_.path() + "/program";
    std::ofstream(path, std::ios::binary) << bytes;
    return KindOfExecutable(path);
  }
  testing::TempDir dir_;
};

TEST_F(KindOfExecutableTest, SingleFileHostsHoldTheNameOfNativeAotToo) {
  EXPECT_EQ(KindOf("x" + kInfo + "x" + kHeader + "x"), RuntimeKind::kSingleFile);
  EXPECT_EQ(KindOf("x" + kHeader + "x" + kInfo + "x"), RuntimeKind::kSingleFile);
  EXPECT_EQ(KindOf(kHeader + std::string(3 * kChunk, 'x') + kInfo), RuntimeKind::kSingleFile);
  EXPECT_EQ(KindOf("x" + kInfo), RuntimeKind::kSingleFile);
  EXPECT_EQ(KindOf("x" + kHeader), RuntimeKind::kNativeAot);
}

TEST_F(KindOfExecutableTest, NamesAreFoundAcrossPieces) {
  for (size_t before = kChunk - kHeader.size() - 1; before < kChunk + 2; ++before)
    ASSERT_EQ(KindOf(std::string(before, 'x') + kHeader), RuntimeKind::kNativeAot) << before;
}

TEST_F(KindOfExecutableTest, OnlyWholeNamesCount) {
  EXPECT_EQ(KindOf("\0DotNetRuntimeInformation\0"s + kHeader), RuntimeKind::kNativeAot);
  EXPECT_EQ(KindOf("read DotNetRuntimeInfo of it"s + kHeader), RuntimeKind::kNativeAot);
  EXPECT_EQ(KindOf("My.DotNetRuntimeDebugHeader\0"s), RuntimeKind::kUndetermined);
  EXPECT_EQ(KindOf(""), RuntimeKind::kUndetermined);
  EXPECT_EQ(KindOfExecutable(dir_.path() + "/none"), RuntimeKind::kUndetermined);
}

TEST(RuntimeConfig, ItIsTheOneThatTheHostReads) {
  const testing::TempDir dir;
  const auto write = [&dir](const std::string& name) {
    std::ofstream(dir.path() + "/" + name) << name;
    return dir.path() + "/" + name;
  };
  write("App.runtimeconfig.json");
  const std::string other = write("other.json");
  ProcessFacts facts;
  facts.exe = dir.path() + "/App";
  facts.argv = {"./App", "--runtimeconfig", other};
  EXPECT_EQ(ReadRuntimeConfig(facts), "App.runtimeconfig.json");
  facts.exe = "/usr/bin/dotnet";
  facts.argv = {"dotnet", dir.path() + "/App.dll", "--runtimeconfig", other};
  EXPECT_EQ(ReadRuntimeConfig(facts), "App.runtimeconfig.json") << "the option is the program's";
  facts.argv = {"dotnet", "exec", "--runtimeconfig", other, dir.path() + "/App.dll"};
  EXPECT_EQ(ReadRuntimeConfig(facts), "other.json");
  facts.argv = {"dotnet", dir.path() + "/None.dll"};
  EXPECT_EQ(ReadRuntimeConfig(facts), "");
  facts.argv = {"dotnet", "exec", "--runtimeconfig", "", dir.path() + "/App.dll"};
  EXPECT_EQ(ReadRuntimeConfig(facts), "");
  facts.argv = {"dotnet", dir.path() + "/App.dll"};
  facts.uptime_s = 3600;
  EXPECT_EQ(ReadRuntimeConfig(facts), "") << "it was written since";
  facts.uptime_s = 0;
  facts.runtime = RuntimeKind::kSingleFile;
  EXPECT_EQ(ReadRuntimeConfig(facts), "") << "it is another build's";
}

TEST(RuntimeConfig, EventSourceIsOffWhereItSaysSo) {
  const auto off = [](const std::string& value) {
    ProcessFacts facts;
    facts.runtime_config = R"({"runtimeOptions": {"configProperties": {)" + value + "}}}";
    return EventSourcesOff(facts);
  };
  EXPECT_TRUE(off(R"("System.Diagnostics.Tracing.EventSource.IsSupported": false)"));
  EXPECT_FALSE(off(R"("System.Diagnostics.Tracing.EventSource.IsSupported": true)"));
  EXPECT_FALSE(off(""));
  EXPECT_FALSE(EventSourcesOff({})) << "it is not seen";
}

}  // namespace
}  // namespace clrscope::ipc
