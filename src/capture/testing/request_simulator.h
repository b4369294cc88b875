// SPDX-License-Identifier: Apache-2.0
// A server whose requests allocate known amounts, recorded in windows of time as live recordings
// are: by the plan of windows, the fold and the estimator that these use. What is simulated are the
// server, the runtime's samples and its histogram, and how late a session is open or closed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "capture/sessions/request_watch.h"
#include "capture/testing/request_events.h"
#include "profile/estimate/bounds.h"
#include "profile/views/request_costs.h"

namespace clrscope::capture::testing {

// A route of a simulated server.
struct SimulatedRoute {
  double per_second = 100;
  int64_t duration_ns = 1'000'000;  // the median
  double spread = 0.3;              // of its logarithm
  double bytes = 20'000;            // a request's mean
  double bytes_spread = 0.5;
  // Where in a request it allocates: 0 all along, 1 at its end, -1 at its start.
  int when = 0;
  // Requests come in bursts of so many at a time; 1: each by itself.
  double burst = 1;
};

struct SimulatedServer {
  const char* name = "";
  std::vector<SimulatedRoute> routes;
  double background_per_second = 0;  // bytes
  int64_t seconds = 60;
};

class RequestSimulator {
 public:
  struct Route {
    double requests = 0, bytes = 0;  // what it did
    double counted = 0, watched = 0, estimate = 0, mean_ns = 0, beyond = 0;
    profile::Bounds bounds;
    double p95_ns = 0, true_p95_ns = 0;
  };

  RequestSimulator(SimulatedServer server, uint64_t seed, unsigned cpus = 2)
      : server_(std::move(server)), random_(seed), watch_(seed ^ 0x5DEECE66D, cpus) {
    recording_.processes.push_back(std::make_unique<profile::ProcessTables>());
    recording_.processes[0]->info.Record(profile::Measure::kAllocations);
    recording_.processes[0]->info.Record(profile::Measure::kRequests);
    analysis::FoldOptions options;
    options.requests = true;
    fold_ = std::make_unique<analysis::ProcessFold>(
        &recording_.strings, recording_.processes[0].get(), 0, &aggregate_, options);
    fold_->requests().ExpectTemplates();
    events_.Feed(fold_.get());
    out_.resize(server_.routes.size());
    durations_.resize(server_.routes.size());
    of_second_.resize(server_.routes.size());
    seconds_of_second_.resize(server_.routes.size());
    for (const SimulatedRoute& r : server_.routes) all_per_second_ += r.per_second;
  }

  std::vector<Route> Run() {
    fold_->requests().BeginWindows(0);
    Plan(0);
    for (int64_t s = 0; s < server_.seconds; ++s) {
      MakeSecond(s);
      while (!queue_.empty() && queue_.top().time_ns < (s + 1) * kSecond) {
        Step step = queue_.top();
        queue_.pop();
        WindowsTo(step.time_ns);
        Take(step);
      }
      WindowsTo((s + 1) * kSecond);
      Collect((s + 1) * kSecond);
      fold_->requests().Advance((s + 1) * kSecond - kSecond / 2);
    }
    fold_->requests().EndAt(server_.seconds * kSecond);
    if (open_) Close(server_.seconds * kSecond);
    fold_->Finish();
    return Result();
  }

 private:
  static constexpr int64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kObject = 1'000;  // bytes
  struct Step {
    int64_t time_ns = 0;
    enum class Kind : uint8_t { kStart, kSample, kStop, kBackgroundWork } kind = Kind::kStart;
    uint32_t route = 0, request = 0;
    double duration_ns = 0;
    bool operator<(const Step& o) const { return time_ns > o.time_ns; }
  };

  void MakeSecond(int64_t s) {
    for (uint32_t i = 0; i < server_.routes.size(); ++i) {
      const SimulatedRoute& r = server_.routes[i];
      for (auto n = std::poisson_distribution<int64_t>(r.per_second / r.burst)(random_); n > 0;
           --n) {
        const int64_t at =
            s * kSecond + std::uniform_int_distribution<int64_t>(0, kSecond - 1)(random_);
        for (int64_t k = 0; k < std::max<int64_t>(1, std::llround(r.burst)); ++k)
          MakeRequest(i, r, at + k * 100'000);
      }
    }
    const double mean = server_.background_per_second / profile::kSamplingMeanBytes;
    for (auto n = std::poisson_distribution<int64_t>(mean)(random_); n > 0; --n)
      queue_.push({s * kSecond + std::uniform_int_distribution<int64_t>(0, kSecond - 1)(random_),
                   Step::Kind::kBackgroundWork});
  }

  void MakeRequest(uint32_t route, const SimulatedRoute& r, int64_t start_ns) {
    const uint32_t request = ++requests_;
    const double duration = static_cast<double>(r.duration_ns) *
                            std::exp(std::normal_distribution<double>(0, r.spread)(random_));
    const double bytes =
        r.bytes * std::exp(std::normal_distribution<double>(0, r.bytes_spread)(random_) -
                           r.bytes_spread * r.bytes_spread / 2);
    // Whole objects, each sampled or not.
    const auto objects = static_cast<int64_t>(bytes / static_cast<double>(kObject) + 0.5);
    const double p = profile::HitProbability(static_cast<double>(kObject));
    const int64_t samples =
        objects > 0 ? std::binomial_distribution<int64_t>(objects, p)(random_) : 0;
    queue_.push({start_ns, Step::Kind::kStart, route, request, duration});
    for (int64_t i = 0; i < samples; ++i) {
      double at = std::uniform_real_distribution<double>(0, 1)(random_);
      if (r.when > 0) at = 0.9 + at / 10;
      if (r.when < 0) at = at / 10;
      queue_.push(
          {start_ns + static_cast<int64_t>(at * duration), Step::Kind::kSample, route, request});
    }
    queue_.push(
        {start_ns + static_cast<int64_t>(duration), Step::Kind::kStop, route, request, duration});
    // What is still running when the recording ends counts as far as it got: not told apart here.
    if (start_ns + static_cast<int64_t>(duration) >= server_.seconds * kSecond) return;
    out_[route].requests += 1;
    out_[route].bytes += static_cast<double>(objects * static_cast<int64_t>(kObject));
    durations_[route].push_back(duration);
  }

  void Take(const Step& step) {
    const TestId id{step.request, {}};
    switch (step.kind) {
      case Step::Kind::kBackgroundWork:
        return events_.Sample(step.time_ns, {}, kObject);
      case Step::Kind::kStart:
        if (!open_) return;
        known_.insert(step.request);
        return events_.Start(step.time_ns, id, "/r" + std::to_string(step.route) + "/x");
      case Step::Kind::kSample:
        // Work goes on to have the id when the window is over.
        return events_.Sample(step.time_ns,
                              known_.contains(step.request) ? std::optional(id) : std::nullopt,
                              kObject);
      case Step::Kind::kStop:
        of_second_[step.route] += 1;
        seconds_of_second_[step.route] += step.duration_ns / 1e9;
        if (open_ && known_.contains(step.request)) events_.Stop(step.time_ns, id);
        known_.erase(step.request);
        return;
    }
  }

  void Collect(int64_t now) {
    for (uint32_t i = 0; i < of_second_.size(); ++i) {
      if (of_second_[i] == 0) continue;
      events_.Histogram(now, RequestEvents::Tags("/r" + std::to_string(i) + "/{x}"),
                        static_cast<int32_t>(of_second_[i]), seconds_of_second_[i]);
      of_second_[i] = 0;
      seconds_of_second_[i] = 0;
    }
    events_.Collected(now);
  }

  void Plan(int64_t now) {
    next_ = watch_.Next(now, std::max(all_per_second_, fold_->requests().per_second()));
  }
  void WindowsTo(int64_t now) {
    for (;;) {
      if (open_ && close_ns_ <= now)
        Close(close_ns_);
      else if (!open_ && next_.begin_ns <= now)
        Open();
      else
        return;
    }
  }
  void Open() {
    open_ = true;
    close_ns_ = next_.begin_ns + next_.length_ns;
    fold_->requests().OpenWindow(next_.group);
  }
  void Close(int64_t at) {
    open_ = false;
    fold_->requests().CloseWindow(at, false);
    Plan(at + kSecond / 7);  // the stop, and what it sends
  }

  std::vector<Route> Result() {
    recording_.end_ns = server_.seconds * kSecond;
    const profile::Profile p = analysis::Bind(recording_, aggregate_);
    for (const profile::RequestCost& c : profile::RequestCosts(p)) {
      if (!c.route.starts_with("GET /r")) continue;
      Route& r = out_[std::stoul(std::string(c.route.substr(6)))];
      r.counted = c.count;
      r.watched = c.facts.watched;
      r.beyond = c.facts.beyond_windows;
      r.estimate = c.allocated.amount;
      r.mean_ns = c.durations.mean_ns();
      r.p95_ns = c.durations.At(0.95);
      r.bounds = profile::AmountBounds(p, c.allocated);
      if (c.allocated.samples == 0 && r.bounds.high) *r.bounds.high *= c.unseen_weight;
    }
    for (size_t i = 0; i < out_.size(); ++i) {
      std::sort(durations_[i].begin(), durations_[i].end());
      if (!durations_[i].empty())
        out_[i].true_p95_ns = durations_[i][durations_[i].size() * 95 / 100];
    }
    return out_;
  }

  SimulatedServer server_;
  std::mt19937_64 random_;
  RequestWatch watch_;
  RequestWatch::Window next_;
  profile::Recording recording_;
  analysis::Aggregate aggregate_{
      &recording_, {}, {.threads = false, .times = false, .requests = true}};
  std::unique_ptr<analysis::ProcessFold> fold_;
  RequestEvents events_;
  std::priority_queue<Step> queue_;
  std::set<uint32_t> known_;
  std::vector<Route> out_;
  std::vector<std::vector<double>> durations_;
  std::vector<double> of_second_, seconds_of_second_;
  double all_per_second_ = 0;
  uint32_t requests_ = 0;
  bool open_ = false;
  int64_t close_ns_ = 0;
};

// Servers of docs/accuracy-by-measure.md.
inline std::vector<SimulatedServer> SimulatedServers() {
  constexpr int64_t kMs = 1'000'000;
  std::vector<SimulatedServer> out;
  out.push_back({"fast",
                 {{15'000, kMs / 5, 0.3, 20'000, 0.5, 0, 1},
                  {4'000, kMs / 2, 0.3, 5'000, 0.5, 0, 1},
                  {900, kMs, 0.5, 100'000, 1, 0, 1},
                  {90, 2 * kMs, 0.5, 1'000'000, 0.5, 0, 1},
                  {10, kMs, 0.5, 200'000, 0.5, 0, 1},
                  {4, kMs, 0.5, 2'000'000, 0.5, 0, 1}},
                 100e6,
                 60});
  out.push_back({"awaiting",
                 {{8'000, kMs, 0.3, 20'000, 0.5, 0, 1},
                  {1'500, 20 * kMs, 0.5, 60'000, 0.5, 0, 1},
                  {400, 50 * kMs, 0.4, 200'000, 0.5, 1, 1},
                  {100, 50 * kMs, 0.4, 500'000, 0.5, -1, 1}},
                 50e6,
                 60});
  out.push_back({"bursts",
                 {{6'000, kMs, 0.3, 20'000, 0.5, 0, 200},
                  {500, 3 * kMs, 0.5, 100'000, 0.5, 0, 50},
                  {60, 5 * kMs, 0.5, 500'000, 1, 0, 5}},
                 20e6,
                 120});
  return out;
}

}  // namespace clrscope::capture::testing
