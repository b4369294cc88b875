// SPDX-License-Identifier: Apache-2.0
#include "clr/metric_events.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace clrscope::clr {
namespace {

TEST(RequestTags, OfARequestAreRead) {
  const RequestTags t = ParseRequestTags(
      "http.request.method=GET,http.response.status_code=200,http.route=/items/{id:int},"
      "network.protocol.version=1.1,url.scheme=http");
  EXPECT_EQ(t.method, "GET");
  EXPECT_EQ(t.status, 200);
  EXPECT_TRUE(t.has_route);
  EXPECT_EQ(t.route, "/items/{id:int}");
  EXPECT_FALSE(t.has_error_type);
  EXPECT_FALSE(t.unhandled);
}

TEST(RequestTags, OfAFailureAndOfAnUnknownPathAreRead) {
  const RequestTags failed = ParseRequestTags(
      "error.type=System.InvalidOperationException,http.request.method=POST,"
      "http.response.status_code=500,http.route=Things/{id},network.protocol.version=2,"
      "url.scheme=https");
  EXPECT_EQ(failed.error_type, "System.InvalidOperationException");
  EXPECT_TRUE(failed.has_error_type);
  EXPECT_EQ(failed.route, "Things/{id}");
  EXPECT_EQ(failed.status, 500);
  const RequestTags unknown = ParseRequestTags(
      "aspnetcore.request.is_unhandled=True,http.request.method=_OTHER,"
      "http.response.status_code=404,network.protocol.version=1.1,url.scheme=http");
  EXPECT_TRUE(unknown.unhandled);
  EXPECT_EQ(unknown.method, "_OTHER");
  EXPECT_FALSE(unknown.has_route);
  EXPECT_EQ(unknown.status, 404);
}

TEST(RequestTags, ARouteMayHaveCommasAndEqualsSigns) {
  for (const std::string_view route : {
           "/a/{x:regex(^a,b$)}",
           "/b/{id:range(1,5)}/c",
           "/c/{x=a,b}/{y}",
           "{controller=Home}/{action=Index}/{id?}",
           R"(/d/{x:regex(^\d{{3}},url.scheme=\d{{2}}$)})",
           "/e,f/{id}",
           "/g,a=1,h/{id}",  // keys are in order: this is none
           "/h{{,}}/{id:length(1,2)}",
           "/i/{**path}",
           "/j/é,ü",
           "",
       }) {
    const std::string text =
        "http.request.method=PUT,http.response.status_code=201,http.route=" + std::string(route) +
        ",network.protocol.version=3,tenant=x,url.scheme=https";
    const RequestTags t = ParseRequestTags(text);
    EXPECT_TRUE(t.has_route) << route;
    EXPECT_EQ(t.route, route);
    EXPECT_EQ(t.method, "PUT");
    EXPECT_EQ(t.status, 201);
    const std::string last = "http.route=" + std::string(route);
    EXPECT_EQ(ParseRequestTags(last).route, route) << "at the end";
  }
}

TEST(RequestTags, TheProgramsOwnTagsSeparateToo) {
  const RequestTags t = ParseRequestTags(
      "a.b=x,y,http.request.method=GET,http.response.status_code=200,http.route=/q/{x},i-own=v=w,"
      "my tag=1,url.scheme=http");
  EXPECT_EQ(t.method, "GET");
  EXPECT_EQ(t.route, "/q/{x}");
}

TEST(RequestTags, ATagThatAppearsTwiceCountsAsItFirstAppears) {
  const RequestTags t = ParseRequestTags(
      "http.response.status_code=200,http.response.status_code=500,http.route=/a,"
      "http.route=/b");
  EXPECT_EQ(t.status, 200);
  EXPECT_EQ(t.route, "/a");
}

TEST(RequestTags, ABraceThatIsNeverClosedEndsAtTheNextKnownTag) {
  const RequestTags t = ParseRequestTags("http.route=/a/{id,network.protocol.version=2");
  EXPECT_EQ(t.route, "/a/{id");
}

TEST(RequestTags, WhatIsNoStatusIsNone) {
  for (const char* status : {"", "x", "-1", "0", "1000", "200x", "99999999999999999999", " 200"})
    EXPECT_EQ(ParseRequestTags("http.response.status_code=" + std::string(status)).status, 0)
        << status;
}

TEST(Quantiles, AreReadInEveryCulture) {
  for (const char* text : {
           "0.5=0.0125;0.95=1E-05;0.99=2",
           "0,5=0,0125;0,95=1E-05;0,99=2",
           "0,5=0,0125;0,95=1E\u221205;0,99=2",
           "0\u066B5=0\u066B0125;0\u066B95=1E\u200E-05;0\u066B99=2",
       }) {
    const Quantiles q = ParseQuantiles(text);
    ASSERT_EQ(q.size, 3u) << text;
    EXPECT_DOUBLE_EQ(q.At(0.5), 0.0125) << text;
    EXPECT_DOUBLE_EQ(q.At(0.95), 1e-5) << text;
    EXPECT_DOUBLE_EQ(q.At(0.99), 2) << text;
    EXPECT_LT(q.At(0.9), 0) << text;
  }
}

TEST(Quantiles, WhatIsNoNumberIsLeftOut) {
  EXPECT_EQ(ParseQuantiles("").size, 0u);
  EXPECT_EQ(ParseQuantiles("0.5=NaN;0.95=Infinity;0.99=1e999;2=1;-1=1;=;x=1;0.5=;0.5").size, 0u);
  EXPECT_EQ(ParseQuantiles("0.5=1;;0.9=x;0.99=3").size, 2u);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "0.5=1;";
  EXPECT_EQ(ParseQuantiles(many).size, Quantiles::kMost);
  EXPECT_EQ(ParseQuantiles("0.5=" + std::string(1000, '1')).size, 0u);
}

TEST(MetricTexts, AnyBytesAreTaken) {
  std::mt19937 random(7);
  constexpr std::string_view kPieces[] = {"http.route=",
                                          "http.request.method=",
                                          "http.response.status_code=",
                                          "error.type=",
                                          "{",
                                          "}",
                                          ",",
                                          "=",
                                          ";",
                                          "0.5",
                                          "/a",
                                          "é",
                                          "200",
                                          "\0x"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (uint64_t n = random() % 24; n > 0; --n) {
      if (random() % 8 == 0)
        text.push_back(static_cast<char>(random() % 256));
      else
        text += kPieces[random() % std::size(kPieces)];
    }
    const RequestTags t = ParseRequestTags(text);
    for (const std::string_view part : {t.method, t.route, t.error_type}) {
      if (part.empty()) continue;
      EXPECT_GE(part.data(), text.data());
      EXPECT_LE(part.data() + part.size(), text.data() + text.size());
    }
    EXPECT_LE(ParseQuantiles(text).size, Quantiles::kMost);
  }
}

TEST(MatchTags, HaveTheRouteThatRoutingFound) {
  const MatchTags found = ParseMatchTags(
      "aspnetcore.routing.is_fallback=False,aspnetcore.routing.match_status=success,"
      "http.route=/a/{x:regex(^a,b$)}");
  EXPECT_TRUE(found.has_route);
  EXPECT_EQ(found.route, "/a/{x:regex(^a,b$)}");
  const MatchTags root = ParseMatchTags(
      "aspnetcore.routing.is_fallback=True,aspnetcore.routing.match_status=success,http.route=");
  EXPECT_TRUE(root.has_route);
  EXPECT_EQ(root.route, "");
  for (const char* text : {"aspnetcore.routing.match_status=failure", "", "=", "http.route",
                           "aspnetcore.routing.match_status=success,http.route=(missing)"})
    EXPECT_FALSE(ParseMatchTags(text).has_route) << text;
}

}  // namespace
}  // namespace clrscope::clr
