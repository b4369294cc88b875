// SPDX-License-Identifier: Apache-2.0
#include "report/rows/request_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "profile/estimate/bounds.h"
#include "profile/views/tables.h"
#include "report/rows/rows.h"

namespace clrscope::report {
namespace {

using profile::Measure;
using profile::Profile;

constexpr std::array<std::string_view, 10> kRequestSorts = {
    "bytes",     "count", "duration", "errors",   "exceptions",
    "lock_wait", "cpu",   "queue",    "awaiting", "gc"};

using profile::IsOfNoRoute;

double RequestSortValue(const RequestRow& r, std::string_view sort) {
  if (sort == "count") return r.count;
  if (sort == "duration") return r.durations.At(0.95);
  if (sort == "errors") return r.facts.failed;
  if (sort == "exceptions") return r.exceptions;
  if (sort == "lock_wait") return r.lock_wait_ns;
  if (sort == "cpu") return r.cpu.amount;
  if (sort == "queue") return r.idle ? r.idle->queued_ns : 0;
  if (sort == "awaiting") return r.idle ? r.idle->awaiting_ns : 0;
  if (sort == "gc") return r.facts.gc_caused_ns;
  if (sort == "time") return r.durations.sum_ns;
  return r.allocated.amount;
}

Json WholeNumber(double v) { return std::llround(v); }

// null: not known of some of the requests.
Json ChildrenJson(const RequestRow& r, const Profile& p) {
  if (p.requests.narrowed) return nullptr;
  Json out = Json::array();
  for (const profile::ChildCost& c : r.children)
    out.push_back({{"operation", c.operation},
                   {"count", WholeNumber(c.durations.count)},
                   {"errors", WholeNumber(c.failed)},
                   {"duration_ns",
                    {{"mean", WholeNumber(c.durations.mean_ns())},
                     {"p50", WholeNumber(c.durations.At(0.5))},
                     {"p99", WholeNumber(c.durations.At(0.99))}}}});
  return out;
}

}  // namespace

bool IsRequestSort(std::string_view sort) {
  return std::find(kRequestSorts.begin(), kRequestSorts.end(), sort) != kRequestSorts.end();
}

RequestTable RequestRows(const Profile& p, std::string_view sort, size_t limit) {
  RequestTable table;
  table.rows = profile::RequestCosts(p);
  const bool allocations = p.figures.front().by_request() && p.figures.front().Total().amount > 0;
  if (sort.empty()) sort = p.shown().clocked() ? "cpu" : allocations ? "bytes" : "time";
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [sort](const RequestRow& a, const RequestRow& b) {
                     return std::tuple(IsOfNoRoute(a.route), -RequestSortValue(a, sort), -a.count) <
                            std::tuple(IsOfNoRoute(b.route), -RequestSortValue(b, sort), -b.count);
                   });
  table.all_rows = table.rows.size();
  if (table.rows.size() > limit) table.rows.resize(limit);
  return table;
}

Json RequestJson(const RequestRow& r, const Profile& p) {
  const profile::Process& process = p.processes[r.process];
  const auto recorded = [&](Measure m) { return process.measures == 0 || process.Recorded(m); };
  const auto told = [](bool known, double v) { return known ? WholeNumber(v) : Json(); };
  const bool requests = r.is_route;
  const bool counted = requests && !p.requests.narrowed && r.facts.counted > 0;
  Json json{{"request", r.route}};
  AddProcess(json, p, r.process);
  json["count"] = told(requests, r.count);
  json["unfinished"] = told(requests, r.facts.unended);
  json["errors"] = told(counted, r.facts.failed);
  Json statuses = Json::object();
  if (counted)
    for (const auto& [status, count] : r.facts.statuses)
      statuses[std::to_string(status)] = WholeNumber(count);
  // Of what is counted by action it is not known.
  json["statuses"] = counted && !r.facts.statuses.empty() ? statuses : Json();
  const bool action = r.facts.of.value != 0;  // the runtime counts those to their template
  json["reexecuted"] = told(counted && !action, r.facts.reexecuted);
  json["statuses_estimated"] = counted && !action ? Json(!r.facts.statuses_sure) : Json();
  const bool timed = r.durations.count > 0;
  const auto quantile = [&](double q) {
    const double ns = r.durations.At(q);
    return told(timed && ns > 0, ns);
  };
  json["duration_ns"] = {{"mean", told(timed, r.durations.mean_ns())},
                         {"p50", quantile(0.5)},
                         {"p95", quantile(0.95)},
                         {"p99", quantile(0.99)},
                         {"max", told(timed, profile::LongestNs(r.durations, r.facts.max_ns))}};
  if (p.figures.front().by_request() && recorded(Measure::kAllocations)) {
    profile::Bounds bytes = profile::AmountBounds(p, r.allocated);
    profile::Bounds objects = profile::CountBounds(p, r.allocated);
    for (profile::Bounds* b : {&bytes, &objects}) {
      if (r.allocated.samples == 0 && b->high) *b->high *= r.unseen_weight;
      // What the longest requests allocated at last, no window saw.
      if (r.facts.beyond_windows > 0) b->high.reset();
    }
    const auto bound = [](const std::optional<double>& v) { return v ? WholeNumber(*v) : Json(); };
    json["samples"] = r.allocated.samples;
    json["bytes"] = WholeNumber(r.allocated.amount);
    json["bytes_low"] = bound(bytes.low);
    json["bytes_high"] = bound(bytes.high);
    json["objects"] = told(p.figures.front().counts_known, r.allocated.count);
    json["objects_low"] = bound(objects.low);
    json["objects_high"] = bound(objects.high);
    json["bytes_per_request"] =
        told(requests && r.count > 0, r.count > 0 ? r.allocated.amount / r.count : 0);
  } else {
    for (const char* name : {"samples", "bytes", "bytes_low", "bytes_high", "objects",
                             "objects_low", "objects_high", "bytes_per_request"})
      json[name] = nullptr;
  }
  const profile::Figure* live = p.Find(Measure::kLive);
  const bool lives =
      live != nullptr && live->by_request() && process.followed && !p.requests.narrowed;
  json["live_samples"] = lives ? Json(r.live.samples) : Json();
  json["live_bytes"] = told(lives, r.live.amount);
  json["live_objects"] = told(lives, r.live.count);
  const profile::Figure* cpu = p.Find(Measure::kCpu);
  const bool runs = cpu != nullptr && cpu->by_request();
  const profile::Interval used = runs ? ClockInterval(*cpu, r.cpu) : profile::Interval();
  json["cpu_ns"] = told(runs, r.cpu.amount);
  json["cpu_ns_low"] = told(runs, used.low);
  json["cpu_ns_high"] = told(runs && std::isfinite(used.high), used.high);
  json["exceptions"] = told(recorded(Measure::kExceptions), r.exceptions);
  json["lock_wait_ns"] = told(recorded(Measure::kLocks), r.lock_wait_ns);
  json["queue_ns"] = told(r.idle.has_value(), r.idle ? r.idle->queued_ns : 0);
  json["awaiting_ns"] = told(r.idle.has_value(), r.idle ? r.idle->awaiting_ns : 0);
  json["idle_watched"] = told(r.idle.has_value(), r.facts.idle.watched());
  json["watched"] = told(requests && r.facts.watched > 0, r.facts.watched);
  json["longer_than_windows"] =
      requests && r.facts.watched > 0 ? Json(r.facts.beyond_windows) : Json();
  json["gc_waited_ns"] = told(requests && !p.requests.narrowed, r.facts.gc_waited_ns);
  json["gc_caused_ns"] = told(requests && !p.requests.narrowed, r.facts.gc_caused_ns);
  json["children"] = ChildrenJson(r, p);
  return json;
}

Json SlowRequestJson(const profile::SlowRequestRow& r, const Profile& p) {
  const profile::Process& process = p.processes[r.process];
  const auto recorded = [&](Measure m) { return process.measures == 0 || process.Recorded(m); };
  Json json{{"request", p.str(r.route)}};
  AddProcess(json, p, r.process);
  json["path"] = p.str(r.path);
  json["start_s"] = static_cast<double>(r.start_ns) / 1e9;
  json["duration_ns"] = r.duration_ns;
  json["finished"] = r.finished;
  const bool allocations = recorded(Measure::kAllocations);
  json["samples"] = allocations ? Json(r.samples) : Json();
  json["bytes"] = allocations ? WholeNumber(r.bytes) : Json();
  json["exceptions"] = recorded(Measure::kExceptions) ? Json(r.exceptions) : Json();
  json["lock_wait_ns"] = recorded(Measure::kLocks) ? Json(r.lock_wait_ns) : Json();
  json["gc_waited_ns"] = r.gc_waited_ns;
  json["queue_ns"] = r.queued_ns >= 0 ? Json(r.queued_ns) : Json();
  json["awaiting_ns"] = r.awaiting_ns >= 0 ? Json(r.awaiting_ns) : Json();
  return json;
}

}  // namespace clrscope::report
