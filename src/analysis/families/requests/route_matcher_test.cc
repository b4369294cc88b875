// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace clrscope::analysis {
namespace {

std::string TextOf(const RouteMatcher& m, const RouteMatcher::Found& found) {
  return found ? m.text(found.index) : "none";
}
std::string TextFor(const RouteMatcher& m, std::string_view method, std::string_view path) {
  return TextOf(m, m.Find(method, path));
}

TEST(RouteMatcher, TakesWhatTheProgramTakes) {
  RouteMatcher m;
  for (const char* text :
       {"/", "/items/{id:int}", "/items/{id}", "/items/new", "/items/{id}/parts/{part?}",
        "/files/{**path}", "{controller=Home}/{action=Index}/{id?}", "/{*path:nonfile}",
        "/search/{x}.{ext}", "/search/{q}"})
    EXPECT_NE(m.Add("GET", text), RouteMatcher::kNone) << text;
  m.Add("POST", "/items");
  const std::pair<const char*, const char*> kCases[] = {
      {"/", "/"},
      {"/items/17", "/items/{id:int}"},
      {"/Items/abc", "/items/{id}"},
      {"/items/NEW/", "/items/new"},
      {"/items/17/parts", "/items/{id}/parts/{part?}"},
      {"/items/17/parts/3", "/items/{id}/parts/{part?}"},
      {"/files/a/b/c/d", "/files/{**path}"},
      {"/files", "/files/{**path}"},
      {"/Things/Get/3", "{controller=Home}/{action=Index}/{id?}"},
      {"/a/b/c/d/e", "/{*path:nonfile}"},
      {"/a/b/c/d/e.js", "none"},
      {"/search/a.b", "/search/{x}.{ext}"},
      {"/search/a", "/search/{q}"},
  };
  for (const auto& [path, text] : kCases) {
    EXPECT_EQ(TextFor(m, "GET", path), text) << path;
    const bool conventional = std::string_view(text).starts_with("{controller");
    EXPECT_TRUE(!m.Find("GET", path) || m.Find("GET", path).certain != conventional)
        << path << ": of an action it is not known whether there is one";
    EXPECT_FALSE(m.Find("GET", path).ambiguous) << path;
  }
  EXPECT_EQ(TextFor(m, "POST", "/items"), "/items");
  EXPECT_EQ(TextFor(m, "post", "/items"), "/items");
  EXPECT_EQ(TextFor(m, "POST", "/items/17"), "none");
  EXPECT_EQ(TextFor(m, "DELETE", "/"), "none");
}

TEST(RouteMatcher, ATemplateOfAnyMethodIsFoundWhereItIsLookedFor) {
  RouteMatcher m;
  m.Add(RouteMatcher::kAnyMethod, "/a/{x}");
  EXPECT_EQ(TextFor(m, RouteMatcher::kAnyMethod, "/a/1"), "/a/{x}");
  for (const char* method : {"GET", "POST", "PROPFIND", ""})
    EXPECT_EQ(TextFor(m, method, "/a/1"), "none") << method;
}

TEST(RouteMatcher, MethodsThatAreNotKnownAreOne) {
  RouteMatcher m;
  m.Add("_OTHER", "/dav/{x}");
  EXPECT_EQ(TextFor(m, "PROPFIND", "/dav/a"), "/dav/{x}");
  EXPECT_EQ(TextFor(m, "", "/dav/a"), "/dav/{x}");
  EXPECT_EQ(TextFor(m, "GET", "/dav/a"), "none");
}

TEST(RouteMatcher, ATemplateHasOneIndex) {
  RouteMatcher m;
  EXPECT_EQ(m.Add("GET", "/a"), 0u);
  EXPECT_EQ(m.Add("POST", "/a"), 1u);
  EXPECT_EQ(m.Add("GET", "/a"), 0u);
  EXPECT_EQ(m.Add("GET", "/{"), RouteMatcher::kNone);
  EXPECT_EQ(m.Add("GET", "/b"), 2u);
  EXPECT_EQ(m.size(), 3u);
  for (size_t i = m.size(); i < RouteMatcher::kMostTemplates; ++i)
    EXPECT_EQ(m.Add("GET", "/t/" + std::to_string(i)), i);
  EXPECT_EQ(m.Add("GET", "/more"), RouteMatcher::kNone);
  EXPECT_EQ(m.Add("GET", "/a"), 0u);
}

TEST(RouteMatcher, TwoOfOneRankAreAmbiguous) {
  RouteMatcher m;
  m.Add("GET", "/a/{x:int}");
  m.Add("GET", "/a/{x:min(5)}");
  m.Add("GET", "/a/{x:own}");
  const auto both = m.Find("GET", "/a/7");
  EXPECT_EQ(both.index, 0u);
  EXPECT_TRUE(both.ambiguous);
  EXPECT_TRUE(both.certain);
  const auto one = m.Find("GET", "/a/3");
  EXPECT_EQ(one.index, 0u);
  EXPECT_FALSE(one.ambiguous);
  EXPECT_TRUE(one.certain);
  const auto guess = m.Find("GET", "/a/x");
  EXPECT_EQ(guess.index, 2u);
  EXPECT_FALSE(guess.certain);
  EXPECT_EQ(guess.other, RouteMatcher::kNone);
}

TEST(RouteMatcher, AGuessNamesWhatItWouldBeOtherwise) {
  RouteMatcher m;
  m.Add("GET", "{area:exists}/{controller=Home}/{action=Index}/{id?}");
  m.Add("GET", "{controller=Home}/{action=Index}/{id?}");
  const auto found = m.Find("GET", "/Things/Get");
  EXPECT_EQ(found.index, 0u);
  EXPECT_FALSE(found.certain);
  EXPECT_EQ(found.other, RouteMatcher::kNone) << "nor is it known of the other";
  EXPECT_EQ(m.Find("GET", "/").index, 1u);
}

TEST(RouteMatcher, ActionsAreLearned) {
  RouteMatcher m;
  m.Add("GET", "{area:exists}/{controller=Home}/{action=Index}/{id?}");
  m.Add("GET", "{controller=Home}/{action=Index}/{id?}");
  m.Add("GET", "api/{name}");
  const ActionValues home{"", "Home", "Index"}, big{"", "Home", "Big"},
      admin{"Admin", "Home", "Index"}, attribute{"", "Attr", "One"};
  m.Learn("GET", "/", &home);
  m.Learn("GET", "/home/BIG/17", &big);
  m.Learn("GET", "/admin", &admin);
  m.Learn("GET", "/attr/one", &attribute);
  m.Learn("GET", "/foo/bar", nullptr);
  const auto is = [&m](const char* path, uint32_t index) {
    const RouteMatcher::Found found = m.Find("GET", path);
    EXPECT_EQ(found.index, index) << path;
    EXPECT_TRUE(found.certain || index == RouteMatcher::kNone) << path;
  };
  is("/", 1);
  is("/Home/Index/5", 1);
  is("/Home/Big", 1);
  is("/Home/big/9", 1);
  is("/ADMIN/home/index/3", 0);
  is("/admin/home", 0);
  is("/api/x", 2);
  is("/foo/bar", RouteMatcher::kNone);
  is("/foo/bar/", RouteMatcher::kNone);
  EXPECT_FALSE(m.Find("GET", "/home/other").certain) << "nothing is known of it";
  EXPECT_FALSE(m.FindBehindBase("GET", "/favicon.ico")) << "nothing is a base";
}

TEST(RouteMatcher, ActionsBehindABaseAreLearned) {
  RouteMatcher m;
  m.Add("GET", "{controller=Home}/{action=Index}/{id?}");
  const ActionValues about{"", "Home", "About"};
  m.Learn("GET", "/app/home/about", &about);
  EXPECT_FALSE(m.Find("GET", "/app/home/about"));
  const auto found = m.FindWithBase("GET", "/APP/home/about");
  EXPECT_EQ(found.index, 0u);
  EXPECT_TRUE(found.certain);
  EXPECT_FALSE(m.FindBehindBase("GET", "/other/home/about"));
}

TEST(RouteMatcher, WhatIsSpentIsNotGuessed) {
  RouteMatcher m;
  m.Add("GET", "{area:exists}/{controller=Home}/{action=Index}/{id?}");
  m.Add("GET", "{controller=Home}/{action=Index}/{id?}");
  m.SetSpent(0, true);
  EXPECT_EQ(m.Find("GET", "/a/b").index, 0u);
  EXPECT_EQ(m.Find("GET", "/a/b", 0, RouteMatcher::Guess::kUnspent).index, 1u);
  m.SetSpent(1, true);
  EXPECT_FALSE(m.Find("GET", "/a/b", 0, RouteMatcher::Guess::kUnspent));
  const ActionValues b{"", "a", "b"};
  m.Learn("GET", "/a/b", &b);
  EXPECT_EQ(m.Find("GET", "/a/b", 0, RouteMatcher::Guess::kUnspent).index, 1u) << "it is known";
}

TEST(RouteMatcher, ABaseIsSkipped) {
  RouteMatcher m;
  m.Add("GET", "/");
  m.Add("GET", "/items/{id}");
  m.Add("GET", "/{x:int}");
  EXPECT_EQ(TextFor(m, "GET", "/shop/eu/items/5"), "none");
  const auto found = m.FindWithBase("GET", "/shop/eu/items/5");
  EXPECT_EQ(TextOf(m, found), "/items/{id}");
  EXPECT_EQ(found.skipped, 2u);
  EXPECT_EQ(m.FindWithBase("GET", "/items/5").skipped, 0u);
  EXPECT_FALSE(m.FindWithBase("GET", "/a/b/c/d/items/5")) << "too long a base";
  // Without a literal everything would have a base.
  EXPECT_FALSE(m.FindWithBase("GET", "/nothing"));
  EXPECT_FALSE(m.FindWithBase("GET", "/nothing/5"));
  EXPECT_EQ(TextOf(m, m.Find("GET", "/shop", 1)), "/");
  EXPECT_EQ(TextOf(m, m.Find("GET", "/shop/5", 1)), "/{x:int}");
  EXPECT_FALSE(m.Find("GET", "/shop", 2));
  EXPECT_FALSE(m.Find("GET", "/a/b/c/d/e", 4));
}

TEST(RouteMatcher, FindsWhatTryingAllFinds) {
  std::mt19937 random(29);
  constexpr const char* kSegments[] = {"a",     "b",        "c",       "{x}",           "{x:int}",
                                       "{x?}",  "{x=1}",    "{x:own}", "a{x}",          "{x}.{y?}",
                                       "{**x}", "{*x:int}", "A",       "{x:range(1,5)}"};
  constexpr const char* kValues[] = {"a", "B", "c", "1", "7", "a1", "x.y", "%61", ""};
  size_t found_some = 0, not_first = 0;
  for (int round = 0; round < 300; ++round) {
    RouteMatcher m;
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (uint64_t n = random() % 4; n > 0; --n)
        text += std::string("/") + kSegments[random() % std::size(kSegments)];
      (void)m.Add("GET", text);
    }
    for (int i = 0; i < 50; ++i) {
      std::string path;
      for (uint64_t n = random() % 5; n > 0; --n)
        path += std::string("/") + kValues[random() % std::size(kValues)];
      const RequestPath request(path);
      std::string best_rank;
      Fit best_fit = Fit::kNo;
      std::vector<uint32_t> best;
      for (uint32_t t = 0; t < m.size(); ++t) {
        const auto route = RouteTemplate::Parse(m.text(t));
        const Fit fit = route->Match(request);
        if (fit == Fit::kNo) continue;
        const bool better = best.empty() || route->rank() < best_rank ||
                            (route->rank() == best_rank && fit > best_fit);
        if (better) best.clear();
        if (better || (route->rank() == best_rank && fit == best_fit)) best.push_back(t);
        if (better) {
          best_rank = route->rank();
          best_fit = fit;
        }
      }
      const auto found = m.Find("GET", path);
      EXPECT_EQ(found.index, best.empty() ? RouteMatcher::kNone : best[0]) << path;
      EXPECT_EQ(found.ambiguous, best.size() > 1) << path;
      EXPECT_EQ(found.certain, best_fit == Fit::kYes) << path;
      found_some += found ? 1u : 0u;
      not_first += found && found.index > 0 ? 1u : 0u;
    }
  }
  EXPECT_GT(found_some, 3000u);
  EXPECT_GT(not_first, 1000u);
}

}  // namespace
}  // namespace clrscope::analysis
