// SPDX-License-Identifier: Apache-2.0
// What each route cost, and the slowest requests.
#include <cmath>
#include <utility>
#include <vector>

#include "profile/views/request_costs.h"
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Measure;
using profile::Profile;

void PutWhole(sqlite3_context* out, double v) { Put(out, int64_t{std::llround(v)}); }

bool WasRecorded(const Profile& p, uint32_t process, Measure m) {
  return p.processes[process].measures == 0 || p.processes[process].Recorded(m);
}

constexpr int kFirstCostFigure = 11;

}  // namespace

std::unique_ptr<TableCursor> RequestCosts(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  std::vector<profile::RequestCost> rows;
  if (p.Find(Measure::kRequests) != nullptr) rows = profile::RequestCosts(p);
  return List(std::move(rows), [&p, cpu = p.Find(Measure::kCpu)](const profile::RequestCost& r,
                                                                 int column, sqlite3_context* out) {
    const bool timed = r.durations.count > 0;
    const auto told = [out](bool known, double v) { return known ? PutWhole(out, v) : void(); };
    if (column >= kFirstCostFigure && column < kFirstCostFigure + kFigures) {
      const bool known =
          p.figures.front().by_request() && WasRecorded(p, r.process, Measure::kAllocations);
      return known ? PutFigure(out, p, r.allocated, column - kFirstCostFigure) : void();
    }
    switch (column) {
      case 0:
        return Put(out, r.route);
      case 1:
        return PutProcess(out, p, r.process);
      case 2:
        return Put(out, p.processes[r.process].pid);
      case 3:
        return told(r.is_route, r.count);
      case 4:
        return told(r.is_route, r.facts.unended);
      case 5:
        return told(r.is_route && r.facts.counted > 0, r.facts.failed);
      case 6:
        return told(timed, r.durations.mean_ns());
      case 7:
        return told(timed, r.durations.At(0.5));
      case 8:
        return told(timed, r.durations.At(0.95));
      case 9:
        return told(timed, r.durations.At(0.99));
      case 10:
        return told(timed, profile::LongestNs(r.durations, r.facts.max_ns));
      case kFirstCostFigure + kFigures:
        return told(WasRecorded(p, r.process, Measure::kExceptions), r.exceptions);
      case kFirstCostFigure + kFigures + 1:
        return told(WasRecorded(p, r.process, Measure::kLocks), r.lock_wait_ns);
      case kFirstCostFigure + kFigures + 2:
        return told(r.is_route, r.facts.gc_waited_ns);
      case kFirstCostFigure + kFigures + 3:
        return told(r.is_route, r.facts.gc_caused_ns);
      case kFirstCostFigure + kFigures + 4:
        return told(r.idle.has_value(), r.idle ? r.idle->queued_ns : 0);
      case kFirstCostFigure + kFigures + 5:
        return told(r.idle.has_value(), r.idle ? r.idle->awaiting_ns : 0);
      case kFirstCostFigure + kFigures + 6:
        return told(cpu != nullptr && cpu->by_request(), r.cpu.amount);
      default:
        return Put(out, r.process);
    }
  });
}

std::unique_ptr<TableCursor> SlowestRequests(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(p.requests.slowest, [&p](const profile::SlowRequestRow& r, int column,
                                       sqlite3_context* out) {
    const bool allocations = WasRecorded(p, r.process, Measure::kAllocations);
    switch (column) {
      case 0:
        return PutSeconds(out, r.start_ns);
      case 1:
        return Put(out, r.duration_ns);
      case 2:
        return Put(out, p.str(r.route));
      case 3:
        return Put(out, p.str(r.path));
      case 4:
        return PutProcess(out, p, r.process);
      case 5:
        return Put(out, p.processes[r.process].pid);
      case 6:
        return PutFlag(out, r.finished);
      case 7:
        return allocations ? Put(out, r.samples) : void();
      case 8:
        return allocations ? Put(out, r.bytes) : void();
      case 9:
        return WasRecorded(p, r.process, Measure::kExceptions) ? Put(out, r.exceptions) : void();
      case 10:
        return WasRecorded(p, r.process, Measure::kLocks) ? Put(out, r.lock_wait_ns) : void();
      case 11:
        return Put(out, r.gc_waited_ns);
      case 12:
        return r.queued_ns >= 0 ? Put(out, r.queued_ns) : void();
      case 13:
        return r.awaiting_ns >= 0 ? Put(out, r.awaiting_ns) : void();
      default:
        return Put(out, r.process);
    }
  });
}

}  // namespace clrscope::store
