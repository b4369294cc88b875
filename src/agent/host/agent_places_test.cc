// SPDX-License-Identifier: Apache-2.0
// Addresses that intervals tell with their stacks.
#include <gtest/gtest.h>

#include <set>

#include "agent/testing/agent_on_fake.h"

namespace clrscope::agent {
namespace {

constexpr ModuleId kProgram = 1;
constexpr FunctionId kMaker = 300;
constexpr uintptr_t kPlacesCode = 0x7000'0000'1000;

profile::IntervalFrame MakeAtTwoPlaces(AgentOnFake& a) {
  a.runtime.AddModule(kProgram, 0);
  a.runtime.AddType(5, kProgram);
  a.runtime.AddMethod(kMaker, kProgram, false, kPlacesCode, 200);
  (void)a.EndInterval();
  for (const uintptr_t at : {uintptr_t{16}, uintptr_t{40}}) {
    FakeRuntime::SetStack({{kMaker, kPlacesCode + at}});
    a.Allocate(5);
  }
  FakeRuntime::SetStack({});
  return a.EndInterval();
}

TEST(AgentPlaces, AreToldWhereLinesAreAskedFor) {
  AgentOnFake a("every=1h,lines=1");
  const profile::IntervalFrame f = MakeAtTwoPlaces(a);
  ASSERT_EQ(f.flows.size(), 2u);
  std::set<uint64_t> addresses;
  std::set<uint32_t> methods;
  for (const profile::IntervalFlow& flow : f.flows) {
    const profile::IntervalNode& node = f.nodes[flow.node - 1];
    ASSERT_NE(node.place, 0u);
    addresses.insert(f.places[node.place - 1].address);
    methods.insert(node.method);
    EXPECT_LE(f.places[node.place - 1].seen_ns, f.end_ns);
  }
  EXPECT_EQ(addresses, (std::set<uint64_t>{kPlacesCode + 16, kPlacesCode + 40}));
  EXPECT_EQ(methods.size(), 1u);
  EXPECT_EQ(a.Ask("set lines=0").substr(0, 6), "error ");
}

// A new stack of known places, after an interval in which nothing was new.
TEST(AgentPlaces, AreKnownFromThenOn) {
  AgentOnFake a("every=1h,lines=1");
  (void)MakeAtTwoPlaces(a);
  EXPECT_EQ(a.EndInterval().first_place, 3u);
  FakeRuntime::SetStack({{kMaker, kPlacesCode + 16}, {kMaker, kPlacesCode + 40}});
  a.Allocate(5);
  FakeRuntime::SetStack({});
  const profile::IntervalFrame f = a.EndInterval();
  ASSERT_EQ(f.flows.size(), 1u);
  const profile::IntervalNode& leaf = f.nodes[f.flows[0].node - 1];
  ASSERT_NE(leaf.place, 0u);
  EXPECT_EQ(f.places[leaf.place - 1].address, kPlacesCode + 16);
  EXPECT_EQ(f.places[f.nodes[leaf.parent - 1].place - 1].address, kPlacesCode + 40);
}

TEST(AgentPlaces, AStackIsOfMethodsOtherwise) {
  AgentOnFake a("every=1h");
  const profile::IntervalFrame f = MakeAtTwoPlaces(a);
  ASSERT_EQ(f.flows.size(), 1u);
  EXPECT_EQ(f.flows[0].value.samples, 2u);
  EXPECT_TRUE(f.places.empty());
  EXPECT_EQ(f.nodes[f.flows[0].node - 1].place, 0u);
}

}  // namespace
}  // namespace clrscope::agent
