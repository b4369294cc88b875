// SPDX-License-Identifier: Apache-2.0
// On this process itself, whose files and functions are known.
#include "capture/symbols/native_namer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/agent_name.h"
#include "base/elf_build_id.h"
#include "capture/agents/agent_image.h"
#include "capture/agents/agent_place.h"
#include "capture/proc/image_reader.h"
#include "capture/symbols/native_names.h"
#include "profile/stacks/made_up_frames.h"

// With external linkage, so that it has a name in every build.
extern "C" __attribute__((noinline)) int ClrscopeNativeNamerProbe(int x) { return x + 1; }

namespace clrscope::capture {
namespace {

class NativeNamerTest : public ::testing::Test {
 protected:
  void Map(pid_t pid) {
    uint64_t left_out = 0;
    const auto mapped = ImageReader(pid).Read(strings_);
    ASSERT_TRUE(mapped);
    tables_.images.Look(*mapped, 1, &left_out);
  }
  uint32_t Add(uint64_t address) {
    tables_.stacks.RestoreAddress({address, 1});
    return static_cast<uint32_t>(tables_.stacks.addresses().size()) - 1;
  }
  template <class Function>
  uint32_t AddFunction(Function* function) {
    return Add(reinterpret_cast<uint64_t>(function) + 1);
  }
  std::string NameOf(uint32_t index) const {
    const profile::Place* place = tables_.places.At(index);
    return place == nullptr ? "" : std::string(strings_.Get(place->symbol));
  }

  StringPool strings_;
  profile::ProcessTables tables_;
  NameFinder at_once_{0};
};

TEST_F(NativeNamerTest, WhatIsNewIsNamedEachTime) {
  Map(::getpid());
  const uint32_t nowhere = Add(4096), kernel = Add(profile::kKernelAddress);
  const uint32_t probe = AddFunction(&ClrscopeNativeNamerProbe);
  NativeNamer namer(::getpid(), &at_once_);
  namer.Look(tables_, strings_);
  EXPECT_TRUE(namer.idle());
  EXPECT_EQ(NameOf(probe), "ClrscopeNativeNamerProbe");
  EXPECT_EQ(NameOf(nowhere), "");
  EXPECT_EQ(NameOf(kernel), "");
  const size_t changes = tables_.places.changed().size();
  namer.Look(tables_, strings_);
  EXPECT_EQ(tables_.places.changed().size(), changes) << "nothing is asked for twice";
  const uint32_t again = AddFunction(&ClrscopeNativeNamerProbe);
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(again), "ClrscopeNativeNamerProbe");
}

TEST_F(NativeNamerTest, TheAgentIsOneWhateverItsFileIsCalled) {
  const std::string path = ::testing::TempDir() + std::to_string(::getpid()) + "-any.so";
  for (const Libc libc : {Libc::kGlibc, Libc::kMusl}) {
    if (!HasAgentFor(libc)) continue;
    ASSERT_TRUE(WriteAgent(path, ::geteuid(), libc).ok());
    symbol_files::MappedFile mapped;
    mapped.path = path;
    mapped.build_id = ElfBuildId(AgentImage(libc));
    symbol_files::NativeSymbols symbols;
    const auto functions = symbols.Of(symbol_files::FileRoot::Own(), mapped);
    ASSERT_NE(functions, nullptr);
    EXPECT_EQ(functions->NameAt(0x20000, mapped), kAgentName);
  }
  (void)::unlink(path.c_str());
}

TEST_F(NativeNamerTest, AMethodIsNoNativeCode) {
  Map(::getpid());
  profile::MethodCode method;
  method.start = reinterpret_cast<uint64_t>(&ClrscopeNativeNamerProbe);
  method.size = 64;
  method.name = strings_.Intern("Main");
  tables_.code.Add(method);
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);
  NativeNamer namer(::getpid(), &at_once_);
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(index), "");
}

TEST_F(NativeNamerTest, AFileThatIsMappedLaterIsLookedForThen) {
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);
  NativeNamer namer(::getpid(), &at_once_);
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(index), "");
  Map(::getpid());
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(index), "ClrscopeNativeNamerProbe");
}

TEST_F(NativeNamerTest, OtherTablesBeginAnew) {
  Map(::getpid());
  AddFunction(&ClrscopeNativeNamerProbe);
  NativeNamer namer(::getpid(), &at_once_);
  namer.Look(tables_, strings_);
  tables_ = {};
  strings_ = {};
  Map(::getpid());
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);
  namer.Restart();
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(index), "ClrscopeNativeNamerProbe");
}

TEST_F(NativeNamerTest, OnAThreadOfItsOwn) {
  Map(::getpid());
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);
  NameFinder finder;
  NativeNamer namer(::getpid(), &finder);
  for (int i = 0; i < 2'000 && NameOf(index).empty(); ++i) {
    namer.Look(tables_, strings_);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(NameOf(index), "ClrscopeNativeNamerProbe");
}

TEST_F(NativeNamerTest, WhatIsNotFoundInTimeIsCounted) {
  Map(::getpid());
  AddFunction(&ClrscopeNativeNamerProbe);
  std::atomic<bool> go{false};
  {
    NameFinder finder;
    finder.Post([&](symbol_files::NativeSymbols&) {
      while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    NativeNamer namer(::getpid(), &finder);
    namer.Look(tables_, strings_);
    EXPECT_FALSE(namer.idle());
    namer.End(tables_);
    EXPECT_EQ(tables_.losses[Loss::kNamesLate], 1u);
    go = true;
  }
}

// Its files are read although it is gone, where they are ours too.
TEST_F(NativeNamerTest, OfAProcessThatHasEnded) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  Map(child);
  NativeNamer namer(child, &at_once_);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);  // a copy of this process
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(index), "ClrscopeNativeNamerProbe");
}

TEST_F(NativeNamerTest, WithoutAFinderNothingIsNamed) {
  Map(::getpid());
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);
  NativeNamer namer(::getpid(), nullptr);
  namer.Look(tables_, strings_);
  EXPECT_EQ(NameOf(index), "");
  EXPECT_TRUE(namer.idle());
}

// A recording that is read: files of this machine count by their build alone.
TEST_F(NativeNamerTest, OfARecordingThatIsRead) {
  Map(::getpid());
  const uint32_t index = AddFunction(&ClrscopeNativeNamerProbe);
  symbol_files::NativeSymbols symbols;
  NameNatives(tables_, strings_, symbols);
  EXPECT_EQ(NameOf(index), "ClrscopeNativeNamerProbe");
  profile::ProcessTables other;
  for (profile::Image i : tables_.images.images()) {
    i.build_id = {};
    other.images.Restore(i);
  }
  other.stacks.RestoreAddress(tables_.stacks.addresses()[index]);
  NameNatives(other, strings_, symbols);
  EXPECT_EQ(other.places.At(0), nullptr);
}

}  // namespace
}  // namespace clrscope::capture
