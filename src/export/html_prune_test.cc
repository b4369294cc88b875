// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "export/html_data.h"
#include "export/testing/events.h"
#include "export/testing/page_profiles.h"

namespace clrscope::exporter {
namespace {

using profile::Cell;
using profile::Estimate;
using profile::Profile;
using profile::Source;
using testing::ExpectSameSum;
using testing::FillMany;
using testing::FillShop;
using testing::PageBuilder;

Estimate SumOf(const std::vector<Cell>& cells) {
  Estimate e;
  for (const Cell& c : cells) e += c.value;
  return e;
}

TEST(PrunePageTest, KeepsEverythingThatFits) {
  PageBuilder b;
  FillShop(b, Source::kSampled);
  const PageTree page = PrunePage(b.profile(), 1'000);
  EXPECT_EQ(page.nodes.size(), b.profile().nodes.size());
  EXPECT_EQ(page.cells.size(), b.profile().shown().cells.size());
  EXPECT_EQ(page.folded_nodes, 0u);
  EXPECT_EQ(SumOf(page.cells).samples, b.profile().Total().samples);
}

TEST(PrunePageTest, FoldsTheLightestAndKeepsTotals) {
  PageBuilder b;
  FillMany(b, 5'000);
  const Profile& p = b.profile();
  for (const uint32_t most : {2u, 3u, 10u, 100u, 1'000u, 5'000u}) {
    const PageTree page = PrunePage(p, most);
    EXPECT_LE(page.nodes.size(), most);
    EXPECT_LE(page.cells.size(), size_t{most} * 3 + 3);
    const Estimate got = SumOf(page.cells), wanted = p.Total();
    EXPECT_EQ(got.samples, wanted.samples);
    ExpectSameSum(got.amount, wanted.amount);
    ExpectSameSum(got.count, wanted.count);
    ExpectSameSum(got.var_amount, wanted.var_amount);
    EXPECT_EQ(got.max_amount, wanted.max_amount);
    uint64_t folded = 0, kept = 0;
    for (size_t i = 1; i < page.nodes.size(); ++i) {
      EXPECT_LT(page.nodes[i].parent, i);
      folded += page.nodes[i].folded;
      kept += page.nodes[i].frame == kOtherFrame ? 0u : 1u;
    }
    EXPECT_EQ(folded, page.folded_nodes);
    EXPECT_EQ(kept + folded, p.nodes.size() - 1) << "every node is there or counted";
  }
}

TEST(PrunePageTest, KeepsTheHeaviestStack) {
  PageBuilder b;
  FillMany(b, 2'000);
  const uint32_t hot = b.Frame("Contoso.Hot", "Contoso.Hot.Loop");
  b.Add(b.Stack({hot}), b.Type("Hot"), profile::EstimateSampled(1'000'000, 1'000));
  const PageTree page = PrunePage(b.profile(), 8);
  bool found = false;
  for (const PageNode& node : page.nodes) found |= node.frame == hot;
  EXPECT_TRUE(found);
}

TEST(PrunePageTest, FoldsTypesWhenOneStackHasTooMany) {
  PageBuilder b;
  const uint32_t node = b.Stack({b.Frame("A", "A.Run")});
  for (int i = 0; i < 1'000; ++i) {
    b.Add(node, b.Type("T" + std::to_string(i)), profile::EstimateSampled(1, 24 + 8 * i));
  }
  const PageTree page = PrunePage(b.profile(), 10);
  EXPECT_EQ(page.cells.size(), 21u);
  EXPECT_EQ(page.folded_types, 980u);
  EXPECT_EQ(SumOf(page.cells).samples, 1'000u);
}

// A process whose agent told that little lives of the much that it allocated.
TEST(PrunePageTest, WhatLivesIsKeptHoweverLittleItIs) {
  PageBuilder b;
  FillMany(b, 2'000);
  Profile& p = b.profile();
  const uint32_t leak = b.Frame("Contoso.Leak", "Contoso.Leak.Add");
  const uint32_t node = b.Stack({leak}), type = b.Type("Leaked");
  const auto live = [&](uint8_t age, bool young, uint64_t samples) {
    profile::LiveCell c;
    c.node = node;
    c.type = type;
    c.age_bucket = age;
    c.young = young;
    c.value = profile::EstimateSampled(samples, 64);
    p.At(profile::Measure::kLive).lives.push_back(c);
  };
  live(3, false, 2);
  live(3, false, 1);
  live(5, false, 4);
  live(0, true, 100);  // nobody knows whether it lives
  const PageTree page = PrunePage(p, 8);
  ASSERT_EQ(page.lives.size(), 2u);
  EXPECT_EQ(page.lives[0].value.samples, 3u);
  EXPECT_EQ(page.lives[1].value.samples, 4u);
  for (const profile::LiveCell& c : page.lives) EXPECT_EQ(page.nodes[c.node].frame, leak);
  EXPECT_EQ(SumOf(page.cells).samples, p.Total().samples);

  p.shown().measure = profile::Measure::kLive;
  EXPECT_TRUE(PrunePage(p, 8).cells.empty());
}

TEST(PrunePageTest, EventsAreKeptHoweverFewTheyAre) {
  PageBuilder b;
  FillMany(b, 2'000);
  Profile& p = b.profile();
  const uint32_t error = b.Frame("Contoso.Errors", "Contoso.Errors.Throw");
  const uint32_t lock = b.Frame("Contoso.Locks", "Contoso.Locks.Enter");
  const uint32_t type = b.Type("Contoso.Error");
  const uint32_t at_error = b.Stack({error}), at_lock = b.Stack({lock});
  testing::AddEvents(p, profile::Measure::kExceptions, at_error, type, 2, 1, 1);
  testing::AddEvents(p, profile::Measure::kExceptions, at_error, type, 3, 0, 2);
  testing::AddEvents(p, profile::Measure::kLocks, at_lock, type, 1, 1e6);
  const PageTree page = PrunePage(p, 8);
  ASSERT_EQ(page.events.size(), 2u);
  ASSERT_EQ(page.events[0].cells.size(), 2u) << "of two threads";
  ASSERT_EQ(page.threads.size(), 3u) << "with the one that waited";
  EXPECT_EQ(page.threads[1].thread, 2u);
  EXPECT_EQ(SumOf(page.events[0].cells).count, 5);
  EXPECT_EQ(page.nodes[page.events[0].cells[0].node].frame, error);
  EXPECT_EQ(page.nodes[page.events[1].cells[0].node].frame, lock);
  EXPECT_EQ(page.events[1].cells[0].type, 0u) << "locks have no type";
  EXPECT_EQ(SumOf(page.cells).samples, p.figures[0].Total().samples);

  p.shown_index = 2;
  const PageTree alone = PrunePage(p, 8, /*only_shown=*/true);
  EXPECT_EQ(alone.events.size(), 1u);
  EXPECT_EQ(alone.allocated, nullptr);
  EXPECT_TRUE(alone.cells.empty());
  EXPECT_EQ(alone.nodes.size(), 2u);
}

// Most events are on stacks of their own: they are folded like allocations.
TEST(PrunePageTest, FoldsEventsAndKeepsTheirTotals) {
  PageBuilder b;
  FillMany(b, 2'000);
  Profile& p = b.profile();
  const std::vector<Cell> cells = p.figures[0].cells;
  double count = 0;
  for (size_t i = 0; i < cells.size(); i += 9) {
    testing::AddEvents(p, profile::Measure::kExceptions, cells[i].node, cells[i].type, 1, 0);
    ++count;
  }
  const PageTree page = PrunePage(p, 10);
  EXPECT_LE(page.nodes.size(), 10u);
  EXPECT_LE(page.events[0].cells.size(), 30u);
  EXPECT_EQ(SumOf(page.events[0].cells).count, count);
}

}  // namespace
}  // namespace clrscope::exporter
