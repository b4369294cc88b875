// SPDX-License-Identifier: Apache-2.0
// What the agent follows gets the routes of the requests that allocated it. Here, as src/analysis
// may not use the payload builders of src/nettrace/testing.
#include "analysis/families/requests/live_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/live/leaks.h"
#include "analysis/families/requests/route_names.h"
#include "analysis/process_fold.h"
#include "capture/testing/request_events.h"
#include "profile/requests.h"
#include "profile/views/filter.h"
#include "profile/views/request_costs.h"
#include "profile/views/show_live.h"

namespace clrscope::capture {
namespace {

using analysis::EndedRequests;
using profile::AgentInterval;
using profile::IntervalActivity;
using profile::IntervalFrame;
using profile::IntervalLive;
using testing::RequestEvents;
using testing::TestId;

constexpr int64_t kLiveMs = 1'000'000, kLiveSecond = 1'000'000'000;
constexpr double kObject = 1 << 20;  // bytes: nearly certain to be sampled

class KeptIntervals final : public profile::IntervalSink {
 public:
  void OnInterval(AgentInterval&& interval) override { all.push_back(std::move(interval)); }
  std::vector<AgentInterval> all;
};

using Objects = std::map<std::string, uint64_t>;  // by the route's name; "-": of none

// A recording of requests and live objects; the agent began `kShift` after it.
class LiveRequestsTest : public ::testing::Test, public RequestEvents {
 protected:
  static constexpr int64_t kShift = 40 * kLiveMs;

  LiveRequestsTest() {
    recording_.processes.push_back(std::make_unique<profile::ProcessTables>());
    tables().info.Record(profile::Measure::kAllocations);
    tables().info.Record(profile::Measure::kRequests);
    analysis::FoldOptions options;
    options.requests = true;
    slices_ = std::make_unique<analysis::Aggregate>(&recording_, analysis::TimeRange{},
                                                    analysis::Aggregate::Detail{.requests = true});
    fold_ = std::make_unique<analysis::ProcessFold>(&recording_.strings, &tables(), 0,
                                                    slices_.get(), options);
    RequestEvents::Feed(fold_.get());
    requests().ExpectTemplates();
    sink_ = requests().FollowLive(&out_);
    profile::AgentTables& agent = tables().agent;
    agent.used = true;
    agent.methods = {{"App", "", "App.Cache.Add", "App.Cache.Add", 1, 0}};
    agent.types.push_back({5, "App.Order", "App.Order"});
    agent.nodes.push_back({0, 0});
  }
  profile::ProcessTables& tables() { return *recording_.processes[0]; }
  analysis::RequestFold& requests() { return fold_->requests(); }

  // Activities that the next frame tells; times are the recording's.
  void Tell(uint32_t number, const TestId& id, int64_t first_ns) {
    next_.activities.push_back({number, first_ns - kShift, id.bytes()});
  }
  // Objects of a number in the next frame, that live or were born and died.
  void Live(uint32_t number, uint64_t objects = 1) {
    IntervalLive l;
    l.node = l.type = 1;
    l.generation = 2;
    l.birth_bucket = 3;
    l.value = profile::EstimateSampled(objects, kObject);
    l.request = number;
    next_.lives.push_back(l);
  }
  void Turn(uint32_t number) {
    profile::IntervalTurnover t;
    t.node = t.type = 1;
    t.births = t.deaths = profile::EstimateSampled(1, kObject);
    t.request = number;
    next_.turnover.push_back(t);
  }
  void EndFrame(int64_t end_ns) {
    next_.sequence = sequence_++;
    next_.requests = next_.live = true;
    next_.start_ns = last_ns_;
    next_.end_ns = last_ns_ = end_ns - kShift;
    AgentInterval interval;
    interval.shift_ns = kShift;
    interval.frame = std::exchange(next_, {});
    sink_->OnInterval(std::move(interval));
  }
  // What arrived last.
  Objects Lives() {
    Objects out;
    for (const IntervalLive& l : out_.all.back().frame.lives)
      out[NameOf(l.request)] += l.value.samples;
    return out;
  }
  Objects Turnover() {
    Objects out;
    for (const auto& t : out_.all.back().frame.turnover) out[NameOf(t.request)] += t.births.samples;
    return out;
  }
  profile::Profile Bound(bool by_request = true) {
    analysis::Aggregate all(&recording_, {}, {.requests = by_request});
    for (const AgentInterval& i : out_.all) all.Add(i);
    return analysis::Bind(recording_, all);
  }
  std::string NameOf(uint32_t request) {
    const auto names = analysis::RouteNames(tables(), recording_.strings);
    EXPECT_LE(request, names.size());
    return request == 0 ? "-" : names[request - 1];
  }

  profile::Recording recording_;
  std::unique_ptr<analysis::Aggregate> slices_;
  std::unique_ptr<analysis::ProcessFold> fold_;
  profile::IntervalSink* sink_ = nullptr;
  KeptIntervals out_;
  IntervalFrame next_;
  uint64_t sequence_ = 0;
  int64_t last_ns_ = 0;
};

TEST_F(LiveRequestsTest, ObjectsHaveTheRouteOfTheirRequest) {
  Start(100 * kLiveMs, {1}, "/items/17");
  Start(110 * kLiveMs, {2}, "/items/18");
  Start(120 * kLiveMs, {3}, "/small");
  for (uint32_t n = 1; n <= 3; ++n) Stop((150 + n) * kLiveMs, {n});
  Tell(1, {1}, 105 * kLiveMs);
  Tell(2, {2, {4, 5}}, 115 * kLiveMs);  // something within it
  Tell(3, {3}, 125 * kLiveMs);
  Tell(4, {99}, 125 * kLiveMs);  // nobody told its start
  for (uint32_t n = 0; n <= 4; ++n) Live(n);
  Turn(1);
  Turn(2);
  EndFrame(1000 * kLiveMs);
  requests().Advance(1200 * kLiveMs);
  EXPECT_TRUE(out_.all.empty()) << "routes are not known yet";
  Template(1300 * kLiveMs, "/items/{id}", 2);
  Template(1300 * kLiveMs, "/small");
  Collected(1300 * kLiveMs);
  requests().Advance(1800 * kLiveMs);
  ASSERT_EQ(out_.all.size(), 1u);
  EXPECT_EQ(Lives(), (Objects{{"GET /items/{id}", 2}, {"GET /small", 1}, {"-", 2}}));
  EXPECT_EQ(out_.all[0].frame.lives.size(), 3u) << "a row for each route";
  EXPECT_EQ(Turnover(), (Objects{{"GET /items/{id}", 2}}));
  EXPECT_EQ(out_.all[0].frame.turnover.size(), 1u);
  EXPECT_TRUE(out_.all[0].frame.activities.empty());
}

TEST_F(LiveRequestsTest, ANumberMeansTheSameInLaterFrames) {
  Start(100 * kLiveMs, {1}, "/small");
  Stop(200 * kLiveMs, {1});
  Template(900 * kLiveMs, "/small");
  Collected(900 * kLiveMs);
  Tell(1, {1}, 150 * kLiveMs);
  EndFrame(500 * kLiveMs);
  // Long after the request is forgotten.
  const int64_t later = EndedRequests::kKeptNs + 10 * kLiveSecond;
  Collected(later);
  requests().Advance(later);
  Live(1);
  Live(2);
  EndFrame(later);
  requests().Finish(later + kLiveSecond);
  ASSERT_EQ(out_.all.size(), 2u);
  EXPECT_EQ(Lives(), (Objects{{"GET /small", 1}, {"-", 1}}))
      << "2 was never told: its frame was lost";
}

TEST_F(LiveRequestsTest, WhatComesAfterTheResponseIsNotTheRoutes) {
  Start(100 * kLiveMs, {1}, "/small");
  Stop(200 * kLiveMs, {1});
  Template(900 * kLiveMs, "/small");
  Collected(900 * kLiveMs);
  Tell(1, {1}, 190 * kLiveMs);
  Tell(2, {1}, 300 * kLiveMs);
  Live(1, 3);
  Live(2, 4);
  EndFrame(950 * kLiveMs);
  requests().Finish(2 * kLiveSecond);
  EXPECT_EQ(Lives(), (Objects{{"GET /small", 3}, {"(after the response)", 4}}));
}

TEST_F(LiveRequestsTest, ARequestThatGoesOnIsNamedOnceItsTemplateIsKnown) {
  Start(100 * kLiveMs, {1}, "/items/17");
  Tell(1, {1}, 150 * kLiveMs);
  Live(1);
  EndFrame(500 * kLiveMs);
  Collected(2 * kLiveSecond);
  requests().Advance(3 * kLiveSecond);
  ASSERT_EQ(out_.all.size(), 1u) << "nobody waits for its end";
  Stop(4 * kLiveSecond, {1});
  Template(4500 * kLiveMs, "/items/{id}");
  Collected(4500 * kLiveMs);
  EXPECT_EQ(Lives(), (Objects{{"GET /items/{id}", 1}}));
  requests().Advance(5 * kLiveSecond);
  Live(1);
  EndFrame(4600 * kLiveMs);
  requests().Finish(6 * kLiveSecond);
  EXPECT_EQ(Lives(), (Objects{{"GET /items/{id}", 1}}));
}

TEST_F(LiveRequestsTest, FramesWaitForAHistogramThatSaysNothingForSomeSecondsOnly) {
  EndFrame(500 * kLiveMs);
  requests().Advance(3 * kLiveSecond);
  EXPECT_TRUE(out_.all.empty());
  requests().Advance(4 * kLiveSecond);
  EXPECT_EQ(out_.all.size(), 1u);
  requests().Finish(5 * kLiveSecond);
  EndFrame(9 * kLiveSecond);
  EXPECT_EQ(out_.all.size(), 2u) << "what comes after the end goes on at once";
}

TEST_F(LiveRequestsTest, AnotherAgentBeginsItsNumbersAnew) {
  Start(100 * kLiveMs, {1}, "/small");
  Stop(200 * kLiveMs, {1});
  Template(900 * kLiveMs, "/small");
  Tell(1, {1}, 150 * kLiveMs);
  EndFrame(500 * kLiveMs);
  sequence_ = 0;
  Live(1);
  EndFrame(600 * kLiveMs);
  requests().Finish(2 * kLiveSecond);
  EXPECT_EQ(Lives(), (Objects{{"-", 1}}));
}

TEST_F(LiveRequestsTest, InWindowsOnlyWhatAWindowSawIsOfARoute) {
  requests().BeginWindows(0);
  requests().OpenWindow(1);
  Start(100 * kLiveMs, {1}, "/small");
  Stop(110 * kLiveMs, {1});
  Start(120 * kLiveMs, {2}, "/small");  // goes on after the window
  requests().CloseWindow(200 * kLiveMs, false);
  Template(900 * kLiveMs, "/small", 50);
  Collected(900 * kLiveMs);
  Tell(1, {1}, 105 * kLiveMs);
  Tell(2, {2}, 150 * kLiveMs);
  Tell(3, {2}, 400 * kLiveMs);  // its id stays on
  Tell(4, {3}, 450 * kLiveMs);  // of no window
  for (uint32_t n = 1; n <= 4; ++n) Live(n);
  EndFrame(800 * kLiveMs);
  requests().Finish(2 * kLiveSecond);
  EXPECT_EQ(Lives(), (Objects{{"GET /small", 2}, {"-", 2}}));
}

TEST_F(LiveRequestsTest, ReportsKnowThemWhereTheyAskForThem) {
  Start(100 * kLiveMs, {1}, "/small");
  Stop(200 * kLiveMs, {1});
  Template(900 * kLiveMs, "/small");
  Tell(1, {1}, 150 * kLiveMs);
  Live(1, 5);
  Live(0, 2);
  EndFrame(950 * kLiveMs);
  requests().Finish(2 * kLiveSecond);
  recording_.end_ns = 2 * kLiveSecond;
  profile::Profile plain = Bound(false);
  ASSERT_NE(plain.Find(profile::Measure::kLive), nullptr);
  EXPECT_EQ(plain.Find(profile::Measure::kLive)->cells.size(), 1u);
  EXPECT_FALSE(plain.Find(profile::Measure::kLive)->by_request());
  profile::Profile p = Bound();
  const profile::Figure* live = p.Find(profile::Measure::kLive);
  EXPECT_TRUE(live->by_request());
  EXPECT_EQ(live->cells.size(), 2u);
  EXPECT_EQ(live->Total().samples, plain.Find(profile::Measure::kLive)->Total().samples);
  for (const profile::RequestCost& cost : profile::RequestCosts(p))
    EXPECT_EQ(cost.live.samples, cost.route == "GET /small" ? 5u : 2u) << cost.route;
  profile::Filter filter;
  filter.request = "small";
  ASSERT_TRUE(profile::Apply(filter, p).ok());
  profile::ShowLive(p);
  EXPECT_EQ(p.Total().samples, 5u);
}

TEST_F(LiveRequestsTest, LeaksTellAndAreNarrowedByTheirRoutes) {
  Start(100 * kLiveMs, {1}, "/small");
  Stop(200 * kLiveMs, {1});
  Template(900 * kLiveMs, "/small");
  Tell(1, {1}, 150 * kLiveMs);
  for (int i = 1; i <= 30; ++i) {
    Live(1, 10 + static_cast<uint64_t>(i));
    Live(0, 20);
    EndFrame(i * kLiveSecond);
  }
  requests().Finish(31 * kLiveSecond);
  analysis::Aggregate all(&recording_, {}, {.requests = true});
  for (const AgentInterval& i : out_.all) all.Add(i);
  std::vector<analysis::AgentPlaces> places;
  analysis::BindOptions bind;
  bind.agent_places = &places;
  const profile::Profile p = analysis::Bind(recording_, all, bind);
  for (const char* wanted : {"", "small", "(no request)"}) {
    analysis::LeakFinder finder(&p, &places);
    if (*wanted != 0)
      finder.KeepRoutes([wanted](std::string_view name) { return name.find(wanted) != name.npos; });
    for (const AgentInterval& i : out_.all) finder.Measure(i);
    for (const AgentInterval& i : out_.all) finder.Add(i);
    const analysis::Leaks leaks = finder.Finish();
    ASSERT_EQ(leaks.rows.size(), 1u) << wanted;
    const analysis::LeakRow& row = leaks.rows[0];
    std::vector<std::string> names;
    for (const auto& [route, value] : row.requests)
      names.emplace_back(route.value == 0 ? profile::kNoRequest : p.str(route));
    if (*wanted == 0) {
      EXPECT_EQ(names, (std::vector<std::string>{"GET /small", "(no request)"}));
      EXPECT_EQ(row.live.samples, 60u);
    } else {
      EXPECT_EQ(row.live.samples, wanted[0] == 's' ? 40u : 20u);
      EXPECT_EQ(names.size(), 1u);
    }
  }
}

TEST(EndedRequestsTest, AreKeptForSomeSecondsAndBounded) {
  EndedRequests ended;
  const auto path = [](uint32_t n) { return analysis::ActivityPath::Of(TestId{n}.bytes()); };
  EXPECT_TRUE(ended.Add({path(1), 0, 0, 0, 7, true}));
  EXPECT_TRUE(ended.Add({path(2), kLiveSecond, 0, kLiveSecond, 8, true}));
  EXPECT_TRUE(ended.Add({path(1), 2 * kLiveSecond, 0, 2 * kLiveSecond, 9, true}));  // once more
  ASSERT_NE(ended.Find(path(1)), nullptr);
  EXPECT_EQ(ended.Find(path(1))->route, 9u);
  ended.ForgetUpTo(EndedRequests::kKeptNs + kLiveSecond / 2);
  ASSERT_NE(ended.Find(path(1)), nullptr) << "the first of that id was forgotten, not this one";
  EXPECT_EQ(ended.Find(path(1))->route, 9u);
  EXPECT_EQ(ended.Find(path(2))->route, 8u);
  ended.ForgetUpTo(EndedRequests::kKeptNs + 10 * kLiveSecond);
  EXPECT_EQ(ended.size(), 0u);
  bool room = true;
  for (uint32_t n = 1; n <= EndedRequests::kMost; ++n)
    room = ended.Add({path(n), 0, 0, 0, n, true}) && room;
  EXPECT_TRUE(room);
  EXPECT_FALSE(ended.Add({path(EndedRequests::kMost + 1), 0, 0, 0, 5, true}));
  EXPECT_EQ(ended.size(), EndedRequests::kMost);
  EXPECT_EQ(ended.Find(path(1)), nullptr);
  EXPECT_EQ(ended.Find(path(2))->route, 2u);
  EXPECT_EQ(ended.Find(path(EndedRequests::kMost + 1))->route, 5u);
}

}  // namespace
}  // namespace clrscope::capture
