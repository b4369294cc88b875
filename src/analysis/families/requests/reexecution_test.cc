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
  void Add(const std::string& name, RequestPart part, uint64_t n, uint64_t status = 0) {
    const Aggregate::Moment moment{0, 1, {1, n * kNs, n}};
    counts_.Add(0,
                LabelSet()
                    .With(LabelKey::kRequest, Name(name).value)
                    .With(LabelKey::kRequestPart, static_cast<uint64_t>(part))
                    .With(LabelKey::kStatus, status),
                {&moment, 1});
  }
  void Route(const std::string& name, uint64_t ended, uint64_t fine) {
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
  c.Add("/mvc", RequestPart::kLooked, 7, profile::StatusLabel(500, true));
  c.Add("/mvc", RequestPart::kLooked, 7, profile::StatusLabel(404, false));
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 10}}));
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

TEST(Reexecution, MethodsAreKeptApart) {
  ReexecutionCounts c;
  c.Route("/a", 30, 20);
  c.Template("POST /a", "POST", "/a");
  c.Add("POST /a", RequestPart::kEnded, 9);
  c.Add("POST /a", RequestPart::kCounted, 2, profile::StatusLabel(200, false));
  c.Page("/error", 500, 10);
  c.Template("POST /error", "POST", "/error");
  c.Add("POST /error", RequestPart::kCounted, 7, profile::StatusLabel(500, true));
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 10}, {"POST /a 500", 7}}));
}

TEST(Reexecution, FewMatchesInWindowsAreNoPage) {
  ReexecutionCounts c;
  c.Template("(any method) /a", "", "/a");
  c.Route("/a", 0, 990);
  c.Add("/a", RequestPart::kWatched, 99);
  c.Add("(any method) /a", RequestPart::kMatched, 1000);  // ten go on
  c.Page("/fails", 500, 10);                              // and no window saw it
  EXPECT_EQ(c.Moved(), Moved{});
}

// A range of time begins and ends with requests that the histogram tells in another second.
TEST(Reexecution, InARangeOfTimeMatchesSayWhatIsLacking) {
  ReexecutionCounts c;
  for (const char* text : {"/a", "/fine"})
    c.Template(std::string("(any method) ") + text, "", text);
  c.Route("/a", 30, 20);
  c.Route("/fine", 50, 40);
  c.Page("/error", 500, 10);
  c.Add("(any method) /a", RequestPart::kMatched, 30);
  c.Add("(any method) /fine", RequestPart::kMatched, 40);
  EXPECT_EQ(c.Moved(false), (Moved{{"/a 500", 10}}));
}

TEST(Reexecution, NothingIsMovedTwice) {
  ReexecutionCounts c;
  c.Route("/a", 10, 0);
  c.Page("/error", 500, 4);  // the rest was not told
  EXPECT_EQ(c.Moved(), (Moved{{"/a 500", 4}}));
  ReexecutionCounts d;
  d.Route("/a", 10, 7);
  d.Page("/error", 500, 5);  // two began before the recording
  EXPECT_EQ(d.Moved(), (Moved{{"/a 500", 5}})) << "they are as the others";
  ReexecutionCounts e;
  e.Route("/a", 10, 9);
  e.Page("/fails", 500, 5);  // four at least are of a route that was not seen
  EXPECT_EQ(e.Moved(), (Moved{{"/a 500", 1}}));
}

}  // namespace
}  // namespace clrscope::analysis
