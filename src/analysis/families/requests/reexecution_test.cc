// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/reexecution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::LabelSet;
using profile::RequestPart;
using profile::RouteKind;

// Counts of one process, by the names of routes.
class ReexecutionCounts {
 public:
  void Template(const std::string& name, const std::string& method, const std::string& text) {
    counts_.NoteRoute(0, Name(name), RouteKind::kTemplate, method, text, {});
  }
  void Matches(const std::string& text, uint64_t n) {
    Template("(any method) " + text, "", text);
    Add("(any method) " + text, RequestPart::kMatched, n);
  }
  void NoRoute(const std::string& name, const std::string& method, uint64_t unmatched) {
    counts_.NoteRoute(0, Name(name), RouteKind::kNoRoute, method, "", {});
    counts_.NoteRoute(0, Name("(any method) none"), RouteKind::kNoRoute, "", "", {});
    Add("(any method) none", RequestPart::kMatched, unmatched);
  }
  void Add(const std::string& name, RequestPart part, uint64_t n, uint64_t status = 0) {
    const Aggregate::Moment moment{0, 1, {1, n * kNs, n}};
    counts_.Add(0,
                LabelSet()
                    .With(LabelKey::kRequest, Name(name).value)
                    .With(LabelKey::kRequestPart, static_cast<uint64_t>(part))
                    .With(LabelKey::kStatus, status),
                {&moment, 1});
  }
  // Routing has found as many as ended, unless it is told otherwise.
  void Route(const std::string& name, uint64_t ended, uint64_t fine) {
    Matches(name, ended);
    Template(name, "GET", name);
    Add(name, RequestPart::kEnded, ended);
    Add(name, RequestPart::kCounted, fine, profile::StatusLabel(200, false));
  }
  void Page(const std::string& name, uint32_t status, uint64_t n) {
    Template(name, "GET", name);
    Add(name, RequestPart::kCounted, n, profile::StatusLabel(status, status >= 500));
  }
  // "a 500": how many.
  std::map<std::string, double> Moved(bool whole = true) {
    std::map<std::string, double> out;
    sure_ = true;
    for (const Reexecution::Move& m : counts_.Finish(whole)) {
      out[names_[m.route.value] + " " + std::to_string(m.status >> 1)] += m.count;
      EXPECT_NEAR(m.ns, m.count * kNs, 1e-6 * m.ns);
      sure_ = sure_ && m.sure;
    }
    return out;
  }
  bool sure() const { return sure_; }

 private:
  static constexpr uint64_t kNs = 1000;
  StringId Name(const std::string& name) {
    for (const auto& [id, known] : names_)
      if (known == name) return StringId(id);
    const auto id = static_cast<uint32_t>(names_.size() + 1);
    names_[id] = name;
    return StringId(id);
  }
  Reexecution counts_;
  std::map<uint32_t, std::string> names_;
  bool sure_ = true;
};
using Moved = std::map<std::string, double>;

TEST(Reexecution, WhereThereIsOneWayRoutesGoToTheirPages) {
  ReexecutionCounts c;
  c.Route("/a", 2000, 1500);
  c.Route("/b", 1000, 0);
  c.Route("/c", 400, 0);
  c.Page("/error", 500, 1500);
  c.Page("/status", 404, 400);
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 500}, {"/b 500", 1000}, {"/c 404", 400}}));
  EXPECT_TRUE(c.sure());
}

TEST(Reexecution, WhereThereAreSeveralWaysItSaysSo) {
  ReexecutionCounts c;
  c.Route("/a", 30, 20);
  c.Route("/b", 30, 20);
  c.Page("/error", 500, 10);
  c.Page("/status", 404, 10);
  const Moved moved = c.Moved();
  EXPECT_FALSE(c.sure());
  EXPECT_NEAR(moved.at("/a 500") + moved.at("/a 404"), 10, 1e-6);
  EXPECT_NEAR(moved.at("/a 500") + moved.at("/b 500"), 10, 1e-6);
}

TEST(Reexecution, WhatWasToldOfSomeDecidesForAll) {
  ReexecutionCounts c;
  c.Route("/a", 30, 20);
  c.Route("/b", 30, 20);
  c.Page("/error", 500, 10);
  c.Page("/status", 404, 10);
  for (const char* name : {"/a", "/b"}) c.Add(name, RequestPart::kLooked, 5);
  c.Add("/a", RequestPart::kLooked, 2, profile::StatusLabel(404, false));
  c.Add("/b", RequestPart::kLooked, 1, profile::StatusLabel(500, true));
  const Moved moved = c.Moved();
  EXPECT_EQ(moved, (Moved{{"/a 404", 10}, {"/b 500", 10}}));
  EXPECT_TRUE(c.sure());
}

// A route goes to several pages, as far as it was told.
TEST(Reexecution, SharesOfARouteFollowWhatWasTold) {
  ReexecutionCounts c;
  c.Route("/a", 100, 60);
  c.Route("/b", 100, 80);
  c.Page("/error", 500, 45);
  c.Page("/status", 404, 15);
  c.Add("/a", RequestPart::kLooked, 30, profile::StatusLabel(500, true));
  c.Add("/a", RequestPart::kLooked, 10, profile::StatusLabel(404, false));
  c.Add("/b", RequestPart::kLooked, 15, profile::StatusLabel(500, true));
  c.Add("/b", RequestPart::kLooked, 5, profile::StatusLabel(404, false));
  const Moved moved = c.Moved();
  EXPECT_NEAR(moved.at("/a 500"), 30, 0.01);
  EXPECT_NEAR(moved.at("/a 404"), 10, 0.01);
  EXPECT_NEAR(moved.at("/b 500"), 15, 0.01);
  EXPECT_NEAR(moved.at("/b 404"), 5, 0.01);
}

// A page that is an action of a conventional route: what its own requests fail with stays there.
TEST(Reexecution, APageHasFailuresOfItsOwn) {
  const auto count = [](ReexecutionCounts& c) {
    c.Route("/a", 100, 90);
    c.Route("/mvc", 300, 100);
    c.Add("/mvc", RequestPart::kCounted, 110, profile::StatusLabel(500, true));
    c.Add("/mvc", RequestPart::kCounted, 100, profile::StatusLabel(404, false));
  };
  ReexecutionCounts unknown;
  count(unknown);
  (void)unknown.Moved();
  EXPECT_FALSE(unknown.sure());
  ReexecutionCounts c;
  count(c);
  c.Add("/a", RequestPart::kLooked, 3, profile::StatusLabel(500, true));
  c.Add("/mvc", RequestPart::kLooked, 7, profile::StatusLabel(500, true));  // its 404s did not
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 10}}));
  EXPECT_TRUE(c.sure());
}

// The histogram's last value is of up to a second more than was recorded.
TEST(Reexecution, RequestsAfterTheEndAreAsThoseBefore) {
  ReexecutionCounts c;
  c.Template("/orders", "GET", "/orders");
  c.Matches("/orders", 5250);
  c.Add("/orders", RequestPart::kEnded, 5000);
  c.Add("/orders", RequestPart::kCounted, 5145, profile::StatusLabel(200, false));
  c.Page("/error", 500, 105);
  EXPECT_EQ(c.Moved(), (Moved{{"/orders 500", 105}}));
  ReexecutionCounts none;  // no page: what is not counted failed no more than other routes
  none.Template("/orders", "GET", "/orders");
  none.Matches("/orders", 30250);
  none.Add("/orders", RequestPart::kEnded, 30000);
  none.Add("/orders", RequestPart::kCounted, 28738, profile::StatusLabel(200, false));
  none.Add("/orders", RequestPart::kCounted, 1512, profile::StatusLabel(404, false));
  none.Route("/healthz", 12, 0);
  EXPECT_EQ(none.Moved(), Moved{});
}

TEST(Reexecution, RequestsThatGoOnInWindowsHaveNoErrors) {
  ReexecutionCounts c;
  for (const char* name : {"/fail", "/missing", "/slow"}) {
    c.Route(name, 0, std::string_view(name) == "/slow" ? 998 : 0);
    c.Matches(name, 1000);
    c.Add(name, RequestPart::kWatched, 100);
  }
  c.Add("/slow", RequestPart::kLooked, 50);
  c.Add("/fail", RequestPart::kLooked, 20, profile::StatusLabel(500, true));
  c.Add("/missing", RequestPart::kLooked, 20, profile::StatusLabel(404, false));
  c.Page("/error", 500, 1000);
  c.Page("/status", 404, 1000);
  EXPECT_EQ(c.Moved(), (Moved{{"/fail 500", 1000}, {"/missing 404", 1000}}));
  EXPECT_TRUE(c.sure());
}

TEST(Reexecution, AFewThatAreNotCountedHaveNoErrors) {
  ReexecutionCounts c;
  c.Route("/fail", 500, 0);
  c.Add("/fail", RequestPart::kLooked, 50, profile::StatusLabel(500, true));
  c.Route("/healthz", 12, 0);
  c.Page("/error", 500, 500);
  EXPECT_EQ(c.Moved(), (Moved{{"/fail 500", 500}}));
}

// Static files are counted without a route, and routing never saw them.
TEST(Reexecution, WhatAnswersBeforeRoutingIsNoMatch) {
  ReexecutionCounts c;
  c.NoRoute("GET (no route)", "GET", 50);
  c.Add("GET (no route)", RequestPart::kEnded, 1050);
  c.Add("GET (no route)", RequestPart::kCounted, 1000, profile::StatusLabel(200, false));
  c.Route("/a", 40, 0);
  c.Page("/error", 500, 40);
  c.Page("/status", 404, 50);
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 40}, {"GET (no route) 404", 50}}));
  EXPECT_TRUE(c.sure());
}

TEST(Reexecution, TwoPagesOfOneStatusAreOneWay) {
  ReexecutionCounts c;
  c.Route("/a", 10, 0);
  c.Route("/b", 10, 0);
  c.Page("/error", 500, 10);
  c.Page("/other", 500, 10);
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 10}, {"/b 500", 10}}));
  EXPECT_TRUE(c.sure());
}

TEST(Reexecution, WhatTheHistogramHasNotToldYetIsNotLacking) {
  ReexecutionCounts c;
  c.Route("/a", 30, 20);
  c.Route("/fine", 50, 40);
  c.Add("/fine", RequestPart::kUncounted, 10);
  c.Page("/error", 500, 10);
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 10}}));
}

// Requests that began before the session of the histogram are in no count of its.
TEST(Reexecution, WhatWasNotMatchedIsNotLacking) {
  ReexecutionCounts c;
  c.Route("/a", 2, 0);
  c.Route("/fine", 1000, 950);
  c.Template("(any method) /early", "", "/early");
  c.Add("(any method) /early", RequestPart::kMatched, 90);
  c.Template("/early", "GET", "/early");
  c.Add("/early", RequestPart::kEnded, 100);
  c.Add("/early", RequestPart::kCounted, 90, profile::StatusLabel(200, false));
  c.Page("/error", 500, 2);
  c.Add("/fine", RequestPart::kUncounted, 50);
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 2}}));
}

// DisableHttpMetrics: all of a route is missing, and none of it failed.
TEST(Reexecution, ARouteThatIsNotCountedHasNoErrors) {
  ReexecutionCounts c;
  c.Route("/healthz", 600, 0);
  c.Route("/fail", 50, 0);
  c.Page("/error", 500, 50);
  EXPECT_EQ(c.Moved(), (Moved{{"/fail 500", 50}})) << "one way to leave a route out";
  ReexecutionCounts several;
  several.Route("/healthz", 50, 0);
  several.Route("/fail", 50, 0);
  several.Page("/error", 500, 50);
  EXPECT_EQ(several.Moved(), Moved{}) << "it stays at the page";
  ReexecutionCounts told;
  told.Route("/healthz", 50, 0);
  told.Route("/fail", 50, 0);
  told.Page("/error", 500, 50);
  told.Add("/healthz", RequestPart::kLooked, 20);
  told.Add("/fail", RequestPart::kLooked, 20, profile::StatusLabel(500, true));
  EXPECT_EQ(told.Moved(), (Moved{{"/fail 500", 50}}));
}

TEST(Reexecution, WhereNothingFitsOnlyWhatWasToldIsMoved) {
  ReexecutionCounts c;
  c.Route("/told", 300, 0);
  c.Add("/told", RequestPart::kLooked, 20, profile::StatusLabel(500, true));
  c.Route("/a", 150, 0);
  c.Route("/b", 150, 0);
  c.Page("/error", 500, 500);
  EXPECT_EQ(c.Moved(), (Moved{{"/told 500", 300}}));
}

TEST(Reexecution, ManyRoutesWithAFailureEachKeepTheSums) {
  ReexecutionCounts c;
  for (int i = 0; i < 100; ++i) c.Route("/a" + std::to_string(i), 10, 9);
  c.Page("/error", 500, 30);
  c.Page("/status", 404, 70);
  double errors = 0, missing = 0;
  for (const auto& [name, n] : c.Moved()) {
    EXPECT_EQ(n, 1) << name;
    (name.ends_with("500") ? errors : missing) += n;
  }
  EXPECT_EQ(errors, 30);
  EXPECT_EQ(missing, 70);
  EXPECT_FALSE(c.sure());
}

TEST(Reexecution, WithoutACounterOfMatchesNothingIsMoved) {
  ReexecutionCounts c;
  c.Template("/a", "GET", "/a");
  c.Add("/a", RequestPart::kEnded, 10);
  c.Page("/error", 500, 10);
  EXPECT_EQ(c.Moved(), Moved{});
}

// What goes on in a window has been matched, and not been counted.
TEST(Reexecution, SocketsThatAreOpenAreNoErrors) {
  ReexecutionCounts c;
  c.Route("/hub", 0, 0);
  c.Matches("/hub", 2000);
  c.Add("/hub", RequestPart::kWatched, 200);
  c.Route("/fail", 0, 0);
  c.Matches("/fail", 500);
  c.Add("/fail", RequestPart::kWatched, 50);
  c.Add("/fail", RequestPart::kLooked, 10, profile::StatusLabel(500, true));
  c.Route("/fine", 0, 10000);
  c.Matches("/fine", 10000);
  c.Add("/fine", RequestPart::kWatched, 1000);
  c.Page("/error", 500, 500);
  EXPECT_EQ(c.Moved(), (Moved{{"/fail 500", 500}}));
}

TEST(Reexecution, MethodsAreKeptApart) {
  ReexecutionCounts c;
  c.Route("/a", 30, 20);
  c.Template("POST /a", "POST", "/a");
  c.Matches("/a", 9);
  c.Add("POST /a", RequestPart::kEnded, 9);
  c.Add("POST /a", RequestPart::kCounted, 2, profile::StatusLabel(200, false));
  c.Page("/error", 500, 10);
  c.Template("POST /error", "POST", "/error");
  c.Add("POST /error", RequestPart::kCounted, 7, profile::StatusLabel(500, true));
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 10}, {"POST /a 500", 7}}));
}

TEST(Reexecution, FewMatchesInWindowsAreNoPage) {
  ReexecutionCounts c;
  c.Route("/a", 0, 990);
  c.Add("/a", RequestPart::kWatched, 99);
  c.Matches("/a", 1000);      // ten go on
  c.Page("/fails", 500, 10);  // and no window saw it
  EXPECT_EQ(c.Moved(), Moved{});
}

// A range of time begins and ends with requests that the histogram tells in another second.
TEST(Reexecution, InARangeOfTimeMatchesSayWhatIsLacking) {
  ReexecutionCounts c;
  c.Route("/a", 30, 20);
  c.Template("/fine", "GET", "/fine");
  c.Matches("/fine", 40);
  c.Add("/fine", RequestPart::kEnded, 50);
  c.Add("/fine", RequestPart::kCounted, 40, profile::StatusLabel(200, false));
  c.Page("/error", 500, 10);
  EXPECT_EQ(c.Moved(false), (Moved{{"/a 500", 10}}));
}

// … so that a route that fails is no page for having more failures than requests.
TEST(Reexecution, InARangeOfTimeAPageIsMostlyThat) {
  ReexecutionCounts c;
  c.Route("/slow", 100, 50);  // fifty go on
  c.Route("/fails", 100, 0);
  c.Add("/fails", RequestPart::kCounted, 150, profile::StatusLabel(500, true));
  EXPECT_EQ(c.Moved(false), Moved{});
}

TEST(Reexecution, NothingIsMovedTwice) {
  ReexecutionCounts c;
  c.Route("/a", 10, 5);
  c.Page("/error", 500, 4);  // the rest was not told
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 4}}));
  ReexecutionCounts d;
  d.Route("/a", 100, 10);
  d.Page("/error", 500, 95);  // five were not followed
  EXPECT_EQ(d.Moved(), (Moved{{"/a 500", 95}})) << "they are as the others";
  ReexecutionCounts e;
  e.Route("/a", 10, 9);
  e.Page("/fails", 500, 5);  // four at least are of a route that was not seen
  EXPECT_EQ(e.Moved(), (Moved{{"/a 500", 1}}));
}

}  // namespace
}  // namespace clrscope::analysis
