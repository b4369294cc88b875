// SPDX-License-Identifier: Apache-2.0
#include "profile/views/request_costs.h"

#include <algorithm>
#include <map>
#include <utility>

namespace clrscope::profile {

bool IsOfNoRoute(std::string_view name) {
  return name == kNoRequest || name == kAfterResponse || name == kOtherRoutes;
}

namespace {

std::vector<ChildCost> ChildCosts(const Profile& p, const RouteFacts& facts) {
  std::vector<ChildCost> out;
  for (const ChildFacts& f : facts.children) {
    ChildCost& c = out.emplace_back();
    c.operation = p.str(f.operation);
    c.durations.steps = f.steps;
    c.durations.count = f.count;
    c.durations.sum_ns = f.sum_ns;
    c.failed = f.failed;
  }
  std::stable_sort(out.begin(), out.end(), [](const ChildCost& a, const ChildCost& b) {
    return a.durations.sum_ns > b.durations.sum_ns;
  });
  return out;
}

}  // namespace

using CostRows = std::map<std::pair<uint32_t, uint64_t>, RequestCost>;  // by process and route

namespace {

// The runtime counts actions to their template: what is left there was of no action that is known.
void TakeActionsOut(CostRows& rows) {
  for (auto& [key, r] : rows) {
    if (r.facts.of.value == 0) continue;
    r.facts.counted = r.count;
    r.facts.counted_ns = r.durations.sum_ns;
    const auto whole = rows.find({key.first, r.facts.of.value});
    if (whole == rows.end()) continue;
    RouteFacts& f = whole->second.facts;
    f.counted -= r.count;
    f.counted_ns -= r.durations.sum_ns;
    f.failed -= r.facts.failed;
    f.statuses.clear();
    constexpr double kNone = 0.5;
    if (f.counted < kNone) f.counted = f.counted_ns = 0;
    if (f.failed < kNone) f.failed = 0;
    f.counted_ns = std::max(0.0, f.counted_ns);
  }
}

}  // namespace

std::vector<RequestCost> RequestCosts(const Profile& p) {
  CostRows rows;
  const auto row = [&](uint32_t process, uint64_t route) -> RequestCost& {
    RequestCost& r = rows[{process, route}];
    r.process = process;
    return r;
  };
  for (auto& [route, durations] : DurationsByRoute(p)) {
    RequestCost& r = row(route.first, route.second);
    r.count = durations.count;
    r.durations = std::move(durations);
  }
  for (const RouteFacts& f : p.requests.routes) {
    RequestCost& r = row(f.process, f.route.value);
    r.facts = f;
    // How long the request of each took is not kept; and what windows see of no request, or of one
    // that has ended, stands for nothing.
    const bool of_none = f.route.value == 0 || IsOfNoRoute(p.str(f.route));
    const bool told = r.count > 0 || (of_none && !p.requests.windows.any());
    if (told && !p.requests.narrowed) r.children = ChildCosts(p, f);
  }
  TakeActionsOut(rows);
  for (const Figure& figure : p.figures) {
    if (!figure.by_request() || figure.measure == Measure::kRequests) continue;
    for (const Cell& c : figure.cells) {
      RequestCost& r = row(c.process, p.labels[c.labels][LabelKey::kRequest]);
      switch (figure.measure) {
        case Measure::kAllocations:
          r.allocated += c.value;
          break;
        case Measure::kExceptions:
          r.exceptions += c.value.count;
          break;
        case Measure::kLocks:
          r.lock_wait_ns += c.value.amount;
          break;
        case Measure::kCpu:
          r.cpu += c.value;
          break;
        case Measure::kLive:
          r.live += c.value;
          break;
        default:
          break;
      }
    }
  }
  std::vector<RequestCost> out;
  for (auto& [key, r] : rows) {
    r.route = key.second == 0 ? kNoRequest : p.str(StringId(static_cast<uint32_t>(key.second)));
    r.is_route = !IsOfNoRoute(r.route) || r.count > 0;
    // The runtime's own count, where there is no Start and Stop, or not of all: of those that began
    // before the recording, or while windows were to begin. It lacks what came after its last
    // value.
    const bool some = r.facts.watched > 0 && r.facts.counted > 0;
    if (!p.requests.narrowed && (r.count == 0 || some || r.facts.counted > r.count)) {
      r.count = r.facts.counted;
      if (r.durations.count > 0) {
        r.durations.exact_ns = r.facts.counted_ns / r.facts.counted;
        r.durations.beyond = r.facts.beyond_windows;
      }
    }
    if (!p.requests.narrowed) r.idle = r.facts.idle.Sum(r.count);
    // Of no sample; otherwise each part has its own weight.
    if (r.facts.watched > 0) r.unseen_weight = r.facts.stands_for;
    const bool any = r.count > 0 || r.facts.unended > 0 || r.allocated.samples > 0 ||
                     r.exceptions > 0 || r.lock_wait_ns > 0 || r.live.samples > 0 ||
                     r.cpu.amount > 0 || !r.children.empty();
    if (any) out.push_back(std::move(r));
  }
  return out;
}

}  // namespace clrscope::profile
