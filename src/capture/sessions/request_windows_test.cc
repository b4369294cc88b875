// SPDX-License-Identifier: Apache-2.0
// Requests in windows of time: which of them are followed, what becomes of the others, and the
// estimator against simulated servers whose requests are known. Here, as src/analysis may not use
// the payload builders of src/nettrace/testing.
//
// Tolerances. As in profile/estimate/sampling_simulator_test.cc: 0.93 where 0.95 is promised, for
// routes with ten requests or more in the windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/families/requests/recent_rate.h"
#include "capture/sessions/task_watch.h"
#include "capture/testing/request_simulator.h"
#include "profile/views/filter.h"

namespace clrscope::capture {
namespace {

using profile::LabelKey;
using profile::Profile;
using profile::RequestCost;
using profile::RequestPart;
using testing::RequestEvents;
using testing::RequestSimulator;
using testing::SimulatedServer;
using testing::TestId;

constexpr int64_t kWindowMs = 1'000'000, kWindowSecond = 1'000'000'000;
constexpr uint64_t kObjectBytes = 102'400;

// A process whose requests are followed in windows, from its beginning on.
class Windows : public RequestEvents {
 public:
  Windows() {
    recording_.processes.push_back(std::make_unique<profile::ProcessTables>());
    tables().info.Record(profile::Measure::kAllocations);
    tables().info.Record(profile::Measure::kExceptions);
    tables().info.Record(profile::Measure::kRequests);
    analysis::FoldOptions options;
    options.requests = true;
    both_.sinks = {&by_request_, &plain_};
    fold_ =
        std::make_unique<analysis::ProcessFold>(&recording_.strings, &tables(), 0, &both_, options);
    Feed(fold_.get());
    requests().ExpectTemplates();
  }
  profile::ProcessTables& tables() { return *recording_.processes[0]; }
  analysis::RequestFold& requests() { return fold_->requests(); }
  void Finish() {
    fold_->Finish();
    recording_.end_ns = 60 * kWindowSecond;
  }
  Profile ByRequest() { return analysis::Bind(recording_, by_request_); }
  Profile Plain() { return analysis::Bind(recording_, plain_); }
  std::map<std::string, RequestCost> Costs(const Profile& p) {
    std::map<std::string, RequestCost> out;
    for (const RequestCost& c : profile::RequestCosts(p)) out.emplace(c.route, c);
    return out;
  }
  // A request of one sample in the middle, from `at` on.
  void Request(uint32_t n, int64_t at, int64_t length, const std::string& path) {
    Start(at, {n}, path);
    Sample(at + length / 2, TestId{n}, kObjectBytes);
    Stop(at + length, {n});
  }

 private:
  struct Both final : profile::SliceSink {
    std::vector<analysis::Aggregate*> sinks;
    void OnSlice(profile::Slice&& s) override {
      for (analysis::Aggregate* a : sinks) a->Add(s);
    }
  };
  profile::Recording recording_;
  analysis::Aggregate by_request_{&recording_, {}, {.requests = true}}, plain_{&recording_};
  Both both_;
  std::unique_ptr<analysis::ProcessFold> fold_;
};

TEST(RequestWindows, OneRequestStandsForThoseThatNobodyFollowed) {
  Windows w;
  w.requests().BeginWindows(0);
  uint32_t n = 0;
  for (int64_t s = 0; s < 10; ++s) {
    w.requests().OpenWindow(static_cast<uint64_t>(s) + 1);
    const int64_t at = s * kWindowSecond + 300 * kWindowMs;
    for (int64_t i = 0; i < 5; ++i) w.Request(++n, at + i * kWindowMs, kWindowMs / 2, "/a/1");
    w.requests().CloseWindow(at + 100 * kWindowMs, false);
    // Nobody follows these.
    for (int i = 0; i < 45; ++i) w.Sample(at + 200 * kWindowMs + i, {}, kObjectBytes);
    w.Template((s + 1) * kWindowSecond, "/a/{id}", 50);
    w.Collected((s + 1) * kWindowSecond);
    w.requests().Advance((s + 1) * kWindowSecond);
  }
  w.Finish();
  const Profile p = w.ByRequest();
  auto costs = w.Costs(p);
  const RequestCost& a = costs.at("GET /a/{id}");
  EXPECT_EQ(a.count, 500);
  EXPECT_EQ(a.facts.watched, 50);
  EXPECT_EQ(a.facts.beyond_windows, 0);
  EXPECT_EQ(a.allocated.samples, 50u);
  const double one = profile::EstimateSampled(1, static_cast<double>(kObjectBytes)).amount;
  EXPECT_NEAR(a.allocated.amount, 500 * one, 1);
  EXPECT_FALSE(costs.contains("(no request)")) << "nothing is left";
  EXPECT_NEAR(p.requests.windows.count, 10, 0);
  // Without requests each sample is what it is.
  EXPECT_EQ(w.Plain().shown().Total().samples, 500u);
  EXPECT_NEAR(w.Plain().shown().Total().amount, 500 * one, 1);
}

TEST(RequestWindows, WhatIsLeftBelongsToNoRequestAndSumsStay) {
  Windows w;
  w.requests().BeginWindows(0);
  for (int64_t s = 0; s < 16; ++s) {
    const int64_t at = s * kWindowSecond;
    w.requests().OpenWindow(static_cast<uint64_t>(s) + 1);
    for (uint32_t i = 0; i < 4; ++i)
      w.Request(static_cast<uint32_t>(s) * 4 + i + 1, at + i * kWindowMs, kWindowMs / 2, "/a");
    w.requests().CloseWindow(at + 100 * kWindowMs, false);
    for (int i = 0; i < 12 + 24; ++i) w.Sample(at + 500 * kWindowMs + i, {}, kObjectBytes);
    w.Template(at + kWindowSecond, "/a", 16);
    w.Collected(at + kWindowSecond);
    w.requests().Advance(at + kWindowSecond);
  }
  w.Finish();
  const Profile p = w.ByRequest();
  auto costs = w.Costs(p);
  const double one = profile::EstimateSampled(1, static_cast<double>(kObjectBytes)).amount;
  EXPECT_NEAR(costs.at("GET /a").allocated.amount, 16 * 16 * one, 1);
  EXPECT_NEAR(costs.at("(no request)").allocated.amount, 16 * 24 * one, 1);
  EXPECT_NEAR(p.shown().Total().amount, w.Plain().shown().Total().amount, 1);
  // Everything is steady: the error is what samples that come by themselves have.
  const profile::Bounds b = profile::AmountBounds(p, costs.at("GET /a").allocated);
  ASSERT_TRUE(b.low && b.high);
  EXPECT_NEAR(*b.high - *b.low, 2 * 1.96 * 16 * 16 * one / std::sqrt(64.0), 0.2 * 16 * 16 * one);
}

TEST(RequestWindows, OnlyWhatBeganInTheWindowCounts) {
  Windows w;
  w.requests().BeginWindows(0);
  w.requests().OpenWindow(1);
  w.Start(10 * kWindowMs, {1}, "/a");
  w.Sample(20 * kWindowMs, TestId{1}, kObjectBytes);
  w.Stop(25 * kWindowMs, {99});  // it had begun before
  w.requests().CloseWindow(50 * kWindowMs, false);
  w.Sample(60 * kWindowMs, TestId{1}, kObjectBytes);  // of the window before, no longer
  w.Throw(1'060 * kWindowMs, TestId{1});              // … and in the next one, endless work
  w.Start(1'010 * kWindowMs, {2}, "/a");              // no window is open
  w.requests().OpenWindow(2);
  w.Start(1'050 * kWindowMs, {3}, "/a");
  w.Throw(1'060 * kWindowMs, TestId{3});
  w.Stop(1'070 * kWindowMs, {3});
  w.requests().CloseWindow(1'100 * kWindowMs, false);
  w.Start(1'120 * kWindowMs, {4}, "/a");
  w.Template(2 * kWindowSecond, "/a", 2);
  w.Collected(2 * kWindowSecond);
  w.Finish();
  const Profile p = w.ByRequest();
  auto costs = w.Costs(p);
  const RequestCost& a = costs.at("GET /a");
  EXPECT_EQ(a.facts.watched, 2);
  EXPECT_EQ(a.allocated.samples, 1u) << "20 ms";
  EXPECT_NEAR(a.exceptions, 1, 1e-6);
  EXPECT_NEAR(costs.at("(no request)").exceptions, 1, 1e-6);
  EXPECT_EQ(w.tables().losses[Loss::kRequestsBefore], 0u) << "that is what windows do";
  EXPECT_EQ(p.requests.slowest.size(), 1u) << "the one that was seen to end";
}

TEST(RequestWindows, WhatAWindowMissedCountsNothing) {
  Windows w;
  w.requests().BeginWindows(0);
  for (const bool failed : {true, false}) {
    w.requests().OpenWindow(failed ? 1 : 2);
    w.Request(failed ? 1 : 2, failed ? 10 * kWindowMs : kWindowSecond, kWindowMs, "/a");
    w.requests().CloseWindow(failed ? 50 * kWindowMs : kWindowSecond + 50 * kWindowMs, failed);
  }
  w.requests().OpenWindow(3);  // it is open when the recording ends
  w.Start(1'800 * kWindowMs, {3}, "/a");
  w.Template(2 * kWindowSecond, "/a", 10);
  w.Collected(2 * kWindowSecond);
  w.Finish();
  const Profile p = w.ByRequest();
  EXPECT_EQ(w.Costs(p).at("GET /a").facts.watched, 1);
  EXPECT_EQ(p.requests.windows.count, 1);
}

TEST(RequestWindows, RequestsThatOutlastWindowsAreSaidToBe) {
  Windows w;
  w.requests().BeginWindows(0);
  uint32_t n = 0;
  for (int64_t s = 0; s < 30; ++s) {
    w.requests().OpenWindow(static_cast<uint64_t>(s) % 16 + 1);
    const int64_t at = s * kWindowSecond;
    for (int64_t i = 0; i < 10; ++i) {
      w.Start(at + i * kWindowMs, {++n}, "/long");
      w.Sample(at + i * kWindowMs + kWindowMs / 2, TestId{n}, kObjectBytes);
      if (i % 2 == 0) w.Stop(at + i * kWindowMs + kWindowMs, {n});
    }
    w.requests().CloseWindow(at + 100 * kWindowMs, false);
    w.Template(at + kWindowSecond, "/long", 100);
    w.Collected(at + kWindowSecond);
    w.requests().Advance(at + kWindowSecond);
  }
  w.Finish();
  const Profile p = w.ByRequest();
  const RequestCost c = w.Costs(p).at("GET /long");
  EXPECT_NEAR(c.facts.beyond_windows, 0.5, 0.05);
  EXPECT_EQ(c.count, 3'000);
  EXPECT_GT(c.durations.At(0.4), 0);
  EXPECT_EQ(c.durations.At(0.95), 0) << "nobody knows";
}

TEST(RequestWindows, WithoutAHistogramTheTimeTellsHowManyThereWere) {
  Windows w;
  w.requests().BeginWindows(0);
  for (uint32_t s = 0; s < 10; ++s) {
    w.requests().OpenWindow(s + 1);
    const int64_t at = s * kWindowSecond + 900 * kWindowMs;
    for (uint32_t i = 0; i < 10; ++i)
      w.Request(s * 10 + i + 1, at + i * 10 * kWindowMs, kWindowMs, "/a");
    w.requests().CloseWindow(at + 100 * kWindowMs, false);
  }
  w.Finish();
  const Profile p = w.ByRequest();
  // 100 in 1 s of 10 s.
  double requests = 0;
  for (const auto& [name, c] : w.Costs(p)) requests += c.count;
  EXPECT_NEAR(requests, 1'000, 1);
}

TEST(RequestWindows, RequestsOfAllTheTimeAndOfWindowsAddUp) {
  Windows w;
  uint32_t n = 0;
  for (int i = 0; i < 100; ++i) w.Request(++n, i * 5 * kWindowMs, kWindowMs, "/a");
  w.Start(600 * kWindowMs, {++n}, "/a");  // goes on
  w.Template(kWindowSecond, "/a", 100);
  w.Collected(kWindowSecond);
  w.requests().BeginWindows(kWindowSecond);
  for (uint32_t s = 1; s < 9; ++s) {
    w.requests().OpenWindow(s);
    const int64_t at = s * kWindowSecond + 10 * kWindowMs;
    for (int i = 0; i < 10; ++i) w.Request(++n, at + i * kWindowMs, kWindowMs / 2, "/a");
    w.requests().CloseWindow(at + 100 * kWindowMs, false);
    w.Template((s + 1) * kWindowSecond, "/a", 100);
    w.Collected((s + 1) * kWindowSecond);
    w.requests().Advance((s + 1) * kWindowSecond);
  }
  w.requests().EndWindows();
  for (int i = 0; i < 50; ++i)
    w.Request(++n, 9 * kWindowSecond + i * 5 * kWindowMs, kWindowMs, "/a");
  w.Template(10 * kWindowSecond, "/a", 50);
  w.Collected(10 * kWindowSecond);
  w.Finish();
  const Profile p = w.ByRequest();
  const RequestCost a = w.Costs(p).at("GET /a");
  EXPECT_EQ(a.count, 100 + 800 + 50);
  EXPECT_EQ(a.facts.watched, 80);
  const double one = profile::EstimateSampled(1, static_cast<double>(kObjectBytes)).amount;
  EXPECT_NEAR(a.allocated.amount, 950 * one, 1);
  EXPECT_EQ(a.allocated.samples, 100u + 80 + 50);
}

TEST(RequestWindows, ARecordingThatIsRotatedLosesTheOpenWindowAlone) {
  Windows w;
  w.requests().BeginWindows(0);
  w.requests().OpenWindow(1);
  w.Request(1, 10 * kWindowMs, kWindowMs, "/a");
  w.requests().CloseWindow(50 * kWindowMs, false);
  w.requests().OpenWindow(2);
  w.Start(60 * kWindowMs, {2}, "/a");
  w.requests().Flush(70 * kWindowMs);
  w.Stop(75 * kWindowMs, {2});
  w.requests().CloseWindow(80 * kWindowMs, false);
  w.requests().OpenWindow(3);
  w.Request(3, kWindowSecond, kWindowMs, "/a");
  w.requests().CloseWindow(kWindowSecond + 20 * kWindowMs, false);
  w.Template(2 * kWindowSecond, "/a", 20);
  w.Collected(2 * kWindowSecond);
  w.Finish();
  const Profile p = w.ByRequest();
  double watched = 0;
  for (const auto& [name, c] : w.Costs(p)) watched += c.facts.watched;
  EXPECT_EQ(watched, 2);
  EXPECT_EQ(p.requests.windows.count, 2);
}

TEST(RequestIdle, AllAlongItIsWhatItIs) {
  Windows w;
  w.requests().OpenTasks(0);
  uint32_t n = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t at = kWindowSecond + i * 100 * kWindowMs;
    ++n;
    w.Enqueue(at - 2 * kWindowMs, 1'000 + n);
    w.Dequeue(at - 1, 1'000 + n);
    w.Start(at, {n}, "/a/1");
    w.Await(at + 10 * kWindowMs, at + 40 * kWindowMs, {n}, n);
    w.Stop(at + 50 * kWindowMs, {n});
    // Another route never suspends.
    ++n;
    w.Start(at + 60 * kWindowMs, {n}, "/b");
    w.Stop(at + 70 * kWindowMs, {n});
  }
  w.requests().CloseTasks(6 * kWindowSecond, false);
  // Of this one nobody saw what threads did.
  w.Start(7 * kWindowSecond, {++n}, "/a/1");
  w.Stop(8 * kWindowSecond, {n});
  w.Template(9 * kWindowSecond, "/a/{id}", 41);
  w.Template(9 * kWindowSecond, "/b", 40);
  w.Collected(9 * kWindowSecond);
  w.Finish();
  const Profile p = w.ByRequest();
  auto costs = w.Costs(p);
  const RequestCost& a = costs.at("GET /a/{id}");
  EXPECT_EQ(a.facts.idle.watched(), 40);
  ASSERT_TRUE(a.idle);
  EXPECT_NEAR(a.idle->awaiting_ns, 41 * 30e6, 1) << "which stands for the one that was not seen";
  EXPECT_NEAR(a.idle->queued_ns, 41 * 2e6, 100);
  const RequestCost& b = costs.at("GET /b");
  ASSERT_TRUE(b.idle);
  EXPECT_EQ(b.idle->awaiting_ns, 0);
  EXPECT_FALSE(costs.contains("(no request)"));
  ASSERT_EQ(p.requests.slowest.size(), 81u);
  EXPECT_EQ(p.requests.slowest[0].awaiting_ns, -1) << "it is not known";
  EXPECT_EQ(p.requests.slowest[1].awaiting_ns, 30 * kWindowMs);
  EXPECT_NEAR(static_cast<double>(p.requests.slowest[1].queued_ns), 2e6, 2);
}

TEST(RequestIdle, WindowsSeeLessOfLongAwaitsAndWeighThemMore) {
  Windows w;
  w.requests().BeginWindows(0);
  uint32_t n = 0;
  constexpr int64_t kSeconds = 32, kEach = 20;
  for (int64_t s = 0; s < kSeconds; ++s) {
    const int64_t from = s * kWindowSecond + 300 * kWindowMs, to = from + 100 * kWindowMs;
    w.requests().OpenWindow(static_cast<uint64_t>(s) % 16 + 1);
    // Only every second window has tasks.
    const bool tasks = s % 2 == 0;
    if (tasks) {
      w.requests().OpenTasks(static_cast<uint64_t>(s) % 16 + 1);
      w.Enqueue(from, 7);
    }
    // They begin evenly over the window; each awaits from 10 to 70 ms and ends at 80 ms.
    for (int64_t i = 0; i < kEach; ++i) {
      const int64_t at = from + (2 * i + 1) * 100 * kWindowMs / (2 * kEach);
      ++n;
      w.Start(at, {n}, "/a/1");
      if (tasks && at + 10 * kWindowMs < to) {
        w.Event(clr::EventTag::kTaskWaitBegin, 3, at + 10 * kWindowMs,
                nettrace::testing::ByteWriter().U32(1).U32(0).U32(n).U32(2).U32(0).Take(),
                TestId{n}, n);
        if (at + 70 * kWindowMs < to)
          w.Event(clr::EventTag::kTaskWaitEnd, 0, at + 70 * kWindowMs,
                  nettrace::testing::ByteWriter().U32(1).U32(0).U32(n).Take(), {}, n);
      }
      if (at + 80 * kWindowMs < to) w.Stop(at + 80 * kWindowMs, {n});
    }
    if (tasks) w.requests().CloseTasks(to, false);
    w.requests().CloseWindow(to, false);
    w.Template((s + 1) * kWindowSecond, "/a/{id}", 10 * kEach);
    w.Collected((s + 1) * kWindowSecond);
    w.requests().Advance((s + 1) * kWindowSecond);
  }
  w.Finish();
  const Profile p = w.ByRequest();
  const auto costs = w.Costs(p);
  const RequestCost& a = costs.at("GET /a/{id}");
  EXPECT_EQ(a.facts.idle.watched(), kSeconds / 2 * kEach);
  ASSERT_TRUE(a.idle);
  const double truth = static_cast<double>(kSeconds * 10 * kEach) * 60e6;
  EXPECT_NEAR(a.idle->awaiting_ns / truth, 1, 0.1);
  EXPECT_EQ(a.idle->queued_ns, 0);
}

TEST(TaskWatch, TheMachineGivesAHundredthOfItsCpuForTasks) {
  TaskWatch watch(1, 2);
  EXPECT_NEAR(watch.most_per_second(), 0.01 * 2 / 4e-6, 1);
  EXPECT_FALSE(watch.TooMany(0, kWindowSecond));
  EXPECT_FALSE(watch.TooMany(14'000, kWindowSecond)) << "a burst";
  EXPECT_FALSE(watch.TooMany(28'000, 4 * kWindowSecond));
  EXPECT_TRUE(watch.TooMany(200'000, 5 * kWindowSecond));
  EXPECT_LT(watch.Length(), 100 * kWindowMs) << "it is known by then how many there are";
  watch.Restart(200'000);
  for (uint64_t i = 1; i <= 4; ++i) {
    EXPECT_FALSE(watch.FewAgain());
    watch.OnWindow(200'000 + 100 * i, 100 * kWindowMs);
  }
  EXPECT_TRUE(watch.FewAgain());
}

TEST(TaskWatch, WindowsOfTasksAreAsOftenAndAsLongAsTheMachineAffords) {
  for (const double per_second : {6'000.0, 20'000.0, 100'000.0, 240'000.0}) {
    TaskWatch watch(1, 2);
    double events = per_second / 10;
    watch.OnWindow(static_cast<uint64_t>(events), 100 * kWindowMs);
    constexpr int64_t kAll = 600 * kWindowSecond;
    int windows = 0;
    for (int64_t now = 0; now < kAll; now += 10 * kWindowMs) {
      if (!watch.Ready(now)) continue;
      const TaskWatch::Window window = watch.Next(now);
      EXPECT_GE(window.length_ns, TaskWatch::kShortestNs);
      ++windows;
      events += per_second * static_cast<double>(window.length_ns) / 1e9;
      now = window.begin_ns + window.length_ns;
      watch.OnWindow(static_cast<uint64_t>(events), window.length_ns);
    }
    EXPECT_LE(events * 1e9 / kAll, 1.02 * watch.most_per_second()) << per_second;
    EXPECT_GT(events * 1e9 / kAll, 0.4 * watch.most_per_second()) << per_second;
    EXPECT_GT(windows, 75) << per_second;
  }
}

TEST(RequestWatch, TheMachineGivesAHundredthOfItsCpu) {
  RequestWatch watch(1, 2);
  EXPECT_NEAR(watch.most_per_second(), 0.01 * 2 / 12e-6, 1);
  for (const double rate : {2'000.0, 10'000.0, 40'000.0}) {
    const double cpu = rate * 12e-6 * static_cast<double>(watch.Length(rate)) / 1e9;
    EXPECT_LE(cpu, 0.021) << rate;
  }
  EXPECT_EQ(watch.Length(1e9), RequestWatch::kShortestNs);
  EXPECT_EQ(watch.Length(1'667), RequestWatch::kLongestNs);
}

TEST(RequestWatch, ABurstIsFollowedAndWhatGoesOnIsNot) {
  // When it is too many, of `per_second` from 10 s on; 0: not within a minute.
  const auto after = [](double per_second) {
    RequestWatch watch(1, 2);
    EXPECT_FALSE(watch.TooMany(0, 10 * kWindowSecond));
    for (int64_t ms = 1; ms < 60'000; ++ms)
      if (watch.TooMany(static_cast<uint64_t>(per_second * static_cast<double>(ms) / 1e3),
                        10 * kWindowSecond + ms * kWindowMs))
        return static_cast<double>(ms) / 1e3;
    return 0.0;
  };
  EXPECT_EQ(after(1'600), 0);
  EXPECT_NEAR(after(2'000), 15, 0.1);
  EXPECT_NEAR(after(30'000), 0.177, 0.003);
  RequestWatch watch(1, 2);
  EXPECT_FALSE(watch.TooMany(0, 10 * kWindowSecond));
  EXPECT_FALSE(watch.TooMany(4'000, 10 * kWindowSecond)) << "all at once, and then nothing";
  EXPECT_FALSE(watch.TooMany(8'000, 13 * kWindowSecond));
  EXPECT_TRUE(watch.TooMany(12'000, 13 * kWindowSecond + 100 * kWindowMs));
}

TEST(RequestWatch, AFewCalmSecondsEndTheWindows) {
  RequestWatch watch(1, 2);
  EXPECT_FALSE(watch.FewAgain(500, 1));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch.FewAgain(500, 1)) << "it is one interval";
  EXPECT_FALSE(watch.FewAgain(500, 2));
  EXPECT_FALSE(watch.FewAgain(1'000, 3)) << "more than half: they would begin again";
  for (uint64_t i = 4; i < 7; ++i) EXPECT_FALSE(watch.FewAgain(500, i));
  EXPECT_TRUE(watch.FewAgain(500, 7));
  watch.Restart();
  EXPECT_FALSE(watch.FewAgain(500, 8));
}

TEST(RecentRate, IsOfTheLastHalfSecond) {
  analysis::RecentRate rate;
  for (int64_t i = 0; i < 1'000; ++i) rate.Add(i * kWindowMs);
  EXPECT_NEAR(rate.per_second(), 1'000, 1);
  rate.Add(2 * kWindowSecond);
  EXPECT_NEAR(rate.per_second(), 2, 1e-9);
  rate.Add(kWindowSecond);  // streams are read one after the other
  EXPECT_NEAR(rate.per_second(), 2, 1e-9);
}

TEST(RequestEstimator, IsUnbiasedAndItsIntervalsCover) {
  constexpr int kRuns = 12;
  for (SimulatedServer server : testing::SimulatedServers()) {
    server.seconds = 20;
    const size_t routes = server.routes.size();
    std::vector<int> covered(routes), known(routes);
    std::vector<double> error(routes), error2(routes);
    for (int run = 0; run < kRuns; ++run) {
      const auto out = RequestSimulator(server, 500 + static_cast<uint64_t>(run)).Run();
      for (size_t i = 0; i < routes; ++i) {
        const RequestSimulator::Route& r = out[i];
        EXPECT_NEAR(r.counted, r.requests, 0.001 * r.requests + 4) << server.name << " " << i;
        EXPECT_EQ(r.beyond, 0) << server.name << " " << i;
        if (r.watched < 10) continue;
        const double off = r.estimate / r.bytes - 1;
        error[i] += off;
        error2[i] += off * off;
        ++known[i];
        ASSERT_TRUE(r.bounds.low && r.bounds.high);
        covered[i] += r.bytes >= *r.bounds.low && r.bytes <= *r.bounds.high;
      }
    }
    for (size_t i = 0; i < routes; ++i) {
      if (known[i] < 6) continue;
      const double n = known[i], mean = error[i] / n;
      const double se = std::sqrt(std::max(0.0, error2[i] / n - mean * mean) / n);
      EXPECT_LE(std::fabs(mean), 0.015 + 3 * se) << server.name << ", route " << i;
      // Of 12 intervals four miss with a chance of 2 in 1,000, if each does with 5 %.
      EXPECT_GE(covered[i], known[i] - 4) << server.name << ", route " << i;
    }
  }
}

}  // namespace
}  // namespace clrscope::capture
