// SPDX-License-Identifier: Apache-2.0
// Types that were seen before something was unloaded, and are asked for after it.
#include "agent/stacks/names.h"

#include <gtest/gtest.h>

#include "agent/testing/fake_runtime.h"

namespace clrscope::agent {
namespace {

constexpr ModuleId kApplication = 1;
constexpr ClassId kOrder = 5, kInvoice = 6;
constexpr FunctionId kMethod = 100;

class NamesTest : public ::testing::Test {
 protected:
  NamesTest() {
    runtime_.AddModule(kApplication, 0);
    runtime_.AddType(kOrder, kApplication);
    runtime_.AddType(kInvoice, kApplication);
    runtime_.AddMethod(kMethod, kApplication, false, 0x1000, 16);
  }
  // "" if it may be gone.
  std::string NameAt(ClassId type, uint32_t epoch) {
    bool gone = false;
    const uint32_t id = names_.TypeOf(type, epoch, &gone);
    EXPECT_EQ(gone, id == 0);
    return id == 0 ? std::string() : names_.types()[id - 1].raw;
  }

  FakeRuntime runtime_;
  LookupGate gate_;
  Heartbeat heartbeat_;
  Lookup lookup_{&runtime_, gate_, heartbeat_};
  Names names_{lookup_};
};

// A program drops the dynamic methods of its start at once: each of them closes the gate.
TEST_F(NamesTest, OfAnEpochAreKnownHoweverManyFollow) {
  const uint32_t seen = gate_.epoch();
  EXPECT_EQ(NameAt(kOrder, seen), "T5");
  for (int i = 0; i < 20; ++i) {
    gate_.Close();
    ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
    (void)names_.MethodOf(kMethod);  // which notices the epoch
  }
  const uint64_t questions = runtime_.questions();
  EXPECT_EQ(NameAt(kOrder, seen), "T5");
  EXPECT_EQ(NameAt(kInvoice, seen), "") << "it was not named while it was surely there";
  EXPECT_EQ(NameAt(kOrder, seen + 10), "") << "another type may have had this id";
  EXPECT_EQ(runtime_.questions(), questions);
  // What is seen now is asked about now.
  EXPECT_EQ(NameAt(kOrder, gate_.epoch()), "T5");
  EXPECT_EQ(NameAt(kOrder, seen), "T5");
  names_.ForgetEarlierEpochs();
  EXPECT_EQ(NameAt(kOrder, seen), "");
  EXPECT_EQ(NameAt(kOrder, gate_.epoch()), "T5");
}

// An unloading that was answered within the epoch: what was seen before it has been taken in.
TEST_F(NamesTest, OfBeforeAnUnloadingAreNotKept) {
  const uint32_t seen = gate_.epoch();
  EXPECT_EQ(NameAt(kOrder, seen), "T5");
  names_.Forget();
  EXPECT_EQ(NameAt(kInvoice, seen), "T6");
  gate_.Close();
  EXPECT_EQ(NameAt(kOrder, seen), "") << "another type may have had this id";
  EXPECT_EQ(NameAt(kInvoice, seen), "T6");
}

TEST_F(NamesTest, OfTheLastEpochWithATypeAreKnown) {
  EXPECT_EQ(NameAt(kOrder, gate_.epoch()), "T5");
  gate_.Close();
  const uint32_t later = gate_.epoch();
  EXPECT_EQ(NameAt(kInvoice, later), "T6");
  gate_.Close();
  EXPECT_EQ(NameAt(kInvoice, later), "T6");
  EXPECT_EQ(NameAt(kOrder, later - 1), "") << "two epochs with types are not kept";
}

}  // namespace
}  // namespace clrscope::agent
