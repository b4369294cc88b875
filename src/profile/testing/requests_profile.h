// SPDX-License-Identifier: Apache-2.0
// A profile of requests with known durations and costs, for the tests of views and reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "profile/estimate/duration_scale.h"
#include "profile/tables/series.h"
#include "profile/testing/orders_profile.h"

namespace clrscope::profile::testing {

class RequestsBuilder : public OrdersBuilder {
 public:
  RequestsBuilder() {
    p.figures.front().cells_by_request = true;
    for (const Source source : {Source::kException, Source::kContention, Source::kRequest}) {
      Figure& f = p.figures.emplace_back();
      f.measure = MeasureOf(source);
      f.source = source;
    }
    node = Stack({AddFrame("Shop", "Shop.Handler.Get")});
    type = AddType("Shop.Order", 0x7f01);
  }
  // A request of `route` that took `ns`, and what it cost.
  void Request(std::string_view route, int64_t ns, uint64_t samples = 0, uint64_t thrown = 0,
               uint64_t lock_ns = 0, uint32_t process = 0) {
    const uint16_t step = DurationScale::StepOf(ns);
    Cost(Measure::kRequests, route, step, {1, static_cast<uint64_t>(ns), 1}, process);
    Work(route, DurationScale::Rounded(step), samples, thrown, lock_ns, process);
    RouteFacts& facts = FactsOf(route, process);
    facts.max_ns = std::max(facts.max_ns, ns);
  }
  // What belongs to a route ("": to none), or to what stands in its place.
  void Work(std::string_view route, uint16_t step, uint64_t samples, uint64_t thrown = 0,
            uint64_t lock_ns = 0, uint32_t process = 0) {
    if (samples != 0) {
      const uint32_t labels = Labels(route, step);
      p.figures.front().cells.push_back(
          {node, type, process, HeapKind::kSoh, EstimateSampled(samples, 1000), labels});
    }
    if (thrown != 0) Cost(Measure::kExceptions, route, step, {thrown, 0, thrown}, process);
    if (lock_ns != 0) Cost(Measure::kLocks, route, step, {1, lock_ns, 1}, process);
  }
  RouteFacts& FactsOf(std::string_view route, uint32_t process = 0) {
    const StringId name = p.strings.Intern(route);
    for (RouteFacts& f : p.requests.routes)
      if (f.process == process && f.route == name) return f;
    RouteFacts& f = p.requests.routes.emplace_back();
    f.process = process;
    f.route = name;
    return f;
  }
  void Slow(std::string_view route, std::string_view path, int64_t ns, uint32_t process = 0) {
    SlowRequestRow row;
    row.process = process;
    row.route = p.strings.Intern(route);
    row.path = p.strings.Intern(path);
    row.duration_ns = ns;
    p.requests.slowest.push_back(row);
  }

  uint32_t node = 0, type = 0;

 private:
  uint32_t Labels(std::string_view route, uint16_t step) {
    LabelSet set;
    if (!route.empty())
      set = set.With(LabelKey::kRequest, p.strings.Intern(route).value)
                .With(LabelKey::kDuration, step);
    const auto known = std::find(p.labels.begin(), p.labels.end(), set);
    if (known != p.labels.end()) return static_cast<uint32_t>(known - p.labels.begin());
    p.labels.push_back(set);
    return static_cast<uint32_t>(p.labels.size() - 1);
  }
  void Cost(Measure measure, std::string_view route, uint16_t step, const Sums& sums,
            uint32_t process) {
    const uint32_t labels = Labels(route, step);
    for (Figure& f : p.figures)
      if (f.measure == measure)
        f.cells.push_back({node, 0, process, HeapKind::kUnknown,
                           EstimateOf(SeriesKey::Make(0, 0, HeapKind::kUnknown, f.source, 0), sums),
                           labels});
  }
};

}  // namespace clrscope::profile::testing
