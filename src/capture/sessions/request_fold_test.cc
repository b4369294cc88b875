// SPDX-License-Identifier: Apache-2.0
// Requests from their events to labelled slices. Here, as src/analysis may not use the payload
// builders of src/nettrace/testing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/requests/route_names.h"
#include "analysis/process_fold.h"
#include "base/utf.h"
#include "capture/testing/request_events.h"
#include "nettrace/testing/gc_payloads.h"
#include "nettrace/testing/synthetic_writer.h"
#include "profile/estimate/duration_scale.h"
#include "profile/views/durations.h"

namespace clrscope::analysis {
namespace {

using namespace nettrace::testing;
using capture::testing::RequestEvents;
using capture::testing::TestId;
using clr::EventTag;
using profile::DurationScale;
using profile::LabelKey;
using profile::RequestPart;
using profile::Source;

constexpr int64_t kOneMs = 1'000'000, kOneSecond = 1'000'000'000;

// Checks what SliceSink promises and keeps the slices.
class CheckedSlices final : public profile::SliceSink {
 public:
  void OnSlice(profile::Slice&& s) override {
    EXPECT_LT(s.start_ns, s.end_ns);
    EXPECT_FALSE(s.rows.empty());
    for (size_t i = 1; i < s.rows.size(); ++i) EXPECT_LT(s.rows[i - 1].series, s.rows[i].series);
    EXPECT_TRUE(std::is_sorted(s.thread_ids.begin(), s.thread_ids.end()));
    EXPECT_EQ(std::set<uint64_t>(s.thread_ids.begin(), s.thread_ids.end()).size(),
              s.thread_ids.size());
    std::map<uint32_t, uint64_t> parts;
    for (size_t i = 0; i < s.parts.size(); ++i) {
      const profile::ThreadPart& p = s.parts[i];
      EXPECT_LT(p.thread, s.thread_ids.size());
      parts[p.series] += p.sums.samples;
      if (i > 0) {
        EXPECT_LT(std::tuple(s.parts[i - 1].series, s.parts[i - 1].thread),
                  std::tuple(p.series, p.thread));
      }
    }
    for (const auto& [series, samples] : parts) {
      const auto row = std::find_if(s.rows.begin(), s.rows.end(), [series = series](const auto& r) {
        return r.series == series;
      });
      ASSERT_NE(row, s.rows.end());
      EXPECT_EQ(row->sums.samples, samples);
    }
    slices.push_back(std::move(s));
  }
  std::vector<profile::Slice> slices;
};

struct Sum {
  uint64_t samples = 0, amount = 0, stands_for = 0;
  bool operator==(const Sum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sum& s) {
  return out << s.samples << "/" << s.amount << "/" << s.stands_for;
}
using Sums = std::map<std::string, Sum>;

// One recording after the other, of one process.
class RequestFeeder : public RequestEvents {
 public:
  explicit RequestFeeder(bool expects_templates = true) {
    FoldOptions options;
    options.requests = true;
    NewTables();
    fold_ = std::make_unique<ProcessFold>(&recordings.back()->strings, &tables(), 0,
                                          sinks.back().get(), options);
    Feed(fold_.get());
    if (expects_templates) fold_->requests().ExpectTemplates();
  }
  void Finish() { fold_->Finish(); }
  // As when a recording is rotated.
  void Rotate(int64_t shift_ns) {
    fold_->Flush();
    fold_->storm().Flush(fold_->last_ns());
    fold_->requests().Flush(fold_->last_ns());
    const profile::ProcessTables& old = tables();
    const StringPool& old_strings = recordings.back()->strings;
    NewTables();
    fold_->MoveTo(old, old_strings, &recordings.back()->strings, &tables(), 0, sinks.back().get());
    fold_->storm().Shift(shift_ns);
    fold_->requests().Shift(shift_ns);
  }

  profile::ProcessTables& tables() { return *recordings.back()->processes[0]; }
  ProcessFold& fold() { return *fold_; }

  // What rows of a recording add up to, by the name of their route ("-": no label of one) and,
  // where it is known, the rounded duration: "GET /a 20 ms".
  Sums By(Source source, std::optional<RequestPart> part = {}, bool durations = false,
          size_t recording = ~size_t{0}) {
    if (recording == ~size_t{0}) recording = recordings.size() - 1;
    const profile::ProcessTables& t = *recordings[recording]->processes[0];
    const std::vector<std::string> names = RouteNames(t, recordings[recording]->strings);
    Sums out;
    for (const profile::Slice& s : sinks[recording]->slices)
      for (const profile::SliceRow& row : s.rows) {
        const profile::SeriesKey& key = t.series.keys()[row.series];
        if (key.source() != source) continue;
        const profile::LabelSet& labels = t.labels.sets()[key.labels];
        if (part && labels[LabelKey::kRequestPart] != static_cast<uint64_t>(*part)) continue;
        const uint64_t route = labels[LabelKey::kRequest];
        EXPECT_LE(route, names.size());
        std::string name = route == 0 ? "-" : names[route - 1];
        if (const uint64_t step = labels[LabelKey::kDuration]; durations && step != 0)
          name += " " +
                  std::to_string(static_cast<int64_t>(
                      DurationScale::LowNs(static_cast<uint16_t>(step)) / 1e6 + 0.5)) +
                  " ms";
        Sum& sum = out[name];
        sum.samples += row.sums.samples;
        sum.amount += row.sums.amount;
        sum.stands_for += row.sums.stands_for;
      }
    return out;
  }
  Sum Total(Source source, std::optional<RequestPart> part = {}, size_t recording = ~size_t{0}) {
    Sum total;
    for (const auto& [name, sum] : By(source, part, false, recording)) {
      total.samples += sum.samples;
      total.amount += sum.amount;
      total.stands_for += sum.stands_for;
    }
    return total;
  }
  uint64_t all_lost() {
    uint64_t n = 0;
    tables().losses.ForEach([&n](Loss, uint64_t count) { n += count; });
    return n;
  }
  uint64_t lost(Loss loss) { return tables().losses[loss]; }

  std::vector<std::unique_ptr<profile::Recording>> recordings;
  std::vector<std::unique_ptr<CheckedSlices>> sinks;

 private:
  void NewTables() {
    recordings.push_back(std::make_unique<profile::Recording>());
    recordings.back()->processes.push_back(std::make_unique<profile::ProcessTables>());
    sinks.push_back(std::make_unique<CheckedSlices>());
  }
  std::unique_ptr<ProcessFold> fold_;
};

TEST(RequestFold, WhatHappensForARequestHasItsRouteAndItsRoundedDuration) {
  RequestFeeder f;
  f.Start(10 * kOneMs, {1}, "/items/17");
  f.Allocate(12 * kOneMs, TestId{1}, 5);
  f.Allocate(13 * kOneMs, TestId{1}, 6);
  f.Throw(14 * kOneMs, TestId{1});
  f.WaitForLock(15 * kOneMs, 4 * kOneMs, TestId{1});
  f.Allocate(15 * kOneMs, {});
  f.Stop(35 * kOneMs, {1});
  f.Template(900 * kOneMs, "/items/{id}");
  f.Collected(900 * kOneMs);
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled, {}, true),
            (Sums{{"GET /items/{id} 20 ms", {2, 64, 0}}, {"-", {1, 32, 0}}}));
  EXPECT_EQ(f.By(Source::kException, {}, true), (Sums{{"GET /items/{id} 20 ms", {1, 0, 1}}}));
  EXPECT_EQ(f.By(Source::kContention, {}, true),
            (Sums{{"GET /items/{id} 20 ms", {1, 4 * kOneMs, 1}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /items/{id}", {1, 25 * kOneMs, 1}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kCounted),
            (Sums{{"GET /items/{id}", {1, 10 * kOneMs, 1}}}));
  ASSERT_EQ(f.tables().requests.slowest.size(), 1u);
  const profile::SlowRequest& slow = f.tables().requests.slowest[0];
  EXPECT_EQ(slow.path, "/items/17");
  EXPECT_EQ(slow.duration_ns, 25 * kOneMs);
  EXPECT_EQ(slow.samples, 2u);
  EXPECT_EQ(slow.exceptions, 1u);
  EXPECT_EQ(slow.lock_wait_ns, 4 * kOneMs);
  EXPECT_TRUE(slow.finished);
  EXPECT_EQ(f.all_lost(), 0u);
}

TEST(RequestFold, EventsOfThreadsKeepTheirThreads) {
  RequestFeeder f;
  f.Start(0, {1}, "/a");
  for (uint64_t thread = 1; thread <= 5; ++thread)
    for (uint64_t i = 0; i < thread; ++i) f.Allocate(kOneMs, TestId{1}, thread);
  f.Stop(2 * kOneMs, {1});
  f.Finish();
  std::map<uint64_t, uint64_t> got;
  for (const profile::Slice& s : f.sinks[0]->slices)
    for (const profile::ThreadPart& p : s.parts) got[s.thread_ids[p.thread]] += p.sums.samples;
  EXPECT_EQ(got, (std::map<uint64_t, uint64_t>{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}));
}

TEST(RequestFold, SessionsAreReadOneAfterTheOther) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Allocate(101 * kOneMs, TestId{1});  // its start is read next
  f.Start(100 * kOneMs, {1}, "/a");
  f.Stop(200 * kOneMs, {1});
  f.Allocate(150 * kOneMs, TestId{1});  // its stop was read before
  f.Throw(199 * kOneMs, TestId{1});
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled, {}, true), (Sums{{"GET /a 100 ms", {2, 64, 0}}}));
  EXPECT_EQ(f.By(Source::kException, {}, true), (Sums{{"GET /a 100 ms", {1, 0, 1}}}));
}

// On a busy machine, an event may be read seconds after its request's end.
TEST(RequestFold, WhatIsReadWhenItsRequestHasEndedHasItsRouteAndDuration) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Template(1, "/b");
  f.Start(5 * kOneMs, {1}, "/b");
  f.Start(100 * kOneMs, {1, {3}}, "/a");
  f.Stop(200 * kOneMs, {1, {3}});
  f.Collected(kOneSecond);
  f.fold().requests().Advance(kOneSecond);
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded).count("GET /a"), 1u);
  f.Allocate(150 * kOneMs, TestId{1, {3}});
  f.Allocate(160 * kOneMs, TestId{1, {3, 2}});
  f.Throw(199 * kOneMs, TestId{1, {3}});
  f.Allocate(201 * kOneMs, TestId{1, {3}});
  f.Allocate(99 * kOneMs, TestId{1, {3}});  // before it began: another's
  f.Stop(1500 * kOneMs, {1});
  f.Finish();
  EXPECT_EQ(
      f.By(Source::kSampled),
      (Sums{{"GET /a", {2, 64, 0}}, {"(after the response)", {1, 32, 0}}, {"GET /b", {1, 32, 0}}}));
  EXPECT_EQ(f.By(Source::kException, {}, true), (Sums{{"GET /a 100 ms", {1, 0, 1}}}));
}

TEST(RequestFold, WhatBeganWithinARequestIsTheInnermostOnes) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Template(1, "/b");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Start(11 * kOneMs, {1, {3}}, "/b");  // a request that the first one sent to its own process
  f.Allocate(12 * kOneMs, TestId{1, {2, 7}});
  f.Allocate(12 * kOneMs, TestId{1, {3, 1, 1}});
  f.Allocate(12 * kOneMs, TestId{1, {3}});
  f.Allocate(12 * kOneMs, TestId{1});
  f.Allocate(12 * kOneMs, TestId{2});
  f.Stop(20 * kOneMs, {1, {3}});
  f.Stop(30 * kOneMs, {1});
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled),
            (Sums{{"GET /a", {2, 64, 0}}, {"GET /b", {2, 64, 0}}, {"-", {1, 32, 0}}}));
}

TEST(RequestFold, WorkAfterTheResponseIsNoRequestsOwn) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Allocate(15 * kOneMs, TestId{1});
  f.Stop(20 * kOneMs, {1});
  f.Allocate(20 * kOneMs, TestId{1});
  f.Allocate(21 * kOneMs, TestId{1});
  f.Throw(22 * kOneMs, TestId{1, {4}});
  f.WaitForLock(23 * kOneMs, kOneMs, TestId{1});
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled, {}, true),
            (Sums{{"GET /a 10 ms", {2, 64, 0}}, {"(after the response)", {1, 32, 0}}}));
  EXPECT_EQ(f.By(Source::kException), (Sums{{"(after the response)", {1, 0, 1}}}));
  ASSERT_EQ(f.tables().requests.slowest.size(), 1u);
  EXPECT_EQ(f.tables().requests.slowest[0].samples, 2u);
  EXPECT_EQ(f.tables().requests.slowest[0].exceptions, 0u);
  EXPECT_EQ(f.tables().requests.slowest[0].lock_wait_ns, 0);
}

TEST(RequestFold, RequestsThatGoOnAreInNoCount) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Allocate(15 * kOneMs, TestId{1});
  f.Allocate(60 * kOneMs, {});
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded), Sums{});
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kUnended), (Sums{{"GET /a", {1, 50 * kOneMs, 1}}}));
  EXPECT_EQ(f.By(Source::kSampled, {}, true),
            (Sums{{"GET /a 50 ms", {1, 32, 0}}, {"-", {1, 32, 0}}}));
  ASSERT_EQ(f.tables().requests.slowest.size(), 1u);
  EXPECT_FALSE(f.tables().requests.slowest[0].finished);
  EXPECT_EQ(f.tables().requests.routes[0].max_ns, 0);
}

TEST(RequestFold, WhatEndsAfterTheRecordingIsNotCounted) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Start(10 * kOneMs, {2}, "/a");
  f.Stop(90 * kOneMs, {1});
  f.fold().requests().EndAt(100 * kOneMs);
  f.Stop(150 * kOneMs, {2});
  f.Start(160 * kOneMs, {3}, "/a");
  f.Stop(170 * kOneMs, {3});
  f.Template(800 * kOneMs, "/a", 3);
  f.Finish();
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kEnded), (Sum{1, 80 * kOneMs, 1}));
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kUnended), (Sum{1, 90 * kOneMs, 1}));
  EXPECT_EQ(f.all_lost(), 0u);
  for (const profile::Slice& s : f.sinks[0]->slices) EXPECT_EQ(s.start_ns, 0);
}

TEST(RequestFold, EventsOfALongRequestAreHandedOutBeforeItEnds) {
  RequestFeeder f;
  f.Template(1, "/long");
  f.Start(0, {1}, "/long");
  const auto samples = [&] { return f.Total(Source::kSampled).samples; };
  for (int64_t s = 1; s <= 20; ++s) {
    f.Allocate(s * kOneSecond, TestId{1});
    // None waits much longer than five seconds.
    EXPECT_GE(samples() + 7, static_cast<uint64_t>(s)) << s;
  }
  EXPECT_GT(samples(), 0u);
  f.Stop(21 * kOneSecond, {1});
  f.Finish();
  Sum all;
  for (const auto& [name, sum] : f.By(Source::kSampled, {}, true)) {
    // Never longer than the request took.
    EXPECT_TRUE(name == "GET /long 5000 ms" || name == "GET /long 7000 ms" ||
                name == "GET /long 10000 ms" || name == "GET /long 15000 ms" ||
                name == "GET /long 20000 ms")
        << name;
    all.samples += sum.samples;
  }
  EXPECT_EQ(all.samples, 20u);
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /long", {1, 21 * kOneSecond, 1}}}));
  ASSERT_EQ(f.tables().requests.slowest.size(), 1u);
  EXPECT_EQ(f.tables().requests.slowest[0].samples, 20u);
}

TEST(RequestFold, ATemplateMayComeASecondLater) {
  RequestFeeder f;
  f.Start(0, {1}, "/items/17");
  f.Allocate(kOneMs, TestId{1});
  f.Stop(20 * kOneMs, {1});
  f.Allocate(kOneSecond, {});  // the grace is over, the template is not there
  EXPECT_EQ(f.Total(Source::kRequest), Sum{});
  f.Template(1200 * kOneMs, "/items/{id}");
  f.Collected(1200 * kOneMs);
  f.Allocate(2 * kOneSecond + 500 * kOneMs, {});
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /items/{id}", {1, 20 * kOneMs, 1}}}));
  ASSERT_EQ(f.tables().requests.routes.size(), 1u);
  EXPECT_EQ(f.tables().requests.routes[0].kind, profile::RouteKind::kTemplate);
}

TEST(RequestFold, AHistogramThatHasBegunToTellMayBeLate) {
  RequestFeeder f;
  f.Template(500 * kOneMs, "/early");
  f.Collected(500 * kOneMs);
  f.Start(600 * kOneMs, {1}, "/items/17");
  f.Stop(620 * kOneMs, {1});
  for (int64_t s = 1; s <= 8; ++s) f.Allocate(s * kOneSecond, {});
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded), Sums{});
  f.Template(9 * kOneSecond, "/items/{id}");
  f.Collected(9 * kOneSecond);
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /items/{id}", {1, 20 * kOneMs, 1}}}));
}

// The runtime reads its series one after the other while requests end: what of them it counts
// already is not known.
TEST(RequestFold, WhatEndsWhileValuesAreToldMayBeInTheNextInterval) {
  const std::string kConventional = "{controller=Home}/{action=Index}/{id?}";
  RequestFeeder f;
  f.Start(0, {1}, "/home/big/1");
  f.Stop(10 * kOneMs, {1});
  f.Start(500 * kOneMs, {2}, "/home/big/2");
  f.Start(500 * kOneMs, {3}, "/nowhere");
  f.Collecting(kOneSecond);
  f.Template(kOneSecond + kOneMs, kConventional);
  f.Template(kOneSecond + kOneMs, "", 1, "GET", 404);
  f.Stop(kOneSecond + 2 * kOneMs, {2});
  f.Stop(kOneSecond + 3 * kOneMs, {3});
  f.Collected(kOneSecond + 5 * kOneMs);
  f.fold().requests().Advance(kOneSecond + 600 * kOneMs);
  f.Collecting(2 * kOneSecond);
  f.Template(2 * kOneSecond + kOneMs, kConventional);
  f.Collected(2 * kOneSecond + 2 * kOneMs);
  f.Finish();
  EXPECT_EQ(
      f.By(Source::kRequest, RequestPart::kEnded),
      (Sums{{"GET /" + kConventional, {2, 512 * kOneMs, 2}}, {"GET (404)", {1, 503 * kOneMs, 1}}}));
}

TEST(RequestFold, WithoutAHistogramPathsStandInForTemplates) {
  RequestFeeder f(/*expects_templates=*/false);
  for (uint32_t i = 1; i <= 50; ++i) {
    f.Start(i * kOneMs, {i}, "/items/" + std::to_string(1000 + i));
    f.Stop(i * kOneMs + 1000, {i});
  }
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /items/{}", {50, 50'000, 50}}}));
}

TEST(RequestFold, APathThatWasKeptHasTheNameOfATemplateThatCameLater) {
  RequestFeeder f;
  f.Start(0, {1}, "/items/17");
  f.Stop(20 * kOneMs, {1});
  for (int64_t s = 1; s <= 6; ++s) f.Allocate(s * kOneSecond, {});  // nothing tells templates
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded).size(), 1u);
  EXPECT_EQ(f.tables().requests.routes[0].kind, profile::RouteKind::kPath);
  f.Template(7 * kOneSecond, "/items/{id}", 5);
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /items/{id}", {1, 20 * kOneMs, 1}}}));
}

TEST(RequestFold, WhatABaseIsFollowsFromTheRuntimesCounts) {
  // "/base/products/5" fits the conventional route as well: only the counts tell.
  for (const bool is_base : {true, false}) {
    RequestFeeder f;
    uint32_t n = 0;
    const std::string conventional = "{controller=Home}/{action=Index}/{id?}";
    constexpr int kIntervals = 20;
    for (int i = 0; i < kIntervals; ++i) {
      const int64_t from = i * kOneSecond;
      for (const char* path : {"/products/7", "/base/products/5", "/home/about/3", "/"}) {
        ++n;
        f.Start(from + n, {n}, path);
        f.Stop(from + n + 1'000, {n});
      }
      f.Template(from + kOneSecond - 10, "/products/{id}", is_base ? 2 : 1);
      f.Template(from + kOneSecond - 10, conventional, is_base ? 2 : 3);
      f.Collected(from + kOneSecond - 5);
      f.fold().requests().Advance(from + kOneSecond + 600 * kOneMs);
    }
    f.Finish();
    const Sums ended = f.By(Source::kRequest, RequestPart::kEnded);
    const uint64_t products = ended.at("GET /products/{id}").samples;
    const uint64_t others = ended.at("GET /" + conventional).samples;
    EXPECT_EQ(products + others, 4u * kIntervals);
    if (is_base)
      EXPECT_GE(products, 2u * kIntervals - 4) << "it takes some values to know";
    else
      EXPECT_LE(products, 1u * kIntervals + 4);
  }
}

TEST(RequestFold, RequestsWithoutARouteAreToldByTheirStatus) {
  RequestFeeder f;
  f.Start(0, {1}, "/nowhere/1");
  f.Start(0, {2}, "/nowhere/else");
  f.Start(0, {3}, "/a", "POST");
  f.Stop(10 * kOneMs, {1});
  f.Stop(10 * kOneMs, {2});
  f.Stop(10 * kOneMs, {3});
  f.Template(500 * kOneMs, "", 2, "GET", 404);
  f.Template(500 * kOneMs, "/a", 1, "GET", 200);
  f.Template(500 * kOneMs, "", 1, "POST", 405);
  f.Collected(500 * kOneMs);
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET (404)", {2, 20 * kOneMs, 2}}, {"POST (405)", {1, 10 * kOneMs, 1}}}));
}

TEST(RequestFold, LongPathsFitTheirWholeTemplate) {
  RequestFeeder f;
  f.Template(1, "/files/{*rest}");
  f.Template(1, "/items/{id}");
  f.Template(1, "/items/{id}/details");
  const std::string id(500, 'x');
  f.Start(10 * kOneMs, {1}, "/items/" + id + "/details");
  f.Start(10 * kOneMs, {2}, "/items/" + id);
  f.Start(10 * kOneMs, {3}, "/files/" + std::string(60'000, 'y'));
  for (uint32_t n = 1; n <= 3; ++n) f.Stop(20 * kOneMs, {n});
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /items/{id}/details", {1, 10 * kOneMs, 1}},
                  {"GET /items/{id}", {1, 10 * kOneMs, 1}},
                  {"GET /files/{*rest}", {1, 10 * kOneMs, 1}}}));
  for (const profile::SlowRequest& r : f.tables().requests.slowest) EXPECT_LE(r.path.size(), 120u);
}

// Whether it is UTF-8: nothing but that can be written as JSON.
bool IsUtf8(std::string_view text) {
  const std::u16string wide = ToUtf16(text);
  std::string again;
  AppendUtf8(again, {reinterpret_cast<const std::byte*>(wide.data()), wide.size()});
  return again == text;
}

TEST(RequestFold, HostileNamesStayText) {
  RequestFeeder f(/*expects_templates=*/false);
  // A character of two bytes lies across the place where paths are cut.
  std::string path = "/";
  while (path.size() < 119) path += 'a';
  path += "\u00e9\u00e9";
  f.Start(0, {1}, path);
  f.Start(0, {2}, "/\x01\x1b[31m\x7f\n\r\t");
  f.Start(0, {3}, "");
  f.Start(0, {4}, "////////////////");
  f.Start(0, {5}, std::string(60'000, '\x02'), std::string(5'000, 'G'));
  const std::string lone =
      ByteWriter().Z16("GET").U16('/').U16(0xD800).U16('x').U16(0xDC00).U16(0xD801).U16(0).Take();
  f.Event(EventTag::kRequestStart, 0, 0, lone, TestId{6});
  for (uint32_t n = 1; n <= 6; ++n) {
    f.Allocate(kOneMs, TestId{n});
    f.Stop(2 * kOneMs, {n});
  }
  f.Finish();
  EXPECT_EQ(f.Total(Source::kSampled), (Sum{6, 192, 0}));
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kEnded), (Sum{6, 12 * kOneMs, 6}));
  for (const auto& [name, sum] : f.By(Source::kRequest)) {
    EXPECT_TRUE(IsUtf8(name)) << name;
    EXPECT_TRUE(std::none_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 32 || c == 127;
    })) << name;
    EXPECT_LT(name.size(), 200u);
  }
  for (const profile::SlowRequest& r : f.tables().requests.slowest) {
    EXPECT_TRUE(IsUtf8(r.path)) << r.path;
    EXPECT_LE(r.path.size(), 120u);
  }
  EXPECT_TRUE(f.By(Source::kRequest).contains("_OTHER /{}"));
}

TEST(RequestFold, ThatNothingWasEverCountedIsKnownInTheNextRecording) {
  RequestFeeder f;
  f.fold().requests().Shift(kOneMs);
  EXPECT_EQ(f.fold().requests().collected_to_ns(), 0);
}

TEST(RequestFold, DamagedPayloadsAreCountedAndLoseNothingElse) {
  RequestFeeder f;
  f.Event(EventTag::kRequestStart, 0, 0, "x", TestId{1});
  f.Event(EventTag::kRequestStart, 0, 0, "", TestId{1});
  EXPECT_EQ(f.lost(Loss::kUnsupportedVersion), 2u);
  f.Event(EventTag::kRequestStart, 0, 0, ByteWriter().Z16("GET").Z16("/a").Take());  // no id
  f.Event(EventTag::kRequestStop, 0, 0, "");
  f.Event(EventTag::kHistogramValue, 2, 0, "x");
  f.Event(EventTag::kHistogramValue, 1, 0, std::string(300, '\x7f'));
  f.Event(EventTag::kMetricsSharingError, 0, 0, "x");
  EXPECT_EQ(f.fold().requests().TakeRefused(), "?");
  EXPECT_EQ(f.fold().requests().TakeRefused(), "");
  f.Allocate(kOneMs, TestId{1});
  f.Stop(2 * kOneMs, {1});
  EXPECT_EQ(f.lost(Loss::kRequestsBefore), 1u);
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"-", {1, 32, 0}}}));
  EXPECT_EQ(f.Total(Source::kRequest), Sum{});
}

TEST(RequestFold, AValueWithoutRequestsIsKept) {
  RequestFeeder f;
  FoldOptions none;  // a trace of another tool: nothing was asked for
  CheckedSlices sink;
  profile::Recording recording;
  profile::ProcessTables tables;
  ProcessFold fold(&recording.strings, &tables, 0, &sink, none);
  clr::EventKind kind;
  kind.tag = EventTag::kHistogramValue;
  kind.version = 1;
  const std::string payload = ByteWriter()
                                  .Z16("s1")
                                  .Z16("Microsoft.AspNetCore.Hosting")
                                  .Z16("")
                                  .Z16("http.server.request.duration")
                                  .Z16("s")
                                  .Z16(RequestFeeder::Tags("/a"))
                                  .Z16("")
                                  .Put(int32_t{12})
                                  .F64(3.5)
                                  .Take();
  clr::RawEvent e;
  e.kind = &kind;
  e.time_ns = 5 * kOneMs;
  e.payload = AsBytes(payload.data(), payload.size());
  fold.OnEvent(e);
  fold.Finish();
  ASSERT_EQ(sink.slices.size(), 1u);
  ASSERT_EQ(sink.slices[0].rows.size(), 1u);
  EXPECT_EQ(sink.slices[0].rows[0].sums.stands_for, 12u);
}

TEST(RequestFold, TheSameIdAgainEndsTheOneBefore) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Template(1, "/b");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Allocate(11 * kOneMs, TestId{1});
  f.Start(20 * kOneMs, {1}, "/b");  // the stop was lost
  f.Allocate(21 * kOneMs, TestId{1});
  f.Stop(30 * kOneMs, {1});
  f.Stop(31 * kOneMs, {1});  // twice
  f.Start(40 * kOneMs, {1}, "/a");
  f.Stop(50 * kOneMs, {1});
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"GET /a", {1, 32, 0}}, {"GET /b", {1, 32, 0}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /a", {1, 10 * kOneMs, 1}}, {"GET /b", {1, 10 * kOneMs, 1}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kUnended), (Sums{{"GET /a", {1, 10 * kOneMs, 1}}}));
}

TEST(RequestFold, MoreRequestsAtOnceThanAreFollowedAreCounted) {
  RequestFeeder f;
  f.Template(1, "/a");
  constexpr uint32_t kMore = 500, kAll = RequestFold::kMostRequests + kMore;
  for (uint32_t n = 1; n <= kAll; ++n) f.Start(kOneMs + n, {n}, "/a");
  EXPECT_EQ(f.lost(Loss::kRequestsCapped), kMore);
  f.Allocate(2 * kOneMs, TestId{1});  // of one that made room
  f.Allocate(2 * kOneMs, TestId{kAll});
  for (uint32_t n = 1; n <= kAll; ++n) f.Stop(3 * kOneMs, {n});
  f.Finish();
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kEnded).stands_for, kAll - kMore);
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kUnended).stands_for, kMore);
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"GET /a", {1, 32, 0}}, {"-", {1, 32, 0}}}));
}

TEST(RequestFold, EndedOnesThatMakeRoomAreNotLost) {
  RequestFeeder f;
  f.Template(1, "/a");
  constexpr uint32_t kAll = RequestFold::kMostRequests + 5'000;
  for (uint32_t n = 1; n <= kAll; ++n) {
    f.Start(kOneMs + n, {n}, "/a");
    f.Stop(kOneMs + n, {n});
  }
  f.Finish();
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kEnded).stands_for, kAll);
  EXPECT_EQ(f.lost(Loss::kRequestsCapped), 0u);
}

TEST(RequestFold, PathsWithoutEndAreBoundedAndCounted) {
  RequestFeeder f(/*expects_templates=*/false);
  constexpr uint32_t kAll = 200'000;      // a million takes no more room, but time
  f.Start(0, {kAll + 1}, "/never/ends");  // begins first, and all others queue up behind it
  for (uint32_t n = 1; n <= kAll; ++n) {
    std::string path = "/";
    for (uint32_t v = n, i = 0; i < 6; ++i, v /= 26) path += static_cast<char>('a' + v % 26);
    f.Start(n * int64_t{20'000}, {n}, path);
    f.Stop(n * int64_t{20'000} + 5'000, {n});
  }
  f.Finish();
  EXPECT_EQ(f.Total(Source::kRequest, RequestPart::kEnded), (Sum{kAll, kAll * 5'000ull, kAll}));
  EXPECT_LE(f.tables().requests.routes.size(), RouteBook::kMostPaths + 3);
  EXPECT_EQ(f.lost(Loss::kRoutesCapped), f.By(Source::kRequest)["(other)"].samples);
  EXPECT_GT(f.lost(Loss::kRoutesCapped), kAll - 2 * RouteBook::kMostPaths);
  EXPECT_EQ(f.lost(Loss::kRequestsCapped), 0u);
  EXPECT_LE(f.tables().requests.slowest.size(), profile::RequestTables::kMostSlow);
  // A name, a kind, a number and the longest for each; nothing for each request.
  EXPECT_LT(f.tables().series.keys().size(), 5'000u);
  EXPECT_LT(f.sinks[0]->slices.size(), 100u);
}

TEST(RequestFold, MoreEventsThanWaitKeepTheirRoute) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Start(0, {1}, "/a");
  constexpr uint64_t kAll = RequestFold::kMostEvents + 1'000;
  for (uint64_t i = 0; i < kAll; ++i) f.Allocate(20 * kOneMs, TestId{1});
  f.Stop(70 * kOneMs, {1});
  f.Finish();
  const Sums got = f.By(Source::kSampled, {}, true);
  EXPECT_EQ(got,
            (Sums{{"GET /a 70 ms", {RequestFold::kMostEvents, RequestFold::kMostEvents * 32, 0}},
                  {"GET /a 20 ms", {1'000, 32'000, 0}}}));
  EXPECT_EQ(f.tables().requests.slowest[0].samples, kAll);
}

TEST(RequestFold, EventsOfUnknownIdsAreHandedOutAndBounded) {
  RequestFeeder f;
  constexpr uint64_t kAll = RequestFold::kMostEvents + 1'000;
  for (uint64_t i = 0; i < kAll; ++i) f.Allocate(20 * kOneMs, TestId{static_cast<uint32_t>(i)});
  EXPECT_EQ(f.tables().source_samples[static_cast<size_t>(Source::kSampled)], kAll);
  f.Allocate(3 * kOneSecond, {});  // two seconds are over: they belong to nothing that is known
  EXPECT_EQ(f.Total(Source::kSampled).samples, kAll);
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"-", {kAll + 1, (kAll + 1) * 32, 0}}}));
}

TEST(RequestFold, PausesAreThoseOfTheRequestAndOfWhoAllocated) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Template(1, "/b");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Start(10 * kOneMs, {2}, "/b");
  for (int i = 0; i < 3; ++i) f.Allocate(11 * kOneMs, TestId{1});
  f.Allocate(11 * kOneMs, TestId{2});
  f.Pause(12 * kOneMs, 16 * kOneMs);
  f.Allocate(17 * kOneMs, TestId{1});
  f.Stop(20 * kOneMs, {1});
  f.Start(21 * kOneMs, {3}, "/a");  // after the first pause
  f.Pause(22 * kOneMs, 24 * kOneMs);
  f.Stop(30 * kOneMs, {2});
  f.Stop(30 * kOneMs, {3});
  f.Finish();
  const auto waited = f.By(Source::kRequest, RequestPart::kGcWaited);
  EXPECT_EQ(waited.at("GET /a").amount, static_cast<uint64_t>(6 * kOneMs));
  EXPECT_EQ(waited.at("GET /b").amount, static_cast<uint64_t>(6 * kOneMs));
  const auto caused = f.By(Source::kRequest, RequestPart::kGcCaused);
  EXPECT_NEAR(static_cast<double>(caused.at("GET /a").amount), 5e6, 10);
  EXPECT_NEAR(static_cast<double>(caused.at("GET /b").amount), 1e6, 10);
}

TEST(RequestFold, ARequestGoesOnInTheNextRecording) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Start(10 * kOneMs, {2}, "/a");
  f.Allocate(11 * kOneMs, TestId{1});
  f.Allocate(11 * kOneMs, TestId{9});  // of an id that nothing is known of
  f.Stop(12 * kOneMs, {2});
  f.Pause(13 * kOneMs, 15 * kOneMs);
  f.Allocate(900 * kOneMs, {});
  f.Rotate(kOneSecond);
  f.Allocate(100 * kOneMs, TestId{1});
  f.Stop(200 * kOneMs, {1});
  f.Start(300 * kOneMs, {3}, "/a");
  f.Stop(310 * kOneMs, {3});
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled, {}, true, 0),
            (Sums{{"GET /a 700 ms", {1, 32, 0}}, {"-", {2, 64, 0}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded, false, 0),
            (Sums{{"GET /a", {1, 2 * kOneMs, 1}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kUnended, false, 0), Sums{});
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"GET /a", {1, 32, 0}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded),
            (Sums{{"GET /a", {2, (1190 + 10) * kOneMs, 2}}}));
  // The whole of its pauses, and what it allocated in all.
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kGcWaited), (Sums{{"GET /a", {1, 2 * kOneMs, 0}}}));
  const auto& slowest = f.tables().requests.slowest;
  ASSERT_EQ(slowest.size(), 2u);
  const auto& longest = slowest[0].duration_ns > slowest[1].duration_ns ? slowest[0] : slowest[1];
  EXPECT_EQ(longest.start_ns, 10 * kOneMs - kOneSecond);
  EXPECT_EQ(longest.samples, 2u);
  EXPECT_EQ(f.all_lost(), 0u);
}

// The recording that follows has other numbers for its routes.
TEST(RequestFold, WhatIsReadInTheNextRecordingHasNoOtherRequestsRoute) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Template(1, "/b");
  f.Start(10 * kOneMs, {1}, "/a");
  f.Stop(900 * kOneMs, {1});
  f.Allocate(910 * kOneMs, {});
  f.Rotate(kOneSecond);
  f.Start(-50 * kOneMs, {2}, "/b");
  f.Stop(50 * kOneMs, {2});
  f.Allocate(60 * kOneMs, {});
  f.fold().requests().Advance(kOneSecond);
  f.Allocate(-101 * kOneMs, TestId{1});
  f.Allocate(0, TestId{2});
  f.Finish();
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"-", {2, 64, 0}}, {"GET /b", {1, 32, 0}}}));
}

TEST(RequestFold, ItsRowsBecomeFigures) {
  RequestFeeder f;
  f.Start(10 * kOneMs, {1}, "/items/17");
  f.Start(10 * kOneMs, {2}, "/items/18");
  f.Start(10 * kOneMs, {3}, "/items/19");
  f.Allocate(12 * kOneMs, TestId{1}, 5);
  f.Allocate(12 * kOneMs, TestId{2}, 5);
  f.Allocate(12 * kOneMs, {}, 5);
  f.Throw(13 * kOneMs, TestId{1});
  f.WaitForLock(14 * kOneMs, kOneMs, TestId{2});
  f.Pause(20 * kOneMs, 26 * kOneMs);
  f.Stop(40 * kOneMs, {1});
  f.Allocate(41 * kOneMs, TestId{1}, 5);
  f.Stop(110 * kOneMs, {2});
  f.Template(900 * kOneMs, "/items/{id}", 1);
  f.Template(900 * kOneMs, "/items/{id}", 1, "GET", 500);
  f.Collected(900 * kOneMs);
  f.Finish();
  Aggregate aggregate(f.recordings[0].get(), {}, {.requests = true});
  for (const profile::Slice& s : f.sinks[0]->slices) aggregate.Add(s);
  const profile::Profile p = Bind(*f.recordings[0], aggregate);
  using profile::Measure;
  const profile::Figure* requests = p.Find(Measure::kRequests);
  ASSERT_NE(requests, nullptr);
  EXPECT_EQ(requests->Total().count, 2);
  EXPECT_EQ(requests->Total().amount, 130e6);
  const auto durations = profile::DurationsByRoute(p);
  ASSERT_EQ(durations.size(), 1u);
  EXPECT_NEAR(durations.begin()->second.At(0.5), 30e6, 30e6 * 0.034);
  EXPECT_NEAR(durations.begin()->second.At(1), 100e6, 100e6 * 0.034);
  std::map<std::string, double> samples, thrown, waited;
  const auto add = [&](Measure m, std::map<std::string, double>& to) {
    for (const profile::Cell& c : p.Find(m)->cells)
      to[std::string(p.RequestName(p.labels[c.labels]))] +=
          m == Measure::kAllocations ? static_cast<double>(c.value.samples)
          : m == Measure::kLocks     ? c.value.amount
                                     : c.value.count;
  };
  add(Measure::kAllocations, samples);
  add(Measure::kExceptions, thrown);
  add(Measure::kLocks, waited);
  EXPECT_EQ(samples,
            (std::map<std::string, double>{
                {"GET /items/{id}", 2}, {"(no request)", 1}, {"(after the response)", 1}}));
  EXPECT_EQ(thrown, (std::map<std::string, double>{{"GET /items/{id}", 1}}));
  EXPECT_EQ(waited, (std::map<std::string, double>{{"GET /items/{id}", 1e6}}));
  const auto facts =
      std::find_if(p.requests.routes.begin(), p.requests.routes.end(),
                   [&](const auto& r) { return p.str(r.route) == "GET /items/{id}"; });
  ASSERT_NE(facts, p.requests.routes.end());
  EXPECT_EQ(facts->counted, 2);
  EXPECT_EQ(facts->failed, 1);
  EXPECT_EQ(facts->statuses, (std::map<uint32_t, double>{{200, 1.0}, {500, 1.0}}));
  EXPECT_EQ(facts->unended, 1);
  EXPECT_EQ(facts->gc_waited_ns, 18e6);
  EXPECT_NEAR(facts->gc_caused_ns, 4e6, 10);  // one of three samples is of no request
  EXPECT_EQ(facts->max_ns, 100 * kOneMs);
  ASSERT_EQ(p.requests.slowest.size(), 3u);
  EXPECT_EQ(p.str(p.requests.slowest[0].path), "/items/19");
  EXPECT_FALSE(p.requests.slowest[0].finished);
  EXPECT_EQ(p.str(p.requests.slowest[1].path), "/items/18");
}

TEST(RequestFold, AStopMayBeReadAfterTheRecordingChanged) {
  RequestFeeder f;
  f.Template(1, "/a");
  f.Start(900 * kOneMs, {1}, "/a");
  f.Allocate(950 * kOneMs, TestId{1});
  f.Rotate(kOneSecond);
  f.Stop(-10 * kOneMs, {1});  // its session was read last
  f.Allocate(5 * kOneMs, TestId{1});
  f.Finish();
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kEnded), (Sums{{"GET /a", {1, 90 * kOneMs, 1}}}));
  EXPECT_EQ(f.By(Source::kRequest, RequestPart::kUnended), Sums{});
  EXPECT_EQ(f.By(Source::kSampled), (Sums{{"(after the response)", {1, 32, 0}}}));
}

// Requests come and go, their events come early and late, sessions and recordings change: each
// event is in one row, with its own request's route.
TEST(RequestFold, NothingIsLostAndNothingIsCountedTwice) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    SCOPED_TRACE(seed);
    auto random = [engine = std::mt19937(seed)]() mutable {
      return static_cast<uint32_t>(engine());
    };
    RequestFeeder f;
    constexpr size_t kRoutes = 7;
    for (size_t r = 0; r < kRoutes; ++r) f.Template(1, "/r" + std::to_string(r) + "/{id}", 0);
    for (size_t r = 0; r < kRoutes; ++r) f.Template(1, "/r" + std::to_string(r) + "/{id}", 1);
    struct Fed {
      int64_t time;
      int what;  // 0 start, 1 stop, 2 allocation, 3 exception, 4 wait
      TestId id;
      std::string path;
    };
    std::vector<Fed> fed;
    std::map<std::string, uint64_t> requests, samples, thrown, waits;
    uint64_t late_samples = 0;
    constexpr int64_t kEnd = 30 * kOneSecond;
    for (uint32_t n = 1; n <= 3'000; ++n) {
      const int64_t start =
          kOneSecond + static_cast<int64_t>(random() % 25) * kOneSecond + random() % kOneSecond;
      int64_t took = static_cast<int64_t>(std::pow(10.0, 4 + random() % 5000 / 1000.0));
      took = std::min(took, kEnd - start - kOneSecond);
      const std::string route = "r" + std::to_string(random() % kRoutes);
      const std::string name = "GET /" + route + "/{id}";
      fed.push_back({start, 0, {n}, "/" + route + "/" + std::to_string(n)});
      fed.push_back({start + took, 1, {n}, {}});
      ++requests[name];
      for (uint32_t i = random() % 6; i > 0; --i) {
        const int64_t at = start + static_cast<int64_t>(random()) % (took + 1);
        // Up to 50 ms too early or too late for what was decoded before.
        const TestId id{n, random() % 2 == 0
                               ? std::vector<unsigned>{}
                               : std::vector<unsigned>{1 + static_cast<unsigned>(random() % 10)}};
        const int what = 2 + static_cast<int>(random() % 3);
        fed.push_back({at, what, id, {}});
        ++(what == 2 ? samples : what == 3 ? thrown : waits)[name];
      }
      if (random() % 10 == 0) {
        fed.push_back(
            {start + took + 1 + static_cast<int64_t>(random() % (100 * kOneMs)), 2, {n}, {}});
        ++late_samples;
      }
    }
    // The order in which they are decoded: each kind in order of time, kinds up to 150 ms apart.
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < fed.size(); ++i) {
      const int64_t block = 150 * kOneMs;
      const int64_t key = fed[i].what <= 1 ? fed[i].time / block * 2 : fed[i].time / block * 2 + 1;
      order.emplace_back(seed % 2 == 0 ? key : key ^ 1, i);
    }
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      return std::tuple(a.first, fed[a.second].time, fed[a.second].what == 1, a.second) <
             std::tuple(b.first, fed[b.second].time, fed[b.second].what == 1, b.second);
    });
    int64_t shift = 0;
    std::vector<int64_t> rotations = {9 * kOneSecond, 17 * kOneSecond};
    for (const auto& [key, i] : order) {
      const Fed& e = fed[i];
      if (seed > 2 && !rotations.empty() && e.time >= rotations.front()) {
        f.Rotate(rotations.front() - shift);
        shift = rotations.front();
        rotations.erase(rotations.begin());
      }
      const int64_t t = e.time - shift;
      const uint64_t thread = 1 + i;  // waits do not nest
      switch (e.what) {
        case 0:
          f.Start(t, e.id, e.path);
          break;
        case 1:
          f.Stop(t, e.id);
          break;
        case 2:
          f.Allocate(t, e.id, thread % 17);
          break;
        case 3:
          f.Throw(t, e.id, thread % 17);
          break;
        default:
          f.WaitForLock(t, 10, e.id, thread);
      }
    }
    f.Finish();
    std::map<std::string, uint64_t> got[4];
    for (size_t r = 0; r < f.recordings.size(); ++r) {
      for (const auto& [name, s] : f.By(Source::kSampled, {}, false, r)) got[0][name] += s.samples;
      for (const auto& [name, s] : f.By(Source::kException, {}, false, r))
        got[1][name] += s.samples;
      for (const auto& [name, s] : f.By(Source::kContention, {}, false, r))
        got[2][name] += s.samples;
      for (const auto& [name, s] : f.By(Source::kRequest, RequestPart::kEnded, false, r))
        got[3][name] += s.stands_for;
    }
    EXPECT_EQ(got[3], requests);
    const auto sum = [](const auto& m) {
      uint64_t n = 0;
      for (const auto& [name, count] : m) n += count;
      return n;
    };
    EXPECT_EQ(sum(got[0]), sum(samples) + late_samples);
    EXPECT_EQ(sum(got[1]), sum(thrown));
    EXPECT_EQ(sum(got[2]), sum(waits));
    if (seed > 2) continue;  // a rotation may part an event from its request
    EXPECT_EQ(got[0]["(after the response)"], late_samples);
    got[0].erase("(after the response)");
    EXPECT_EQ(got[0], samples);
    EXPECT_EQ(got[1], thrown);
    EXPECT_EQ(got[2], waits);
  }
}

}  // namespace
}  // namespace clrscope::analysis
