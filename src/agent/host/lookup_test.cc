// SPDX-License-Identifier: Apache-2.0
// Questions to the runtime beside threads that unload what they are about.
#include "agent/host/lookup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "agent/testing/fake_runtime.h"

namespace clrscope::agent {
namespace {

constexpr ModuleId kModule = 1;
constexpr ClassId kType = 5;

class LookupTest : public ::testing::Test {
 protected:
  LookupTest() {
    runtime_.AddModule(kModule, 0);
    runtime_.AddType(kType, kModule);
  }
  HResult AskModule(ModuleId* module) {
    uint32_t token = 0, count = 0;
    ClassId parent = 0;
    return lookup_.Ask<&ICorProfilerInfo::GetClassIDInfo2>(kType, module, &token, &parent, 0u,
                                                           &count, nullptr);
  }

  FakeRuntime runtime_;
  LookupGate gate_;
  Heartbeat heartbeat_;
  Lookup lookup_{&runtime_, gate_, heartbeat_};
};

TEST_F(LookupTest, AsksAboutWhatIsThere) {
  ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
  ModuleId module = 0;
  EXPECT_EQ(AskModule(&module), kOk);
  EXPECT_EQ(module, kModule);
  const std::byte there[] = {std::byte{1}, std::byte{2}};
  EXPECT_EQ(lookup_.Look([&] { return there[1]; }), std::byte{2});
  EXPECT_EQ(lookup_.Copy(there), (std::vector{std::byte{1}, std::byte{2}}));
  EXPECT_FALSE(lookup_.gone());
}

// No question is open between two of them: Close(), on this very thread, would wait for ever.
TEST_F(LookupTest, TheGateMayCloseBetweenTwoQuestions) {
  ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
  ModuleId module = 0;
  EXPECT_EQ(AskModule(&module), kOk);
  gate_.Close();
  EXPECT_TRUE(lookup_.gone());
  const uint64_t asked = runtime_.questions();
  EXPECT_EQ(AskModule(&module), Lookup::kNotAsked);
  bool read = false;
  EXPECT_FALSE(lookup_.Look([&] { return read = true; }));
  EXPECT_FALSE(read);
  const std::byte there[] = {std::byte{1}};
  EXPECT_TRUE(lookup_.Copy(there).empty());
  EXPECT_EQ(runtime_.questions(), asked);
  EXPECT_TRUE(lookup_.gone());
  ASSERT_TRUE(lookup_.Begin(gate_.epoch())) << "what is seen from now on";
  EXPECT_EQ(AskModule(&module), kOk);
  EXPECT_FALSE(lookup_.gone());
}

TEST_F(LookupTest, WhatWasSeenBeforeTheGateClosedIsGone) {
  const uint32_t stamp = gate_.epoch();
  gate_.Close();
  EXPECT_FALSE(lookup_.Begin(stamp));
  EXPECT_TRUE(lookup_.gone());
  ModuleId module = 0;
  EXPECT_EQ(AskModule(&module), Lookup::kNotAsked);
  EXPECT_EQ(runtime_.questions(), 0u);
}

TEST_F(LookupTest, WhatNobodyUnloadsIsAskedAboutAtAnyTime) {
  const auto object_of = [&](ObjectId* object) {
    return lookup_.AskUnstamped<&ICorProfilerInfo::GetObjectIDFromHandle>(
        reinterpret_cast<ObjectHandle>(0x50), object);  // NOLINT
  };
  gate_.Close();
  ObjectId object = 0;
  EXPECT_EQ(object_of(&object), kOk);
  EXPECT_EQ(object, 0x50u);
  gate_.Shut();
  EXPECT_EQ(object_of(&object), Lookup::kNotAsked);
}

TEST_F(LookupTest, NothingIsAskedOnceTheGateIsShut) {
  ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
  gate_.Shut();
  ModuleId module = 0;
  EXPECT_EQ(AskModule(&module), Lookup::kNotAsked);
  EXPECT_TRUE(lookup_.gone()) << "it is not known whole";
  EXPECT_EQ(runtime_.questions(), 0u);
}

// Neither a closing nor a collection has anything to do with it.
TEST_F(LookupTest, NobodyWaitsForACallAboutWhatIsNeverUnloaded) {
  runtime_.questions_stall.Close();
  std::thread asking([&] {
    ObjectId object = 0;
    EXPECT_EQ(lookup_.AskUnstamped<&ICorProfilerInfo::GetObjectIDFromHandle>(
                  reinterpret_cast<ObjectHandle>(0x50), &object),  // NOLINT
              kOk);
  });
  ASSERT_TRUE(runtime_.questions_stall.Await());
  gate_.Close();
  runtime_.questions_stall.Open();
  asking.join();
}

TEST_F(LookupTest, ClosingWaitsForTheCallThatIsUnderWay) {
  std::atomic<bool> closed{false};
  runtime_.questions_stall.Close();
  std::thread asking([&] {
    ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
    ModuleId module = 0;
    EXPECT_EQ(AskModule(&module), kOk);
    EXPECT_TRUE(lookup_.gone());
  });
  runtime_.questions_stall.Await();
  std::thread unloading([&] {
    gate_.Close();
    closed.store(true);
  });
  while (gate_.epoch() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(closed.load());
  runtime_.questions_stall.Open();
  unloading.join();
  asking.join();
}

// Things that go one after the other, each seen while it was there.
TEST_F(LookupTest, ReadsNothingThatIsBeingFreed) {
  constexpr uint32_t kThings = 2000;
  constexpr int kThere = 1, kFreed = 2;
  std::vector<int> things(kThings, kThere);  // no atomics: a race is an error of its own
  std::atomic<uint64_t> seen{0};             // the stamp above the thing
  std::atomic<uint32_t> looked{0};           // how many were read
  std::thread unloading([&] {
    for (uint32_t i = 0; i + 1 < kThings; ++i) {
      // Some are looked at, others go before anybody has.
      while (i % 2 == 0 && looked.load() <= i / 2) std::this_thread::yield();
      gate_.Close();
      seen.store(uint64_t{gate_.epoch()} << 32 | (i + 1));
      things[i] = kFreed;
    }
  });
  for (uint64_t last = 0; last != kThings - 1;) {
    const uint64_t sight = seen.load();
    last = sight & 0xffffffff;
    (void)lookup_.Begin(static_cast<uint32_t>(sight >> 32));
    const int thing = lookup_.Look([&] {
      std::this_thread::yield();
      return things[last];
    });
    EXPECT_NE(thing, kFreed);
    if (thing == kThere) ++looked;
  }
  unloading.join();
  EXPECT_GE(looked.load(), kThings / 2);
}

}  // namespace
}  // namespace clrscope::agent
