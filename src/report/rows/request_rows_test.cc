// SPDX-License-Identifier: Apache-2.0
// Rows of requests, and their text.
#include "report/rows/request_rows.h"

#include <gtest/gtest.h>

#include <sstream>

#include "profile/estimate/duration_scale.h"
#include "profile/testing/requests_profile.h"
#include "profile/views/filter.h"
#include "report/text/requests.h"
#include "report/text/shorten.h"

namespace clrscope::report {
namespace {

using profile::testing::RequestsBuilder;

constexpr int64_t kMilli = 1'000'000;

std::vector<std::string> TextLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

RequestsBuilder ShopBuilder(bool two_processes = false) {
  RequestsBuilder b;
  b.AddProcess(42, "shop");
  if (two_processes) b.AddProcess(43, "a-gateway-with-quite-a-long-name");
  for (int i = 0; i < 1'200; ++i) {
    b.Request("GET /", 2 * kMilli, 1);
    b.Request("GET /items/{id}", 12 * kMilli, 20, 1, 3 * kMilli);
  }
  for (int i = 0; i < 10; ++i)
    b.Request("POST /shop/customers/{customerId:int}/orders/{orderId:guid}/parts/{part?}",
              800 * kMilli, 400, 0, 20 * kMilli, two_processes ? 1 : 0);
  b.Work("", 0, 300);
  b.Work(profile::kAfterResponse, 0, 3, 5);
  profile::RouteFacts& items = b.FactsOf("GET /items/{id}");
  items.counted = 1'230;
  items.failed = 30;
  items.statuses = {{200, 1'200.0}, {500, 30.0}};
  items.gc_caused_ns = 250.0 * kMilli;
  items.unended = 2;
  return b;
}

TEST(RequestRows, AreSortedWithWhatIsNoRouteLast) {
  const profile::Profile p = ShopBuilder().p;
  const auto names = [&](std::string_view sort) {
    std::vector<std::string> out;
    for (const RequestRow& r : RequestRows(p, sort, 100).rows) out.emplace_back(r.route);
    return out;
  };
  const std::string post =
      "POST /shop/customers/{customerId:int}/orders/{orderId:guid}/parts/{part?}";
  const std::string none(profile::kNoRequest), after(profile::kAfterResponse);
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(""), (Names{"GET /items/{id}", post, "GET /", none, after}));
  EXPECT_EQ(names("duration"), (Names{post, "GET /items/{id}", "GET /", none, after}));
  EXPECT_EQ(names("exceptions"), (Names{"GET /items/{id}", "GET /", post, after, none}));
  EXPECT_EQ(names("errors")[0], "GET /items/{id}");
  EXPECT_EQ(names("gc")[0], "GET /items/{id}");
  EXPECT_EQ(names("lock_wait")[0], "GET /items/{id}");
  EXPECT_TRUE(IsRequestSort("lock_wait"));
  EXPECT_FALSE(IsRequestSort("size"));
  const RequestTable cut = RequestRows(p, "", 2);
  EXPECT_EQ(cut.rows.size(), 2u);
  EXPECT_EQ(cut.all_rows, 5u);
}

TEST(RequestRows, ProcessesAreApartAndNothingIsLost) {
  const profile::Profile p = ShopBuilder(true).p;
  const RequestTable table = RequestRows(p, "", 100);
  double samples = 0, count = 0, thrown = 0, waited = 0;
  for (const RequestRow& r : table.rows) {
    samples += static_cast<double>(r.allocated.samples);
    count += r.count;
    thrown += r.exceptions;
    waited += r.lock_wait_ns;
    EXPECT_EQ(r.process, r.route.starts_with("POST") ? 1u : 0u);
  }
  EXPECT_EQ(samples, 1'200 * 21 + 4'000 + 303);
  EXPECT_EQ(count, 2'440);
  EXPECT_EQ(thrown, 1'205);
  EXPECT_EQ(waited, 1'200.0 * 3 * kMilli + 200.0 * kMilli);
}

TEST(RequestRows, WhatIsNotKnownIsNull) {
  RequestsBuilder b = ShopBuilder();
  const auto json = [&](std::string_view route) {
    for (const RequestRow& r : RequestRows(b.p, "", 100).rows)
      if (r.route == route) return RequestJson(r, b.p);
    return Json();
  };
  const Json items = json("GET /items/{id}");
  EXPECT_EQ(items["count"], 1'230) << "30 had begun before the recording";
  EXPECT_EQ(items["errors"], 30);
  EXPECT_EQ(items["statuses"]["500"], 30);
  EXPECT_EQ(items["unfinished"], 2);
  EXPECT_EQ(items["duration_ns"]["max"], 12 * kMilli);
  EXPECT_EQ(items["samples"], 24'000);
  EXPECT_TRUE(json("GET /")["errors"].is_null()) << "no histogram told of it";
  const Json none = json(profile::kNoRequest);
  EXPECT_TRUE(none["count"].is_null());
  EXPECT_TRUE(none["duration_ns"]["p50"].is_null());
  EXPECT_TRUE(none["bytes_per_request"].is_null());
  EXPECT_EQ(none["samples"], 300);
  // Of some requests of a route the runtime's count of all is of no use.
  ASSERT_TRUE(profile::Apply({.slower_than_ns = kMilli}, b.p).ok());
  EXPECT_TRUE(json("GET /items/{id}")["errors"].is_null());
  EXPECT_EQ(json("GET /items/{id}")["count"], 1'200);
  b.p.processes[0].Record(profile::Measure::kRequests);  // and nothing else
  EXPECT_TRUE(json("GET /items/{id}")["samples"].is_null());
  EXPECT_TRUE(json("GET /items/{id}")["exceptions"].is_null());
}

TEST(RequestRows, WithoutStartsTheRuntimesCountIsShown) {
  RequestsBuilder b;
  b.AddProcess(1, "shop");
  b.FactsOf("GET /a").counted = 12;
  const RequestTable table = RequestRows(b.p, "", 10);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].count, 12);
  EXPECT_TRUE(RequestJson(table.rows[0], b.p)["duration_ns"]["p95"].is_null());
}

TEST(RequestRows, ChildrenAreToldByWhatTookLongestInAll) {
  RequestsBuilder b = ShopBuilder();
  profile::RouteFacts& items = b.FactsOf("GET /items/{id}");
  const auto add = [&](std::string_view name, double n, int64_t ns, bool failed = false) {
    const auto labels = profile::LabelSet()
                            .With(profile::LabelKey::kDuration, profile::DurationScale::StepOf(ns))
                            .With(profile::LabelKey::kStatus, failed ? 1 : 0);
    items.ChildOf(b.p.strings.Intern(name)).Add(labels, n, n * static_cast<double>(ns));
  };
  add("HTTP a:80", 10, 2 * kMilli);
  add("HTTP b:80", 3, 5 * kMilli);
  add("HTTP b:80", 2, 300 * kMilli, true);
  add("SQL SELECT c", 1, kMilli);
  add("SQL SELECT d", 1, kMilli / 2);
  const auto json_of = [&](std::string_view route) {
    for (const RequestRow& r : RequestRows(b.p, "", 100).rows)
      if (r.route == route) return RequestJson(r, b.p)["children"];
    return Json();
  };
  const Json children = json_of("GET /items/{id}");
  ASSERT_EQ(children.size(), 4u);
  EXPECT_EQ(children[0]["operation"], "HTTP b:80");
  EXPECT_EQ(children[0]["count"], 5);
  EXPECT_EQ(children[0]["errors"], 2);
  EXPECT_EQ(children[0]["duration_ns"]["mean"], 123 * kMilli);
  EXPECT_NEAR(children[0]["duration_ns"]["p50"].get<double>(), 5e6, 5e6 * 0.034);
  EXPECT_NEAR(children[0]["duration_ns"]["p99"].get<double>(), 300e6, 300e6 * 0.034);
  EXPECT_EQ(children[3]["operation"], "SQL SELECT d");
  EXPECT_EQ(json_of("GET /"), Json::array());
  const std::string text = RequestsText(RequestRows(b.p, "", 100), b.p, {});
  EXPECT_NE(text.find("└ HTTP b:80"), std::string::npos) << text;
  EXPECT_NE(text.find("└ SQL SELECT c"), std::string::npos) << text;
  EXPECT_EQ(text.find("└ SQL SELECT d"), std::string::npos) << "three of them: " << text;
  b.p.requests.narrowed = true;
  EXPECT_TRUE(json_of("GET /items/{id}").is_null());
}

TEST(RequestsText, RoutesHaveTheRoomFirst) {
  for (const bool two : {false, true}) {
    const profile::Profile p = ShopBuilder(two).p;
    for (const size_t width : {40u, 60u, 80u, 100u, 140u, 250u}) {
      TextOptions o;
      o.width = width;
      const std::string text = RequestsText(RequestRows(p, "", 100), p, o);
      const auto lines = TextLines(text);
      for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), width) << line;
      ASSERT_GE(lines.size(), 7u);
      const size_t at = DisplayWidth(lines[1].substr(0, lines[1].find("Request")));
      if (width >= 60) {
        EXPECT_GE(width - at, 24u) << text;
        EXPECT_NE(text.find("GET /items/{id}\n"), std::string::npos) << text;
      }
      EXPECT_NE(text.find("POST /"), std::string::npos) << text;
      EXPECT_NE(text.find("{part?}\n"), std::string::npos) << text;
      EXPECT_EQ(two && width >= 100, text.find("Process") != std::string::npos && width >= 100);
      EXPECT_NE(text.find("Count"), std::string::npos);
      EXPECT_NE(text.find("Bytes"), std::string::npos);
    }
  }
}

TEST(RequestsText, NamesCannotSteerTheTerminal) {
  RequestsBuilder b;
  b.AddProcess(1, "sh\x1b[2Jop");
  b.AddProcess(2, "b");
  b.Request("GET /\x1b[31m\n", kMilli);
  b.Slow("GET /\x1b[31m\n", "/\x07\r", kMilli);
  const std::string text =
      RequestsText(RequestRows(b.p, "", 10), b.p, {}) + SlowestText(b.p, 5, {});
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c != 127 && (c & 0xE0) != 0)) << text;
}

TEST(SlowestText, RouteAndPathShareTheRoom) {
  RequestsBuilder b;
  b.AddProcess(1, "shop");
  const char* post = "POST /shop/customers/{customerId:int}/orders/{orderId:guid}/parts/{part?}";
  b.Slow(post, "/shop/customers/17/orders/a1b2c3d4-0000-4000-8000-0123456789ab/parts/3",
         1'800 * kMilli);
  b.Slow("GET /", "/", 5 * kMilli);
  b.p.requests.slowest[0].samples = 5;
  b.p.requests.slowest[0].bytes = 123'456'789;
  b.p.requests.slowest[0].exceptions = 12'345;
  b.p.requests.slowest[0].lock_wait_ns = b.p.requests.slowest[0].gc_waited_ns = 77 * kMilli;
  b.p.requests.slowest[1].start_ns = -5 * kMilli;
  b.p.requests.slowest[1].finished = false;
  for (const size_t width : {40u, 60u, 80u, 100u, 140u, 250u}) {
    TextOptions o;
    o.width = width;
    const std::string text = SlowestText(b.p, 10, o);
    for (const std::string& line : TextLines(text)) EXPECT_LE(DisplayWidth(line), width) << text;
    EXPECT_NE(text.find("Took"), std::string::npos);
    EXPECT_NE(text.find("POST /"), std::string::npos) << text;
    EXPECT_NE(text.find("Path"), std::string::npos) << text;
    EXPECT_NE(text.find("parts/3\n"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace clrscope::report
