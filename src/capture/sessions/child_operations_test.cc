// SPDX-License-Identifier: Apache-2.0
// Operations within requests, from their events to what a report has of them.
#include "analysis/families/requests/child_operations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "capture/testing/request_events.h"
#include "profile/views/request_costs.h"

namespace clrscope::analysis {
namespace {

using namespace nettrace::testing;
using capture::testing::RequestEvents;
using capture::testing::TestId;
using clr::EventTag;

constexpr int64_t kMilli = 1'000'000;

class OperationSlices final : public profile::SliceSink {
 public:
  void OnSlice(profile::Slice&& s) override { slices.push_back(std::move(s)); }
  std::vector<profile::Slice> slices;
};

// Its median is rounded to 10 ms.
struct Child {
  double count = 0, failed = 0, p50_ms = 0;
  bool operator==(const Child&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Child& c) {
  return out << c.count << " (" << c.failed << " failed) of " << c.p50_ms << " ms";
}
using Children = std::map<std::string, Child>;

class OperationFeeder : public RequestEvents {
 public:
  OperationFeeder() {
    recording_.processes.push_back(std::make_unique<profile::ProcessTables>());
    FoldOptions options;
    options.requests = true;
    fold_ = std::make_unique<ProcessFold>(&recording_.strings, &tables(), 0, &slices_, options);
    Feed(fold_.get());
  }
  void Call(int64_t time, const TestId& id, std::string_view host = "api", int32_t port = 443) {
    Event(EventTag::kHttpStart, 0, time,
          ByteWriter().Z16("https").Z16(host).Put(port).Z16("/x").U8(1).U8(1).U32(0).Take(), id);
  }
  void Called(int64_t time, const TestId& id, int32_t status = 200) {
    Event(EventTag::kHttpStop, 1, time, ByteWriter().Put(status).Take(), id);
  }
  // `parent`: "" = none in this process.
  void Begin(int64_t time, const TestId& id, std::string_view name, std::string_view parent = "",
             std::string_view source = "Shop") {
    Event(EventTag::kActivityStart, 0, time, Arguments(source, name, "OperationName", parent), id);
  }
  void End(int64_t time, const TestId& id, std::string_view name, std::string_view status = "Unset",
           std::string_view source = "Shop") {
    Event(EventTag::kActivityStop, 0, time, Arguments(source, name, "Status", status), id);
  }
  std::string Arguments(std::string_view source, std::string_view name, std::string_view key,
                        std::string_view value) {
    return ByteWriter().Z16(source).Z16(name).U16(1).Z16(key).Z16(value).Take();
  }

  // Of what was fed, which ends here.
  std::map<std::string, Children> Rows() {
    fold_->Finish();
    Aggregate aggregate(&recording_, {}, {.requests = true});
    for (const profile::Slice& s : slices_.slices) aggregate.Add(s);
    profile_ = Bind(recording_, aggregate);
    std::map<std::string, Children> out;
    for (const profile::RequestCost& r : profile::RequestCosts(profile_)) {
      Children& children = out[std::string(r.route)];
      counts[std::string(r.route)] = r.count;
      for (const profile::ChildCost& c : r.children)
        children[std::string(c.operation)] = {c.durations.count, c.failed,
                                              10 * std::round(c.durations.At(0.5) / 1e7)};
    }
    return out;
  }
  profile::ProcessTables& tables() { return *recording_.processes[0]; }
  ProcessFold& fold() { return *fold_; }
  uint64_t lost(Loss loss) { return tables().losses[loss]; }

  std::map<std::string, double> counts;  // requests, by row

 private:
  profile::Recording recording_;
  OperationSlices slices_;
  profile::Profile profile_;
  std::unique_ptr<ProcessFold> fold_;
};

TEST(ChildOperations, CallsOfARequestAreItsRoutes) {
  OperationFeeder f;
  f.Start(10 * kMilli, {1}, "/a");
  f.Call(11 * kMilli, {1, {1}});
  f.Call(12 * kMilli, {1, {2}}, "127.0.0.1", 5000);  // at the same time
  f.Called(31 * kMilli, {1, {1}});
  f.Called(62 * kMilli, {1, {2}}, 503);
  f.Call(70 * kMilli, {1, {3}});
  f.Called(90 * kMilli, {1, {3}});
  f.Stop(100 * kMilli, {1});
  f.Start(110 * kMilli, {2}, "/b");
  f.Stop(120 * kMilli, {2});
  f.Template(900 * kMilli, "/a");
  f.Template(900 * kMilli, "/b");
  f.Collected(900 * kMilli);
  EXPECT_EQ(f.Rows(),
            (std::map<std::string, Children>{
                {"GET /a", {{"HTTP api:443", {2, 0, 20}}, {"HTTP 127.0.0.1:5000", {1, 1, 50}}}},
                {"GET /b", {}}}));
  EXPECT_EQ(f.counts["GET /a"], 1);
}

TEST(ChildOperations, ACallFailsByItsExceptionOrItsStatus) {
  OperationFeeder f;
  f.Start(0, {1}, "/a");
  f.Call(1 * kMilli, {1, {1}});
  f.Event(EventTag::kHttpFailed, 1, 20 * kMilli, ByteWriter().Z16("refused").Take(),
          TestId{1, {1, 4}});  // below it
  f.Called(21 * kMilli, {1, {1}}, 0);
  f.Call(30 * kMilli, {1, {2}});
  f.Called(50 * kMilli, {1, {2}}, -1);
  f.Call(60 * kMilli, {1, {3}});
  f.Called(80 * kMilli, {1, {3}}, 404);  // an answer
  f.Stop(90 * kMilli, {1});
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  EXPECT_EQ(f.Rows()["GET /a"], (Children{{"HTTP api:443", {3, 2, 20}}}));
}

TEST(ChildOperations, WhatEndsAfterTheResponseOrIsOfNoRequest) {
  OperationFeeder f;
  f.Start(0, {1}, "/a");
  f.Call(1 * kMilli, {1, {1}});
  f.Stop(10 * kMilli, {1});
  f.Called(21 * kMilli, {1, {1}});
  f.Call(30 * kMilli, {7}, "beacon", 80);  // by a timer
  f.Called(50 * kMilli, {7});
  f.Call(60 * kMilli, {8});    // it never ends
  f.Called(70 * kMilli, {9});  // it began before
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  auto rows = f.Rows();
  EXPECT_EQ(rows["GET /a"], Children{});
  EXPECT_EQ(rows["(after the response)"], (Children{{"HTTP api:443", {1, 0, 20}}}));
  EXPECT_EQ(rows["(no request)"], (Children{{"HTTP beacon:80", {1, 0, 20}}}));
}

TEST(ChildOperations, DifferentOnesAreBounded) {
  OperationFeeder f;
  f.Start(0, {1}, "/a");
  constexpr size_t kHosts = ChildOperations::kMostOperations + 50;
  for (size_t i = 0; i < kHosts; ++i) {
    f.Call(1 * kMilli, {1, {1}}, "host" + std::to_string(i));
    f.Called(21 * kMilli, {1, {1}});
  }
  f.Stop(30 * kMilli, {1});
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  const Children children = f.Rows()["GET /a"];
  EXPECT_EQ(children.size(), ChildOperations::kMostOperations + 1);
  EXPECT_EQ(children.at("(other)").count, 50);
  EXPECT_EQ(f.lost(Loss::kOperationsCapped), 50u);
}

TEST(ChildOperations, ThoseThatGoOnAreBounded) {
  OperationFeeder f;
  f.Start(0, {1}, "/a");
  for (uint32_t i = 0; i < ChildOperations::kMostOpen + 7; ++i) f.Call(kMilli, {1000 + i});
  EXPECT_EQ(f.lost(Loss::kOperationsCapped), 7u);
}

TEST(ChildOperations, ActivitiesWithinARequestAreItsOperations) {
  OperationFeeder f;
  f.Start(0, {1}, "/a");
  // ASP.NET Core's own, and that of a call: both are told elsewhere.
  f.Begin(0, {1, {1}}, "Microsoft.AspNetCore.Hosting.HttpRequestIn", "", "Microsoft.AspNetCore");
  f.Begin(10 * kMilli, {1, {1, 1}}, "step", "HttpRequestIn");
  f.Begin(11 * kMilli, {1, {1, 1, 1}}, "inner", "step");
  f.Call(12 * kMilli, {1, {1, 1, 1, 1}});
  f.Begin(12 * kMilli, {1, {1, 1, 1, 1, 1}}, "System.Net.Http.HttpRequestOut", "inner",
          "System.Net.Http");
  f.End(31 * kMilli, {1, {1, 1, 1, 1, 1}}, "System.Net.Http.HttpRequestOut", "Unset",
        "System.Net.Http");
  f.Called(32 * kMilli, {1, {1, 1, 1, 1}});
  f.End(41 * kMilli, {1, {1, 1, 1}}, "inner", "Error");
  f.End(60 * kMilli, {1, {1, 1}}, "step");
  f.End(70 * kMilli, {1, {1}}, "Microsoft.AspNetCore.Hosting.HttpRequestIn", "Unset",
        "Microsoft.AspNetCore");
  f.Stop(70 * kMilli, {1});
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  EXPECT_EQ(f.Rows(), (std::map<std::string, Children>{{"GET /a",
                                                        {{"HTTP api:443", {1, 0, 20}},
                                                         {"inner (Shop)", {1, 1, 30}},
                                                         {"step (Shop)", {1, 0, 50}}}}}));
}

TEST(ChildOperations, AnActivityThatNothingIsAroundIsARow) {
  OperationFeeder f;
  f.Begin(0, {5}, "consume");
  f.Allocate(3 * kMilli, TestId{5});
  f.Call(5 * kMilli, {5, {1}});
  f.Allocate(6 * kMilli, TestId{5, {1}});
  f.Called(25 * kMilli, {5, {1}});
  f.Begin(26 * kMilli, {5, {2}}, "store", "consume");
  f.End(36 * kMilli, {5, {2}}, "store");
  f.End(40 * kMilli, {5}, "another");  // whose start nobody saw
  f.End(50 * kMilli, {5}, "consume");
  f.Begin(60 * kMilli, {6}, "consume");
  f.End(61 * kMilli, {6}, "consume");
  // Of a request that had begun before: no row, and of no request.
  f.Begin(70 * kMilli, {7}, "late", "HttpRequestIn");
  f.End(90 * kMilli, {7}, "late");
  const auto rows = f.Rows();
  EXPECT_EQ(
      rows,
      (std::map<std::string, Children>{
          {"activity consume (Shop)", {{"HTTP api:443", {1, 0, 20}}, {"store (Shop)", {1, 0, 10}}}},
          {"(no request)", {{"late (Shop)", {1, 0, 20}}}}}));
  EXPECT_EQ(f.counts["activity consume (Shop)"], 2);
  ASSERT_FALSE(f.tables().requests.slowest.empty());
  EXPECT_EQ(f.tables().requests.slowest[0].path, "");
}

TEST(ChildOperations, WindowsScaleThemAsTheirRoute) {
  OperationFeeder f;
  RequestFold& requests = f.fold().requests();
  f.Start(1, {1}, "/a");  // so that there is a process
  f.Stop(2, {1});
  requests.BeginWindows(kMilli);
  // Ten windows of 100 ms, each with two of the ten requests of its second, and a call in each.
  for (uint32_t second = 0; second < 10; ++second) {
    const int64_t at = (1 + int64_t{second}) * 1000 * kMilli;
    requests.OpenWindow(second % profile::kWindowGroups + 1);
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t n = 10 + second * 2 + i;
      f.Start(at + 10 * kMilli, {n}, "/a");
      f.Call(at + 11 * kMilli, {n, {1}});
      f.Called(at + 31 * kMilli, {n, {1}});
      f.Stop(at + 40 * kMilli, {n});
    }
    f.Call(at + 50 * kMilli, {900});  // cut off by the end of the window
    requests.CloseWindow(at + 100 * kMilli, false);
    f.Template(at + 900 * kMilli, "/a", 10);
    f.Collected(at + 900 * kMilli);
  }
  f.Called(12'000 * kMilli, {900});
  const auto rows = f.Rows();
  const Child child = rows.at("GET /a").at("HTTP api:443");
  EXPECT_NEAR(child.count, 100, 1);
  EXPECT_EQ(child.p50_ms, 20);
}

TEST(ChildOperations, CommandsOfSqlClientArePairedByTheirObject) {
  OperationFeeder f;
  const auto begin = [&](int64_t time, const TestId& id, int32_t object, std::string_view text) {
    f.Event(EventTag::kSqlClientStart, 0, time,
            ByteWriter().Put(object).Z16("server").Z16("shop").Z16(text).Z16("m").Take(), id);
  };
  const auto end = [&](int64_t time, const TestId& id, int32_t object, int32_t state) {
    f.Event(EventTag::kSqlClientStop, 0, time,
            ByteWriter().Put(object).Put(state).Put(int32_t{0}).Z16("m").Take(), id);
  };
  f.Start(0, {1}, "/a");
  begin(10 * kMilli, {1, {1}}, 71, "SELECT id FROM [dbo].[orders] WHERE x = 'FROM y'");
  begin(11 * kMilli, {1, {2}}, -72, "update items set n = 1");
  end(30 * kMilli, {1}, 71, 1);  // on another thread
  end(61 * kMilli, {1}, -72, 2);
  f.Stop(70 * kMilli, {1});
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  EXPECT_EQ(f.Rows()["GET /a"],
            (Children{{"SQL SELECT dbo.orders", {1, 0, 20}}, {"SQL UPDATE items", {1, 1, 50}}}));
}

TEST(ChildOperations, CommandsOfNpgsqlEndWithThePathOfWhatIsAroundThem) {
  OperationFeeder f;
  const auto begin = [&](int64_t time, const TestId& id, std::string_view text) {
    f.Event(EventTag::kNpgsqlStart, 0, time, ByteWriter().Z16(text).Take(), id);
  };
  const auto end = [&](int64_t time, const TestId& id) {
    f.Event(EventTag::kNpgsqlStop, 0, time, "", id);
  };
  begin(0, {9}, "SELECT 1 FROM job");  // of nothing: its end is not told
  end(10 * kMilli, {9});
  f.Start(0, {1}, "/a");
  f.Begin(kMilli, {1, {9}}, "step", "x");
  begin(10 * kMilli, {1, {9, 1}}, "SELECT 1 FROM within");
  end(30 * kMilli, {1, {9}});
  f.End(40 * kMilli, {1, {9}}, "step");
  for (unsigned i = 1; i <= 3; ++i)  // at one time
    begin((100 + i) * kMilli, {1, {i}}, "UPDATE items SET n = 1");
  begin(104 * kMilli, {1, {4}}, "DELETE FROM items");
  end(150 * kMilli, {1, {4}});  // as if the runtime knew it
  for (unsigned i = 1; i <= 3; ++i) end((120 + i) * kMilli + 30 * kMilli, {1});
  end(160 * kMilli, {1});  // of one that began before the recording
  f.Stop(170 * kMilli, {1});
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  EXPECT_EQ(f.Rows()["GET /a"], (Children{{"SQL SELECT within", {1, 0, 20}},
                                          {"SQL UPDATE items", {3, 0, 50}},
                                          {"SQL DELETE items", {1, 0, 50}},
                                          {"step (Shop)", {1, 0, 40}}}));
}

TEST(ChildOperations, WhatIsNeverToldToEndMakesRoom) {
  OperationFeeder f;
  f.Start(0, {1}, "/a");
  for (uint32_t i = 0; i < ChildOperations::kMostOpen + 500; ++i)
    f.Event(EventTag::kNpgsqlStart, 0, kMilli, ByteWriter().Z16("SELECT 1").Take(),
            TestId{1000 + i / 3, {i % 3 + 1}});
  f.Call(10 * kMilli, {1, {1}});
  f.Called(30 * kMilli, {1, {1}});
  f.Stop(40 * kMilli, {1});
  f.Template(900 * kMilli, "/a");
  f.Collected(900 * kMilli);
  EXPECT_EQ(f.Rows()["GET /a"], (Children{{"HTTP api:443", {1, 0, 20}}}));
  EXPECT_EQ(f.lost(Loss::kOperationsCapped), 501u);
}

}  // namespace
}  // namespace clrscope::analysis
