// SPDX-License-Identifier: Apache-2.0
#include "profile/views/root_by_request.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "profile/testing/orders_profile.h"
#include "profile/views/call_tree.h"

namespace clrscope::profile {
namespace {

std::string PathOf(const Profile& p, uint32_t node) {
  std::string path;
  for (; node != 0; node = p.nodes[node].parent)
    path =
        std::string(p.str(p.frames[p.nodes[node].frame].method)) + (path.empty() ? "" : ";" + path);
  return path;
}

std::map<std::string, double> BytesByPath(const Profile& p, const Figure& f) {
  std::map<std::string, double> out;
  for (const Cell& c : f.cells) out[PathOf(p, c.node)] += c.value.seen_amount;
  return out;
}

// Two routes and what belongs to none allocate at the same site; one throws there.
Profile ServiceProfile() {
  testing::OrdersBuilder b;
  b.AddProcess(42, "orders");
  const uint32_t main = b.AddFrame("M", "M.Main"), load = b.AddFrame("M", "M.Load");
  const uint32_t leaf = b.Stack({main, load}), top = b.Stack({main});
  const uint32_t type = b.AddType("A", 1);
  for (const char* route : {"GET /a", "GET /b"})
    for (const uint64_t step : {10u, 20u})
      b.p.labels.push_back(LabelSet()
                               .With(LabelKey::kRequest, b.p.strings.Intern(route).value)
                               .With(LabelKey::kDuration, step));
  Figure& allocated = b.p.shown();
  allocated.cells_by_request = allocated.cells_by_time = true;
  uint64_t samples = 1;
  for (const uint32_t labels : {1u, 2u, 3u, 0u}) {
    allocated.cells.push_back(
        {leaf, type, 0, HeapKind::kSoh, EstimateSampled(samples, 10), labels});
    allocated.timed.push_back({static_cast<uint32_t>(allocated.cells.size() - 1), 0, kSecond,
                               EstimateSampled(samples, 10)});
    samples *= 2;
  }
  allocated.cells.push_back({0, type, 0, HeapKind::kSoh, EstimateSampled(32, 10), 1});
  Figure& thrown = b.p.At(Measure::kExceptions);
  thrown.source = Source::kException;
  thrown.cells.push_back({top, type, 0, HeapKind::kUnknown, {}, 4});
  Figure& live = b.p.At(Measure::kLive);
  live.cells.push_back({leaf, type, 0, HeapKind::kSoh, EstimateSampled(1, 10)});
  live.lives.emplace_back().node = leaf;
  Figure& requests = b.p.At(Measure::kRequests);
  requests.source = Source::kRequest;
  requests.cells.push_back({0, type, 0, HeapKind::kUnknown, {}, 1});
  return std::move(b.p);
}

TEST(RootByRequestTest, TheRouteIsTheOutermostFrame) {
  Profile p = ServiceProfile();
  RootByRequest(p);
  EXPECT_EQ(BytesByPath(p, p.shown()),
            (std::map<std::string, double>{{"GET /a", 320},
                                           {"GET /a;M.Main;M.Load", 10 + 20},
                                           {"GET /b;M.Main;M.Load", 40},
                                           {"(no request);M.Main;M.Load", 80}}));
  ASSERT_EQ(p.Find(Measure::kExceptions)->cells.size(), 1u);
  EXPECT_EQ(PathOf(p, p.Find(Measure::kExceptions)->cells[0].node), "GET /b;M.Main");
  for (uint32_t i = 1; i < p.nodes.size(); ++i) {
    EXPECT_LT(p.nodes[i].parent, i) << "a parent comes before its children";
    const Frame& f = p.frames[p.nodes[i].frame];
    const bool code = p.str(f.method).starts_with("M.");
    EXPECT_EQ(f.flags, code ? 0 : kPseudo) << p.str(f.method);
  }
}

TEST(RootByRequestTest, WhatDoesNotKnowRequestsStaysAsItIs) {
  Profile p = ServiceProfile();
  const Profile before = ServiceProfile();
  RootByRequest(p);
  const auto live = [](const Profile& of) { return PathOf(of, of.lives().front().node); };
  EXPECT_EQ(live(p), "M.Main;M.Load");
  EXPECT_EQ(PathOf(p, p.Find(Measure::kLive)->cells[0].node), "M.Main;M.Load");
  EXPECT_EQ(p.Find(Measure::kRequests)->cells[0].node, 0u);

  Profile counted = ServiceProfile();
  counted.shown().cells_by_request = false;
  RootByRequest(counted);
  EXPECT_EQ(BytesByPath(counted, counted.shown()), BytesByPath(before, before.shown()));
}

TEST(RootByRequestTest, SumsAndWhatCameWhenAreTheSame) {
  Profile p = ServiceProfile();
  const Profile before = ServiceProfile();
  RootByRequest(p);
  EXPECT_EQ(p.Total().samples, before.Total().samples);
  ASSERT_EQ(p.shown().timed.size(), before.shown().timed.size());
  for (size_t i = 0; i < p.shown().timed.size(); ++i)
    EXPECT_EQ(p.shown().timed[i].cell, before.shown().timed[i].cell);
  const CallTree tree = BuildCallTree(p, {});
  EXPECT_EQ(tree.nodes[0].children.size(), 3u) << "two routes, and none";
}

}  // namespace
}  // namespace clrscope::profile
