// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_causes.h"

#include <gtest/gtest.h>

#include "analysis/families/gc/gc_allocations.h"

namespace clrscope::analysis {
namespace {

using profile::GcRecord;

TEST(GcAllocations, EachGcKeepsTheLargestOfItsOwn) {
  GcAllocations allocations;
  // Forty stacks of ten types: stack s of type s % 10, s + 1 samples of 100 bytes.
  for (uint32_t s = 0; s < 40; ++s)
    for (uint32_t n = 0; n <= s; ++n) allocations.Add(s, s % 10, 1000 + s, 100);
  GcRecord first, second, third;
  allocations.TakeInto(first);
  EXPECT_EQ(first.sampled_bytes, 100 * 40 * 41 / 2);
  ASSERT_EQ(first.top_types.size(), profile::kGcTop);
  ASSERT_EQ(first.top_stacks.size(), profile::kGcTopStacks);
  EXPECT_EQ(first.top_types[0].type, 9u);
  EXPECT_EQ(first.top_types[0].bytes, 100 * (10 + 20 + 30 + 40));
  EXPECT_EQ(first.top_stacks[0].node, 1039u);
  EXPECT_EQ(first.top_stacks[0].bytes, 4000);
  EXPECT_EQ(first.top_stacks.back().node, 1008u);
  allocations.Add(3, 3, 1003, 7.6);
  allocations.TakeInto(second);
  EXPECT_EQ(second.sampled_bytes, 8);
  ASSERT_EQ(second.top_stacks.size(), 1u);
  EXPECT_EQ(second.top_types[0].type, 3u);
  allocations.TakeInto(third);
  EXPECT_EQ(third.sampled_bytes, -1);
  EXPECT_TRUE(third.top_types.empty());
}

TEST(GcSites, StacksOfOneOwnMethodAreOneSite) {
  profile::Profile p;
  const auto frame = [&](const char* name, uint8_t flags) {
    profile::Frame f;
    f.method = p.strings.Intern(name);
    f.flags = flags;
    p.frames.push_back(f);
    return static_cast<uint32_t>(p.frames.size() - 1);
  };
  frame("", 0);
  const uint32_t own = frame("App.Load", 0), list = frame("List.Add", profile::kFramework),
                 text = frame("String.Concat", profile::kFramework), other = frame("App.Save", 0);
  p.nodes = {{0, 0}, {0, own}, {1, list}, {1, text}, {0, other}};
  GcRecord gc;
  gc.top_stacks = {{7, 4, 50}, {7, 2, 40}, {7, 3, 30}, {8, 3, 5}};
  const auto sites = GcSites(p).Of(gc);
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(sites[0].frame, own);  // through List.Add and through String.Concat
  EXPECT_EQ(sites[0].bytes, 70);
  EXPECT_EQ(sites[1].frame, other);
  EXPECT_EQ(sites[2].type, 8u);
}

TEST(InducingStacks, AreOfInducedGcsAndTheCostliestComesFirst) {
  std::vector<GcRecord> gcs(5);
  const int32_t reasons[] = {1, 0, 10, 1, 7};
  const uint32_t nodes[] = {3, 9, 4, 3, 0};
  for (size_t i = 0; i < gcs.size(); ++i) {
    gcs[i].reason = reasons[i];
    gcs[i].trigger_node = nodes[i];
    gcs[i].pause_ns = i == 2 ? 100 : 10;
  }
  gcs[4].pause_ns = -1;
  const auto stacks = InducingStacks(profile::GcRecords(gcs.begin(), gcs.end()));
  ASSERT_EQ(stacks.size(), 3u);
  EXPECT_EQ(stacks[0].node, 4u);
  EXPECT_EQ(stacks[0].pause_ns, 100);
  EXPECT_EQ(stacks[1].node, 3u);
  EXPECT_EQ(stacks[1].gcs, 2u);
  EXPECT_EQ(stacks[2].node, 0u);
  EXPECT_EQ(stacks[2].pause_ns, 0);
}

TEST(BlameTypes, SplitsThePausesOfGcsThatAllocationsTriggered) {
  std::vector<GcRecord> gcs(3);
  gcs[0].reason = 0;
  gcs[0].pause_ns = 100;
  gcs[0].sampled_bytes = 1000;
  gcs[0].top_types = {{1, 0, 600}, {2, 0, 300}};
  gcs[1] = gcs[0];
  gcs[1].pause_ns = 300;
  gcs[1].top_types = {{2, 0, 1000}};
  gcs[2] = gcs[0];
  gcs[2].reason = 1;  // the program asked for it
  const Blame blame = BlameTypes(profile::GcRecords(gcs.begin(), gcs.end()));
  EXPECT_DOUBLE_EQ(blame.pause_ns, 400);
  EXPECT_DOUBLE_EQ(blame.named_ns, 90 + 300);
  ASSERT_EQ(blame.types.size(), 2u);
  EXPECT_EQ(blame.types[0].type, 2u);
  EXPECT_DOUBLE_EQ(blame.types[0].pause_ns, 330);
  EXPECT_EQ(blame.types[0].bytes, 1300);
  EXPECT_DOUBLE_EQ(blame.types[1].pause_ns, 60);
}

}  // namespace
}  // namespace clrscope::analysis
