// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_template.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace clrscope::analysis {
namespace {

Fit MatchOf(std::string_view text, std::string_view path) {
  const auto route = RouteTemplate::Parse(text);
  EXPECT_TRUE(route) << text;
  return route ? route->Match(RequestPath(path)) : Fit::kNo;
}

struct TemplateCase {
  const char* text;
  const char* path;
  Fit fit;
};

void ExpectFits(std::initializer_list<TemplateCase> cases) {
  for (const TemplateCase& c : cases)
    EXPECT_EQ(MatchOf(c.text, c.path), c.fit) << c.text << " " << c.path;
}

TEST(RouteTemplate, LiteralsAndParametersMatch) {
  ExpectFits({
      {"/", "/", Fit::kYes},
      {"", "/", Fit::kYes},
      {"/", "", Fit::kYes},
      {"/", "/a", Fit::kNo},
      {"/items", "/items", Fit::kYes},
      {"/items", "/Items/", Fit::kYes},
      {"/items", "/items//", Fit::kNo},
      {"items", "/items", Fit::kYes},
      {"~/items", "/items", Fit::kYes},
      {"/items/", "/items", Fit::kYes},
      {"/items/{id}", "/items/17", Fit::kYes},
      {"/items/{id}", "/items/", Fit::kNo},
      {"/items/{id}", "/items//", Fit::kNo},
      {"/items/{id}", "/items/1/2", Fit::kNo},
      {"/items/{id}/x", "/items//x", Fit::kNo},
      {"/a{{b}}c", "/a{b}c", Fit::kYes},
      {"/a{{b}}c", "/a%7Bb%7Dc", Fit::kYes},
      {"/caf\u00E9", "/caf%C3%A9", Fit::kYes},
      {"/a b", "/a%20b", Fit::kYes},
      {"/a/{x}", "/a/b%2Fc", Fit::kYes},  // an escaped slash separates nothing
      {"/a/{x}/{y}", "/a/b%2fc", Fit::kNo},
  });
}

TEST(RouteTemplate, OptionalPartsAndDefaultsMayBeMissing) {
  ExpectFits({
      {"{controller=Home}/{action=Index}/{id?}", "/", Fit::kYes},
      {"{controller=Home}/{action=Index}/{id?}", "/Things", Fit::kYes},
      {"{controller=Home}/{action=Index}/{id?}", "/Things/Get/5", Fit::kYes},
      {"{controller=Home}/{action=Index}/{id?}", "/Things/Get/5/6", Fit::kNo},
      {"/a/{x?}", "/a", Fit::kYes},
      {"/a/{x:int?}", "/a", Fit::kYes},
      {"/a/{x:int?}", "/a/5", Fit::kYes},
      {"/a/{x:int?}", "/a/b", Fit::kNo},
      {"/a/{x:int=5}", "/a", Fit::kYes},
      {"/a/{x?}/b", "/a/b", Fit::kNo},
      {"/a/{x?}/b", "/a/1/b", Fit::kYes},
  });
}

TEST(RouteTemplate, CatchAllsTakeTheRest) {
  ExpectFits({
      {"/files/{**path}", "/files/a/b//c/", Fit::kYes},
      {"/files/{*path}", "/files", Fit::kYes},
      {"/files/{*path}", "/files/", Fit::kYes},
      {"/files/{*path}", "/file", Fit::kNo},
      {"{*path:nonfile}", "/", Fit::kYes},
      {"/{*path:nonfile}", "/a/b.c/d", Fit::kYes},
      {"/{*path:nonfile}", "/a/b.c/", Fit::kYes},
      {"/{*path:nonfile}", "/a/b.js", Fit::kNo},
      {"/{*path:nonfile}", "/a/b.", Fit::kYes},
      {"/{*path:file}", "/a/.b", Fit::kYes},
      {"/{*path:file}", "/a", Fit::kNo},
      {"/{*path:minlength(4)}", "/ab/", Fit::kNo},
      {"/{*path:minlength(4)}", "/ab/d", Fit::kYes},
      {"/{*path:minlength(0)}", "/", Fit::kNo},  // no value at all
  });
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "/x";
  EXPECT_EQ(MatchOf("/{**all}", deep), Fit::kYes);
  EXPECT_EQ(MatchOf("/x/{y}", deep), Fit::kNo);
}

TEST(RouteTemplate, SegmentsOfSeveralPartsMatchFromTheRight) {
  ExpectFits({
      {"/a/{x}.{ext?}", "/a/b.txt", Fit::kYes},
      {"/a/{x}.{ext?}", "/a/b", Fit::kYes},
      {"/a/{x}.{ext?}", "/a/b.", Fit::kNo},
      {"/a/{x}.{ext?}", "/a/.txt", Fit::kYes},  // as the name alone
      {"/a/{x}.{ext:int?}", "/a/b.c.7", Fit::kYes},
      {"/{x}.{y}", "/.y", Fit::kNo},
      {"/{x}.{y}", "/x.", Fit::kNo},
      {"/{x}-{y}-{z}", "/1-2-3", Fit::kYes},
      {"/{x}-{y}-{z}", "/1--3", Fit::kNo},
      {"/{x:int}-{y:int}", "/1-2", Fit::kYes},
      {"/{x:int}-{y:int}", "/a-2", Fit::kNo},
      {"/{x:int}-{y:int}", "/1-2-3", Fit::kNo},
      {"/v{version}", "/V2", Fit::kYes},
      {"/v{version}", "/v", Fit::kNo},
      {"/v{version}", "/av2", Fit::kNo},
      {"/{name}.json", "/x.JSON", Fit::kYes},
      {"/{name}.json", "/.json", Fit::kNo},
      {"/{name}.json", "/x.json5", Fit::kNo},
      {"/a{x}b{y}c", "/a1b2c", Fit::kYes},
      {"/a{x}b{y}c", "/abc", Fit::kNo},
      {"/a{x}b{y}c", "/a1b2cc", Fit::kYes},
      {"/a{x}a", "/a", Fit::kNo},
      {"/a{x}a", "/aa", Fit::kNo},
      {"/a{x}a", "/aaa", Fit::kYes},
  });
}

TEST(RouteTemplate, ConstraintsDecide) {
  ExpectFits({
      {"/{x:int}", "/-5", Fit::kYes},
      {"/{x:int}", "/%2B5", Fit::kYes},
      {"/{x:int}", "/2147483648", Fit::kNo},
      {"/{x:INT}", "/1.5", Fit::kNo},
      {"/{x:long}", "/9223372036854775807", Fit::kYes},
      {"/{x:long}", "/9223372036854775808", Fit::kNo},
      {"/{x:bool}", "/True", Fit::kYes},
      {"/{x:bool}", "/1", Fit::kNo},
      {"/{x:guid}", "/9ded64a4-414c-5251-dcf7-1e4e20c15e70", Fit::kYes},
      {"/{x:guid}", "/9ded64a4414c5251dcf71e4e20c15e70", Fit::kYes},
      {"/{x:guid}", "/%7B9ded64a4-414c-5251-dcf7-1e4e20c15e70%7D", Fit::kYes},
      {"/{x:guid}", "/9ded64a4-414c-5251-dcf7-1e4e20c15e7g", Fit::kNo},
      {"/{x:decimal}", "/1,234.5-", Fit::kYes},
      {"/{x:decimal}", "/1e5", Fit::kNo},
      {"/{x:double}", "/1e5", Fit::kYes},
      {"/{x:double}", "/-Infinity", Fit::kYes},
      {"/{x:float}", "/.5", Fit::kYes},
      {"/{x:float}", "/e5", Fit::kNo},
      {"/{x:float}", "/5e", Fit::kNo},
      {"/{x:datetime}", "/2026-11-01", Fit::kMaybe},
      {"/{x:datetime}", "/today", Fit::kNo},
      {"/{x:alpha}", "/Abc", Fit::kYes},
      {"/{x:alpha}", "/ab1", Fit::kNo},
      {"/{x:length(3)}", "/abc", Fit::kYes},
      {"/{x:length(3)}", "/ab", Fit::kNo},
      {"/{x:length(3)}", "/%C3%A9%F0%9F%98%80", Fit::kYes},  // three units of UTF-16
      {"/{x:length(2,3)}", "/abcd", Fit::kNo},
      {"/{x:minlength(2)}", "/a", Fit::kNo},
      {"/{x:maxlength(2)}", "/abc", Fit::kNo},
      {"/{x:maxlength(2)}", "/ab", Fit::kYes},
      {"/{x:min(18)}", "/17", Fit::kNo},
      {"/{x:min(18)}", "/18", Fit::kYes},
      {"/{x:max(18)}", "/-3", Fit::kYes},
      {"/{x:max(18)}", "/19", Fit::kNo},
      {"/{x:range(1,5)}", "/5", Fit::kYes},
      {"/{x:range(1,5)}", "/6", Fit::kNo},
      {"/{x:range(1,5)}", "/a", Fit::kNo},
      {"/{x:required}", "/a", Fit::kYes},
      {"/{x:file}", "/a.b", Fit::kYes},
      {"/{x:int:min(5)}", "/4", Fit::kNo},
      {"/{x:int:min(5)}", "/5", Fit::kYes},
      {"/{x:regex(^\\d{{2}}-[a-z]+$)}", "/12-ab", Fit::kYes},
      {"/{x:regex(^\\d{{2}}-[a-z]+$)}", "/123-ab", Fit::kNo},
      {"/{x:regex(^(a:b|c=d)$)}", "/c=d", Fit::kYes},
      {"/{x:regex(^a,b$)}", "/a,b", Fit::kYes},
      {"/{x:regex(^\\p{{L}}$)}", "/a", Fit::kMaybe},
      {"/{x:regex(^.$)}", "/%C3%A9", Fit::kMaybe},
      {"/{x:own}", "/a", Fit::kMaybe},
      {"/{x:own(1,2):int}", "/a", Fit::kNo},
      {"/{x:range(a,b)}", "/1", Fit::kMaybe},
      {"/{x:slugify=a}", "/b", Fit::kMaybe},
  });
}

TEST(RouteTemplate, RanksAreTheProgramsOrder) {
  // Each is taken before the next one.
  constexpr const char* kOrdered[] = {"/",
                                      "/a",
                                      "/a/b",
                                      "/a/{x:int}",
                                      "/a/{x}",
                                      "/a/{*x}",
                                      "/{x:int}",
                                      "/{x:int}/b",
                                      "/{x}",
                                      "/{x}/b",
                                      "/{*x:int}",
                                      "/{**x}",
                                      "{controller}/{action}",
                                      "{*path:nonfile}"};
  for (size_t i = 0; i + 1 < std::size(kOrdered); ++i)
    EXPECT_LT(RouteTemplate::Parse(kOrdered[i])->rank(),
              RouteTemplate::Parse(kOrdered[i + 1])->rank())
        << kOrdered[i] << " " << kOrdered[i + 1];
  EXPECT_EQ(RouteTemplate::Parse("/{x:int}")->rank(), RouteTemplate::Parse("/{x}-{y}")->rank());
}

TEST(RouteTemplate, WhatIsNoTemplateIsRefused) {
  for (const char* text :
       {"/{", "/}", "/{}", "/{a", "/a}", "/{a}{b}", "/{a?}b", "/{a}-{b?}", "/{*a}/b", "/a{*b}",
        "/{*a?}", "/{a?=5}", "//a", "/a//b", "/a?b", "/{a{b}", "/{a/b}"})
    EXPECT_FALSE(RouteTemplate::Parse(text)) << text;
  std::string deep, wide = "/";
  for (int i = 0; i < 40; ++i) {
    deep += "/x";
    wide += "{a" + std::to_string(i) + "}-";
  }
  EXPECT_FALSE(RouteTemplate::Parse(deep));
  EXPECT_FALSE(RouteTemplate::Parse(wide));
  EXPECT_FALSE(RouteTemplate::Parse(std::string(5000, 'a')));
}

TEST(RouteTemplate, AnyBytesAreTaken) {
  std::mt19937 random(17);
  constexpr std::string_view kSigns = "ab1/{}:=?*(),.-%~^$";
  size_t parsed = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text, path = "/";
    for (uint64_t n = random() % 24; n > 0; --n)
      text += random() % 16 == 0 ? static_cast<char>(random()) : kSigns[random() % kSigns.size()];
    for (uint64_t n = random() % 24; n > 0; --n)
      path += random() % 16 == 0 ? static_cast<char>(random()) : kSigns[random() % kSigns.size()];
    const auto route = RouteTemplate::Parse(text);
    if (!route) continue;
    ++parsed;
    const RequestPath request(path);
    (void)route->Match(request);
    (void)route->Match(request, 1);
    // Text without parameters is its own path.
    if (text.find_first_of("{}%~") == text.npos) {
      EXPECT_EQ(route->Match(RequestPath(text)), Fit::kYes) << text;
    }
  }
  EXPECT_GT(parsed, 1000u);
}

}  // namespace
}  // namespace clrscope::analysis
