// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_names.h"

#include <gtest/gtest.h>

#include "analysis/families/requests/route_book.h"
#include "profile/requests.h"

namespace clrscope::analysis {
namespace {

using Names = std::vector<std::string>;

struct BookFixture {
  StringPool strings;
  profile::ProcessTables tables;
  RouteBook book{&strings, &tables};
  Names names() { return RouteNames(tables, strings); }
  void Status(uint32_t route, uint32_t status) {
    (void)tables.labels.Find(
        profile::LabelSet()
            .With(profile::LabelKey::kRequest, route + uint64_t{1})
            .With(profile::LabelKey::kStatus, profile::StatusLabel(status, status >= 500)));
  }
};

TEST(RouteNames, EachKindHasItsName) {
  BookFixture f;
  EXPECT_EQ(f.names(), Names{});
  EXPECT_EQ(f.book.OfPath("GET", "/items/17"), 0u);
  EXPECT_EQ(f.names(), Names{"GET /items/{}"});
  EXPECT_EQ(f.book.OfPath("get", "/items/18"), 0u) << "the same shape";
  EXPECT_EQ(f.book.Template("POST", "items"), 1u);
  EXPECT_EQ(f.names(), (Names{"GET (no route)", "POST /items"}))
      << "templates are told: it has none";
  EXPECT_EQ(f.book.Template("GET", "/items/{id}"), 2u);
  EXPECT_EQ(f.names()[0], "GET /items/{id}");
  EXPECT_EQ(f.book.NoRoute("BREW"), 3u);
  EXPECT_EQ(f.book.After(), 4u);
  EXPECT_EQ(f.book.Other(), 5u);
  EXPECT_EQ(f.names()[3], "_OTHER (no route)");
  EXPECT_EQ(f.names()[4], profile::kAfterResponse);
  EXPECT_EQ(f.names()[5], profile::kOtherRoutes);
  EXPECT_EQ(f.book.After(), 4u);
  EXPECT_EQ(f.tables.requests.routes.size(), 6u);
  f.book.Template("GET", "");  // the root, on .NET 8
  EXPECT_EQ(f.names()[6], "GET /");
}

TEST(RouteNames, APathHasTheTemplateThatRoutingFound) {
  BookFixture f;
  EXPECT_EQ(f.book.OfPath("GET", "/throw/x1"), 0u);
  EXPECT_EQ(f.book.OfPath("GET", "/items/1"), 1u);
  (void)f.book.CountMatched("/throw/{name}", 5);
  (void)f.book.CountMatched("/items/{**rest}", 5);
  (void)f.book.CountUnmatched(5);
  (void)f.book.Template("GET", "/items/{id}");
  EXPECT_EQ(f.names()[0], "GET /throw/{name}");
  EXPECT_EQ(f.names()[1], "GET /items/{id}") << "what the method itself has comes first";
  EXPECT_EQ(f.names()[2], "(any method) /throw/{name}");
  EXPECT_EQ(f.names()[4], "(any method) (no route)");
  BookFixture early;  // the histogram has told of nothing
  (void)early.book.OfPath("GET", "/Home/Index");
  (void)early.book.CountMatched("{controller=Home}/{action=Index}/{id?}", 5);
  EXPECT_EQ(early.names()[0], "GET /Home/Index");
}

TEST(RouteNames, OneStatusIsTheName) {
  BookFixture f;
  const uint32_t get = f.book.NoRoute("GET"), put = f.book.NoRoute("PUT");
  f.Status(get, 404);
  f.Status(put, 404);
  f.Status(put, 500);
  EXPECT_EQ(f.names(), (Names{"GET (404)", "PUT (no route)"}));
  f.Status(9'999, 404);  // of a damaged capture
  EXPECT_EQ(f.names().size(), 2u);
}

TEST(RouteBook, TemplatesGoOnInOtherTables) {
  BookFixture f;
  EXPECT_EQ(f.book.Template("GET", "/a/{x}"), 0u);
  EXPECT_EQ(f.book.OfPath("GET", "/b/1"), 1u);
  StringPool strings;
  profile::ProcessTables tables;
  f.book.MoveTo(&strings, &tables);
  EXPECT_TRUE(tables.requests.routes.empty());
  EXPECT_EQ(f.book.OfPath("GET", "/b/1"), 0u);
  EXPECT_EQ(f.book.Match("GET", "/a/5"), 1u);
  EXPECT_EQ(f.book.Match("GET", "/b/5"), RouteBook::kNone);
  EXPECT_EQ(RouteNames(tables, strings)[1], "GET /a/{x}");
  EXPECT_EQ(f.tables.requests.routes.size(), 2u);
}

TEST(RouteBook, IsBounded) {
  BookFixture f;
  for (size_t i = 0; i < RouteBook::kMostTemplates + 100; ++i)
    (void)f.book.Template("GET", "/t" + std::to_string(i) + "/{x}");
  EXPECT_EQ(f.tables.requests.routes.size(), RouteBook::kMostTemplates + 1);
  EXPECT_EQ(f.names().back(), profile::kOtherRoutes);
  EXPECT_EQ(f.book.Match("GET", "/t7/a"), 7u);
  for (uint32_t n = 0; n < 3'000; ++n) {
    std::string path = "/p/";
    for (uint32_t v = n, i = 0; i < 4; ++i, v /= 26) path += static_cast<char>('a' + v % 26);
    (void)f.book.OfPath("GET", path);
  }
  EXPECT_EQ(f.tables.requests.routes.size(), RouteBook::kMostTemplates + 1 + RouteBook::kMostPaths);
}

TEST(RouteBook, TextsThatAreNoTemplatesAreNamesAllTheSame) {
  BookFixture f;
  for (const char* text : {"{", "}", "a{b", "{x:regex(^[)}", "\x01\x02", "{a}{b}{c}{d}", "////"})
    (void)f.book.Template("GET", text);
  (void)f.book.Template("GET", std::string(30'000, '{'));
  EXPECT_EQ(f.names().size(), 8u);
  (void)f.book.Match("GET", "/a");
}

}  // namespace
}  // namespace clrscope::analysis
