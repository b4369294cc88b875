// SPDX-License-Identifier: Apache-2.0
#include "agent/host/budget.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "profile/overhead/overhead_prices.h"

namespace clrscope::agent {
namespace {

using Part = profile::OverheadPart;

// Times are those of a clock on the wall: a thread that lost its CPU meanwhile took no more.
double OwnOf(uint64_t ns, uint64_t events) {
  constexpr double kMostEach = 20'000;
  return std::min(static_cast<double>(ns), static_cast<double>(events) * kMostEach);
}

// Events whose stacks were counted, and others that were turned away before.
double EventsOf(uint64_t seen, uint64_t frames, uint64_t others, double price) {
  const double each = price + (seen == 0 ? 0
                                         : profile::kNsPerFrame * static_cast<double>(frames) /
                                               static_cast<double>(seen));
  return static_cast<double>(seen + others) * each;
}

}  // namespace

MeasureCosts CostsOf(const ShardTotals& c) {
  MeasureCosts costs;
  costs.allocations = OwnOf(c.nanoseconds, c.samples) +
                      EventsOf(c.samples, c.frames, c.outside, profile::kNsPerAllocationEvent);
  costs.throws = OwnOf(c.throw_ns, c.throws) +
                 EventsOf(c.throws, c.throw_frames, c.throws_outside, profile::kNsPerThrow);
  const uint64_t waits = c.events > c.throws ? c.events - c.throws : 0;
  costs.waits = OwnOf(c.event_ns > c.throw_ns ? c.event_ns - c.throw_ns : 0, 2 * waits) +
                static_cast<double>(waits) * profile::kNsPerWait;
  return costs;
}

Budget::Budget(double limit, uint64_t seed, int64_t now_ns)
    : meter_(limit), allocations_(Part::kAllocations, seed), throws_(Part::kExceptions, seed + 1) {
  allocations_.Restart(0, now_ns);
  throws_.Restart(0, now_ns);
}

bool Budget::Meter(const MeasureCosts& c, int64_t program_ns, int64_t own_ns, int64_t now_ns) {
  if (now_ns < next_ns_ && now_ns < due_ns(now_ns)) return false;
  next_ns_ = now_ns + kEveryNs;
  const auto spend = [this](Part part, double& before, double now) {
    if (now > before) meter_.Spend(part, now - before);
    before = std::max(before, now);
  };
  spend(Part::kAllocations, spent_.allocations, c.allocations);
  spend(Part::kExceptions, spent_.throws, c.throws);
  spend(Part::kWaits, spent_.waits, c.waits);
  if (own_ns_ >= 0 && own_ns > own_ns_)
    meter_.Spend(Part::kAgent, static_cast<double>(own_ns - own_ns_));
  own_ns_ = own_ns;
  meter_.OnCpu(now_ns, program_ns);
  return true;
}

void Budget::Restart(const MeasureCosts& costs, int64_t now_ns) {
  allocations_.Restart(costs.allocations, now_ns);
  throws_.Restart(costs.throws, now_ns);
}

int64_t Budget::due_ns(int64_t now_ns) const {
  const int64_t next = next_ns_ > now_ns ? next_ns_ : now_ns;
  return std::min({next, allocations_.due_ns(), throws_.due_ns()});
}

profile::Overhead Budget::Take() {
  profile::Overhead since = told();
  since.cpu_ns -= taken_.cpu_ns;
  for (size_t i = 0; i < profile::kOverheadParts; ++i) {
    since.cost_ns[i] -= taken_.cost_ns[i];
    since.windows[i].windows -= taken_.windows[i].windows;
    since.windows[i].ns -= taken_.windows[i].ns;
    since.windows[i].of_ns -= taken_.windows[i].of_ns;
  }
  taken_ = told();
  return since;
}

std::string Budget::Json() const {
  const profile::Overhead& o = told();
  char room[256];
  const auto text = [&](const char* format, auto... values) {
    std::snprintf(room, sizeof room, format, values...);
    return std::string(room);
  };
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  std::string out = text("{\"limit\":%.6g,\"share\":%.6g,\"program_cpu_s\":%.6g,\"parts\":[",
                         o.limit, o.share(), seconds(o.cpu_ns));
  for (size_t i = 0; i < profile::kOverheadParts; ++i) {
    const auto part = static_cast<Part>(i);
    const profile::Overhead::Windows& w = o.windows[i];
    if (o.of(part) == 0 && w.windows == 0) continue;
    if (out.back() != '[') out += ',';
    out += text(
        "{\"part\":\"%s\",\"cpu_s\":%.6g,\"share\":%.6g,\"windows\":%llu,\"windows_s\":%.6g,"
        "\"of_s\":%.6g}",
        profile::OverheadName(part).data(), seconds(o.of(part)), o.share(part),
        static_cast<unsigned long long>(w.windows), seconds(w.ns), seconds(w.of_ns));
  }
  return out + "]}";
}

}  // namespace clrscope::agent
