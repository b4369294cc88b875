// SPDX-License-Identifier: Apache-2.0
// Conventional routes of MVC, from events to the rows of a report: which of them a request takes,
// and rows by action.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/requests/action_verdicts.h"
#include "capture/testing/request_events.h"
#include "profile/views/request_costs.h"

namespace clrscope::analysis {
namespace {

using capture::testing::RequestEvents;
using capture::testing::TestId;

constexpr int64_t kRoutingMs = 1'000'000, kRoutingSecond = 1'000'000'000;
const std::string kDefault = "{controller=Home}/{action=Index}/{id?}";
const std::string kAreas = "{area:exists}/{controller=Home}/{action=Index}/{id?}";

class RoutingFeeder : public RequestEvents {
 public:
  RoutingFeeder() {
    recording_.processes.push_back(std::make_unique<profile::ProcessTables>());
    tables().info.Record(profile::Measure::kRequests);
    FoldOptions options;
    options.requests = true;
    fold_ = std::make_unique<ProcessFold>(&recording_.strings, &tables(), 0, &sums_, options);
    Feed(fold_.get());
    requests().ExpectTemplates();
    requests().ExpectActions();
  }
  uint32_t Request(int64_t at, std::string_view path, const std::string& values = "") {
    const uint32_t n = ++n_;
    Start(at, {n}, path);
    if (!values.empty()) Matched(at + 100'000, {n}, values);
    Stop(at + kRoutingMs, {n});
    return n;
  }
  RequestFold& requests() { return fold_->requests(); }
  // The rows of what was fed, which ends here.
  std::map<std::string, profile::RequestCost> Rows() {
    fold_->Finish();
    recording_.end_ns = 60 * kRoutingSecond;
    profile_ = Bind(recording_, sums_);
    std::map<std::string, profile::RequestCost> out;
    for (const profile::RequestCost& c : profile::RequestCosts(profile_)) out.emplace(c.route, c);
    return out;
  }
  static std::map<std::string, double> Counts(
      const std::map<std::string, profile::RequestCost>& rows) {
    std::map<std::string, double> out;
    for (const auto& [name, row] : rows) out[name] = row.count;
    return out;
  }

 private:
  profile::ProcessTables& tables() { return *recording_.processes[0]; }
  profile::Recording recording_;
  Aggregate sums_{&recording_, {}, {.requests = true}};
  profile::Profile profile_;
  std::unique_ptr<ProcessFold> fold_;
  uint32_t n_ = 0;
};
using RouteCounts = std::map<std::string, double>;

TEST(RequestRouting, TheFirstRequestsWaitUntilActionsAreKnown) {
  RoutingFeeder f;
  const auto round = [&f](int64_t at, bool told) {
    f.Request(at, "/Home/Big/7", told ? "[controller, Home],[action, Big],[id, 7]" : "");
    f.Request(at + 10 * kRoutingMs, "/admin",
              told ? "[controller, Home],[action, Index],[area, Admin]" : "");
    f.Request(at + 20 * kRoutingMs, "/no/such");
    f.Template(at + 500 * kRoutingMs, kAreas);
    f.Template(at + 500 * kRoutingMs, kDefault);
    f.Histogram(at + 500 * kRoutingMs, RequestEvents::Tags("", "GET", 404), 1);
    f.Collected(at + 500 * kRoutingMs);
    f.requests().Advance(at + 999 * kRoutingMs);
  };
  EXPECT_FALSE(f.requests().WantsActions());
  round(0, false);
  EXPECT_TRUE(f.requests().WantsActions());
  EXPECT_FALSE(f.requests().WantsActions()) << "nothing new";
  f.requests().OpenRouting();
  f.Request(kRoutingSecond - 20 * kRoutingMs, "/", "[controller, Home],[action, Index]");
  round(kRoutingSecond, true);
  f.requests().CloseRouting(2 * kRoutingSecond, false);
  for (int s = 2; s < 6; ++s) round(s * kRoutingSecond, false);
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()),
            (RouteCounts{{"GET /" + kAreas, 6}, {"GET /" + kDefault, 7}, {"GET (404)", 6}}));
}

TEST(RequestRouting, TheFirstRequestsWaitForALookThatIsLate) {
  RoutingFeeder f;
  const auto collect = [&f](int64_t s) {
    f.Collected(s * kRoutingSecond);
    f.requests().Advance(s * kRoutingSecond + 499 * kRoutingMs);
  };
  f.Request(kRoutingMs, "/no/such");
  f.Template(kRoutingSecond, kDefault, 1);
  for (int s = 1; s <= 3; ++s) collect(s);
  EXPECT_TRUE(f.requests().WantsActions());
  f.requests().OpenRouting();
  f.Request(4 * kRoutingSecond, "/", "[controller, Home],[action, Index]");
  f.Request(4 * kRoutingSecond + 10 * kRoutingMs, "/no/such");
  for (int s = 5; s <= 7; ++s) collect(s);
  f.requests().CloseRouting(7 * kRoutingSecond, false);
  f.Histogram(8 * kRoutingSecond, RequestEvents::Tags("", "GET", 404), 2);
  for (int s = 8; s <= 9; ++s) collect(s);
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()),
            (RouteCounts{{"GET /" + kDefault, 1}, {"GET (404)", 2}}));
}

TEST(RequestRouting, ALookThatEndsWithTheRecordingTellsOfWhatEndedBefore) {
  RoutingFeeder f;
  f.Request(kRoutingMs, "/no/such");
  f.Template(kRoutingSecond, kDefault, 1);
  f.Collected(kRoutingSecond);
  f.requests().Advance(kRoutingSecond + 499 * kRoutingMs);
  f.requests().OpenRouting();
  f.Request(2 * kRoutingSecond, "/", "[controller, Home],[action, Index]");
  f.Request(2 * kRoutingSecond + 10 * kRoutingMs, "/no/such");
  f.Histogram(2 * kRoutingSecond + 500 * kRoutingMs, RequestEvents::Tags("", "GET", 404), 2);
  f.Collected(2 * kRoutingSecond + 500 * kRoutingMs);
  f.requests().CloseRouting(2 * kRoutingSecond + 600 * kRoutingMs, false);
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()),
            (RouteCounts{{"GET /" + kDefault, 1}, {"GET (404)", 2}}));
}

TEST(RequestRouting, WithoutAnswersTheRuntimesCountsDecide) {
  RoutingFeeder f;
  for (int s = 0; s < 6; ++s) {
    const int64_t at = s * kRoutingSecond;
    f.Request(at, "/favicon.ico");
    f.Histogram(at + 500 * kRoutingMs, RequestEvents::Tags("", "GET", 404), 1);
    if (s == 0) {
      f.Request(at, "/Home/Big/7");
      f.Template(at + 500 * kRoutingMs, kDefault);
    }
    f.Collected(at + 500 * kRoutingMs);
    f.requests().Advance(at + 999 * kRoutingMs);
  }
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()),
            (RouteCounts{{"GET /" + kDefault, 1}, {"GET (404)", 6}}));
}

TEST(RequestRouting, WhatWasDroppedIsNoAnswer) {
  RoutingFeeder f;
  f.requests().OpenRouting();
  f.Template(0, kDefault, 5);
  f.Collected(1);
  f.Request(kRoutingMs, "/", "[controller, Home],[action, Index]");
  f.Request(10 * kRoutingMs, "/Home/Big");  // its event was dropped
  f.requests().CloseRouting(kRoutingSecond, /*failed=*/true);
  f.Collected(kRoutingSecond);
  f.requests().Advance(3 * kRoutingSecond);
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()), (RouteCounts{{"GET /" + kDefault, 5}}));
}

TEST(RequestRouting, ActionsAreRowsOfTheirOwn) {
  RoutingFeeder f;
  f.requests().SplitActions();
  f.requests().OpenRouting();
  f.Template(0, "/x");
  f.Collected(1);
  for (int i = 0; i < 4; ++i) {
    const int64_t at = (i + 1) * 10 * kRoutingMs;
    f.Request(at, "/", "[controller, Home],[action, Index]");
    f.Request(at + kRoutingMs, "/HOME/big/7", "[controller, Home],[action, Big],[id, 7]");
    f.Request(at + 2 * kRoutingMs, "/admin", "[controller, Home],[action, Index],[area, Admin]");
    f.Request(at + 3 * kRoutingMs, "/no/such");
  }
  f.Start(60 * kRoutingMs, {100}, "/home/fail");
  f.Matched(61 * kRoutingMs, {100}, "[controller, Home],[action, Fail]");
  f.Unhandled(62 * kRoutingMs, {100});
  f.Stop(63 * kRoutingMs, {100});
  f.Start(70 * kRoutingMs, {101}, "/home/big");
  f.Matched(71 * kRoutingMs, {101}, "[controller, Home],[action, Big]");
  f.Ended(72 * kRoutingMs, {101}, 503);
  f.Stop(73 * kRoutingMs, {101});
  f.Template(500 * kRoutingMs, kAreas, 4);
  f.Template(500 * kRoutingMs, kDefault, 8);
  f.Template(500 * kRoutingMs, kDefault, 1, "GET", 500);
  f.Template(500 * kRoutingMs, kDefault, 1, "GET", 503);
  f.Histogram(500 * kRoutingMs, RequestEvents::Tags("", "GET", 404), 4);
  f.Collected(500 * kRoutingMs);
  f.requests().Advance(2 * kRoutingSecond);
  const auto rows = f.Rows();
  EXPECT_EQ(RoutingFeeder::Counts(rows), (RouteCounts{{"GET /Home/Index/{id?}", 4},
                                                      {"GET /Home/Big/{id?}", 5},
                                                      {"GET /Home/Fail/{id?}", 1},
                                                      {"GET /Admin/Home/Index/{id?}", 4},
                                                      {"GET /x", 1},
                                                      {"GET (404)", 4}}));
  EXPECT_EQ(rows.at("GET /Home/Fail/{id?}").facts.failed, 1);
  EXPECT_EQ(rows.at("GET /Home/Big/{id?}").facts.failed, 1);
  EXPECT_EQ(rows.at("GET /Home/Index/{id?}").facts.failed, 0);
}

TEST(RequestRouting, WhatIsOfNoKnownActionStaysAtTheTemplate) {
  RoutingFeeder f;
  f.requests().SplitActions();
  f.requests().OpenRouting();
  f.Request(0, "/", "[controller, Home],[action, Index]");
  f.Template(500 * kRoutingMs, kDefault, 3);  // two began before the recording
  f.Collected(500 * kRoutingMs);
  f.requests().Advance(2 * kRoutingSecond);
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()),
            (RouteCounts{{"GET /Home/Index/{id?}", 1}, {"GET /" + kDefault, 2}}));
}

TEST(RequestRouting, InWindowsActionsShareWhatTheRuntimeCounts) {
  RoutingFeeder f;
  f.requests().SplitActions();
  f.requests().BeginWindows(0);
  for (int s = 0; s < 10; ++s) {
    const int64_t at = s * kRoutingSecond;
    f.requests().OpenWindow(static_cast<uint64_t>(s) + 1);
    f.requests().OpenRouting();
    for (int i = 0; i < 3; ++i)
      f.Request(at + i * 2 * kRoutingMs, "/home/big", "[controller, Home],[action, Big]");
    const uint32_t n = f.Request(at + 9 * kRoutingMs, "/", "[controller, Home],[action, Index]");
    f.Ended(at + 9 * kRoutingMs + kRoutingMs / 2, {n}, 500);
    f.requests().CloseWindow(at + 100 * kRoutingMs, false);
    f.requests().CloseRouting(at + 100 * kRoutingMs, false);
    f.Template(at + kRoutingSecond - 1, kDefault, 30);
    f.Template(at + kRoutingSecond - 1, kDefault, 10, "GET", 500);
    f.Collected(at + kRoutingSecond - 1);
    f.requests().Advance(at + kRoutingSecond);
  }
  const auto rows = f.Rows();
  ASSERT_EQ(RoutingFeeder::Counts(rows).size(), 2u);
  EXPECT_NEAR(rows.at("GET /Home/Big/{id?}").count, 300, 1e-6);
  EXPECT_NEAR(rows.at("GET /Home/Index/{id?}").count, 100, 1e-6);
  EXPECT_NEAR(rows.at("GET /Home/Index/{id?}").facts.failed, 100, 1e-6);
  EXPECT_EQ(rows.at("GET /Home/Big/{id?}").facts.failed, 0);
}

using Statuses = std::map<uint32_t, double>;

// A second of a program whose requests run again for "/error" (500) or "/status/{code}" (404): of
// 20 of /orders 5 throw, all 10 of /throw do, and all 4 of /gone are not found; all that is known
// of that is what the runtime counts.
class ReexecutedFeeder : public RoutingFeeder {
 public:
  void Second(int64_t at, bool told) {
    for (int i = 0; i < 20; ++i) Ask(at, "/orders/" + std::to_string(i), i < 5 ? 500 : 200, told);
    for (int i = 0; i < 10; ++i) Ask(at, "/throw/x" + std::to_string(i), 500, told);
    for (int i = 0; i < 4; ++i) Ask(at, "/gone/" + std::to_string(i), 404, told);
    const int64_t end = at + 900 * kRoutingMs;
    Template(end, "/orders/{id}", 15);
    Template(end, "/error", 15, "GET", 500);
    Template(end, "/status/{code}", 4, "GET", 404);
    Matches(end, "/orders/{id}", 20);
    Matches(end, "/throw/{name}", 10);
    Matches(end, "/gone/{id}", 4);
    Matches(end, "/error", 15);
    Matches(end, "/status/{code}", 4);
    Collected(end);
    requests().Advance(at + kRoutingSecond + 499 * kRoutingMs);
  }
  static void ExpectTruth(const std::map<std::string, profile::RequestCost>& rows, double seconds) {
    EXPECT_EQ(Counts(rows), (std::map<std::string, double>{{"GET /orders/{id}", 20 * seconds},
                                                           {"GET /throw/{name}", 10 * seconds},
                                                           {"GET /gone/{id}", 4 * seconds}}));
    const auto facts = [&rows](const char* name) { return rows.at(name).facts; };
    EXPECT_EQ(facts("GET /orders/{id}").statuses,
              (Statuses{{200, 15 * seconds}, {500, 5 * seconds}}));
    EXPECT_EQ(facts("GET /throw/{name}").statuses, (Statuses{{500, 10 * seconds}}));
    EXPECT_EQ(facts("GET /gone/{id}").statuses, (Statuses{{404, 4 * seconds}}));
    EXPECT_EQ(facts("GET /orders/{id}").failed, 5 * seconds);
    EXPECT_EQ(facts("GET /throw/{name}").failed, 10 * seconds);
    EXPECT_EQ(facts("GET /gone/{id}").failed, 0);
    EXPECT_EQ(facts("GET /orders/{id}").reexecuted, 5 * seconds);
    EXPECT_TRUE(facts("GET /orders/{id}").statuses_sure);
  }

 private:
  void Ask(int64_t at, const std::string& path, int status, bool told) {
    const uint32_t n = ++asked_;
    const int64_t begin = at + n % 500 * kRoutingMs;
    Start(begin, {n}, path);
    if (told) {
      Matched(begin + 1, {n}, "[id, 1]", path);
      if (status != 200)
        Matched(begin + 2, {n}, "", status == 500 ? "/error" : "/status/" + std::to_string(status));
      Ended(begin + 3, {n}, status);
    }
    Stop(begin + kRoutingMs, {n});
  }
  uint32_t asked_ = 0;
};

TEST(Reexecuted, EachRequestCountsOnceAtItsOwnRoute) {
  ReexecutedFeeder f;
  for (int s = 0; s < 6; ++s) f.Second(s * kRoutingSecond, false);
  ReexecutedFeeder::ExpectTruth(f.Rows(), 6);
}

TEST(Reexecuted, ProgramsAreAskedWhichOnesTheyAre) {
  ReexecutedFeeder f;
  EXPECT_FALSE(f.requests().WantsReexecuted());
  f.Second(0, false);
  EXPECT_FALSE(f.requests().WantsReexecuted()) << "its requests are not known yet";
  f.Second(kRoutingSecond, false);
  EXPECT_TRUE(f.requests().WantsReexecuted());
  EXPECT_FALSE(f.requests().WantsReexecuted()) << "nothing new";
  f.requests().OpenRouting();
  f.Second(2 * kRoutingSecond, true);
  f.requests().CloseRouting(3 * kRoutingSecond, false);
  for (int s = 3; s < 6; ++s) f.Second(s * kRoutingSecond, false);
  EXPECT_TRUE(f.requests().WantsReexecuted()) << "more than twice as many";
  ReexecutedFeeder::ExpectTruth(f.Rows(), 6);
}

TEST(Reexecuted, ProgramsWithoutErrorPagesAreNotAsked) {
  RoutingFeeder f;
  for (int s = 0; s < 5; ++s) {
    const int64_t at = s * kRoutingSecond;
    for (int i = 0; i < 20; ++i) f.Request(at + i * kRoutingMs, "/fails");
    f.Template(at + 900 * kRoutingMs, "/fails", 20, "GET", 500);
    f.Matches(at + 900 * kRoutingMs, "/fails", 20);
    f.Matches(at + 900 * kRoutingMs, "/hub", 50);  // they go on
    f.Collected(at + 900 * kRoutingMs);
    f.requests().Advance(at + kRoutingSecond + 499 * kRoutingMs);
    EXPECT_FALSE(f.requests().WantsReexecuted()) << s;
  }
}

TEST(Reexecuted, WhatHappensWithinARequestIsItsOwnRoutes) {
  RoutingFeeder f;
  f.Start(0, {1}, "/fails");
  f.Allocate(kRoutingMs, TestId{1});
  f.Stop(2 * kRoutingMs, {1});
  f.Template(kRoutingSecond, "/error", 1, "GET", 500);
  f.Matches(kRoutingSecond, "/fails", 1);
  f.Matches(kRoutingSecond, "/error", 1);
  f.Collected(kRoutingSecond);
  f.requests().Advance(2 * kRoutingSecond);
  const auto rows = f.Rows();
  EXPECT_EQ(RoutingFeeder::Counts(rows), (RouteCounts{{"GET /fails", 1}}));
  EXPECT_EQ(rows.at("GET /fails").facts.failed, 1);
  EXPECT_EQ(rows.at("GET /fails").allocated.samples, 1u);
}

TEST(Reexecuted, RequestsThatNothingMatchedKeepTheirRow) {
  RoutingFeeder f;
  for (int i = 0; i < 3; ++i) f.Request(i * kRoutingMs, "/favicon.ico");
  f.Request(10 * kRoutingMs, "/a/1");
  f.Template(kRoutingSecond, "/a/{x}", 1);
  f.Template(kRoutingSecond, "/not-found", 3, "GET", 404);
  f.Matches(kRoutingSecond, "/a/{x}", 1);
  f.Matches(kRoutingSecond, "/not-found", 3);
  f.Matches(kRoutingSecond, "", 3);
  f.Collected(kRoutingSecond);
  f.requests().Advance(2 * kRoutingSecond);
  const auto rows = f.Rows();
  EXPECT_EQ(RoutingFeeder::Counts(rows), (RouteCounts{{"GET /a/{x}", 1}, {"GET (no route)", 3}}));
  EXPECT_EQ(rows.at("GET (no route)").facts.statuses, (Statuses{{404, 3}}));
}

// What is asked for by itself, too.
TEST(Reexecuted, APageThatIsVisitedKeepsItsVisits) {
  RoutingFeeder f;
  for (int i = 0; i < 7; ++i) f.Request(i * kRoutingMs, "/a/1");
  for (int i = 0; i < 2; ++i) f.Request((10 + i) * kRoutingMs, "/error");
  f.Matches(kRoutingSecond, "/a/{x}", 7);
  f.Matches(kRoutingSecond, "/error", 5);
  f.Template(kRoutingSecond, "/a/{x}", 4);
  f.Template(kRoutingSecond, "/error", 5, "GET", 500);
  f.Collected(kRoutingSecond);
  f.requests().Advance(2 * kRoutingSecond);
  const auto rows = f.Rows();
  EXPECT_EQ(RoutingFeeder::Counts(rows), (RouteCounts{{"GET /a/{x}", 7}, {"GET /error", 2}}));
  EXPECT_EQ(rows.at("GET /a/{x}").facts.failed, 3);
  EXPECT_EQ(rows.at("GET /error").facts.failed, 2);
}

// Without a page nothing is moved, whatever fails, began before the recording or ended after it.
TEST(Reexecuted, RoutesThatFailByThemselvesAreNoPages) {
  RoutingFeeder f;
  for (int i = 0; i < 5; ++i) f.Request(i * kRoutingMs, "/fails");
  for (int i = 0; i < 5; ++i) f.Request((10 + i) * kRoutingMs, "/works");
  f.Template(kRoutingSecond, "/fails", 7, "GET", 500);
  f.Template(kRoutingSecond, "/works", 5);
  f.Matches(kRoutingSecond, "/fails", 5);
  f.Matches(kRoutingSecond, "/works", 6);
  f.Collected(kRoutingSecond);
  for (int i = 0; i < 3; ++i) f.Request(kRoutingSecond + i * kRoutingMs, "/works");
  f.requests().Advance(2 * kRoutingSecond);
  const auto rows = f.Rows();
  EXPECT_EQ(RoutingFeeder::Counts(rows), (RouteCounts{{"GET /fails", 7}, {"GET /works", 8}}));
  EXPECT_EQ(rows.at("GET /works").facts.failed, 0);
  EXPECT_EQ(rows.at("GET /fails").facts.failed, 7);
}

TEST(Reexecuted, TheActionOfARequestIsThatOfItsOwnPath) {
  RoutingFeeder f;
  f.requests().SplitActions();
  f.requests().OpenRouting();
  f.Start(0, {1}, "/base/Home/Big/a%20b");
  f.Matched(1, {1}, "[controller, Home],[action, Big],[id, a b]", "/Home/Big/a b");
  f.Matched(2, {1}, "[controller, Home],[action, Error]", "/Home/Error");
  f.Ended(3, {1}, 500);
  f.Stop(kRoutingMs, {1});
  f.Template(500 * kRoutingMs, kDefault, 1, "GET", 500);
  f.Collected(500 * kRoutingMs);
  f.requests().Advance(2 * kRoutingSecond);
  const auto rows = f.Rows();
  EXPECT_EQ(RoutingFeeder::Counts(rows), (RouteCounts{{"GET /Home/Big/{id?}", 1}}));
  EXPECT_EQ(rows.at("GET /Home/Big/{id?}").facts.failed, 1);
}

// A template that another method has is none for a path of which the histogram knows no route.
TEST(Reexecuted, MatchesOfAnotherMethodAreUsedUp) {
  RoutingFeeder f;
  f.Start(0, {100}, "/orders", "POST");
  f.Stop(1, {100});
  for (int i = 0; i < 3; ++i) f.Request((i + 1) * kRoutingMs, "/orders");
  f.Template(kRoutingSecond, "/orders", 1, "POST");
  f.Histogram(kRoutingSecond, RequestEvents::Tags("", "GET", 405), 3);
  f.Matches(kRoutingSecond, "/orders", 1);
  f.Matches(kRoutingSecond, "", 3);
  f.Collected(kRoutingSecond);
  f.requests().Advance(2 * kRoutingSecond);
  EXPECT_EQ(RoutingFeeder::Counts(f.Rows()), (RouteCounts{{"POST /orders", 1}, {"GET (405)", 3}}));
}

TEST(Reexecuted, InWindowsTheRuntimesCountsOfMatchesSayHowMany) {
  RoutingFeeder f;
  f.requests().BeginWindows(0);
  for (int s = 0; s < 20; ++s) {
    const int64_t at = s * kRoutingSecond;
    f.requests().OpenWindow(static_cast<uint64_t>(s % 16) + 1);
    for (int i = 0; i < 6; ++i) f.Request(at + i * 2 * kRoutingMs, "/orders/1");
    for (int i = 0; i < 3; ++i) f.Request(at + (20 + i) * kRoutingMs, "/throw/a");
    f.Request(at + 30 * kRoutingMs, "/fine");
    f.requests().CloseWindow(at + 100 * kRoutingMs, false);
    const int64_t end = at + kRoutingSecond - 1;
    f.Template(end, "/orders/{id}", 45);
    f.Template(end, "/fine", 11);
    f.Template(end, "/error", 45, "GET", 500);
    f.Matches(end, "/orders/{id}", 60);
    f.Matches(end, "/throw/{name}", 30);
    f.Matches(end, "/fine", 11);
    f.Matches(end, "/error", 45);
    f.Collected(end);
    f.requests().Advance(at + kRoutingSecond);
  }
  const auto rows = f.Rows();
  EXPECT_EQ(
      RoutingFeeder::Counts(rows),
      (RouteCounts{{"GET /orders/{id}", 1200}, {"GET /throw/{name}", 600}, {"GET /fine", 220}}));
  EXPECT_EQ(rows.at("GET /orders/{id}").facts.failed, 300);
  EXPECT_EQ(rows.at("GET /throw/{name}").facts.failed, 600);
  EXPECT_EQ(rows.at("GET /fine").facts.failed, 0);
  EXPECT_NEAR(rows.at("GET /orders/{id}").facts.stands_for, 10, 1e-6);
}

TEST(RequestRouting, CommandsOfEntityFrameworkAreChildren) {
  RoutingFeeder f;
  for (uint32_t n = 1; n <= 3; ++n) {
    f.Start(n * 100 * kRoutingMs, {n}, "/a");
    f.Diagnostic(
        n * 100 * kRoutingMs + 50 * kRoutingMs, {n}, "Microsoft.EntityFrameworkCore",
        std::string("Microsoft.EntityFrameworkCore.Database.Command.Command") +
            (n == 3 ? "Error" : "Executed"),
        {{"Command", "SELECT COUNT(*)\nFROM \"Items\" AS i"}, {"Duration", "00:00:00.0200000"}});
    f.Diagnostic(n * 100 * kRoutingMs + 60 * kRoutingMs, {n}, "Other", "Event", {});
    f.Stop(n * 100 * kRoutingMs + 90 * kRoutingMs, {n});
  }
  f.Template(500 * kRoutingMs, "/a", 3);
  f.Collected(500 * kRoutingMs);
  const auto rows = f.Rows();
  const auto& children = rows.at("GET /a").children;
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(children[0].operation, "EF SELECT Items");
  EXPECT_EQ(children[0].durations.count, 3);
  EXPECT_EQ(children[0].failed, 1);
  EXPECT_NEAR(children[0].durations.At(0.5), 20e6, 1e6);
}

TEST(ActionValues, AreReadFromRouteValues) {
  const ActionValues all =
      ParseActionValues("[controller, Home],[action, Big],[id, a],[x, y],[area, Admin]");
  EXPECT_EQ(all.controller, "Home");
  EXPECT_EQ(all.action, "Big");
  EXPECT_EQ(all.area, "Admin");
  const ActionValues hostile =
      ParseActionValues("[id, [controller, Evil]],[action, A]b],[controller, Good]");
  EXPECT_EQ(hostile.controller, "Good");
  EXPECT_EQ(hostile.action, "A]b");
  for (const char* text : {"", "[", "[controller", "[controller, ", "controller, x]", "[action,]"})
    EXPECT_EQ(ParseActionValues(text).controller + ParseActionValues(text).action, "") << text;
}

}  // namespace
}  // namespace clrscope::analysis
