// SPDX-License-Identifier: Apache-2.0
// What the agent takes its program, and what it may: measures that take too much are sampled in
// windows of time. On the agent's thread. docs/decisions/0019-overhead.md
#pragma once

#include <cstdint>
#include <string>

#include "agent/host/window_steps.h"
#include "agent/samples/shard_totals.h"
#include "profile/overhead/overhead_meter.h"

namespace clrscope::agent {

// What measures took so far, ns of CPU time: what the agent did on the program's threads as it was
// measured there, and the runtime's events by their prices.
struct MeasureCosts {
  double allocations = 0, throws = 0, waits = 0;
};
MeasureCosts CostsOf(const ShardTotals& counted);

class Budget {
 public:
  // `limit`: a part of the program's CPU time.
  Budget(double limit, uint64_t seed, int64_t now_ns);

  // All so far: what was counted, the program's CPU time, and that of the agent's thread. False:
  // nothing is to be looked at yet.
  bool Meter(const MeasureCosts& costs, int64_t program_ns, int64_t own_ns, int64_t now_ns);
  // Goes on after a pause, with everything sampled all along.
  void Restart(const MeasureCosts& costs, int64_t now_ns);
  // When it is to be looked at again.
  int64_t due_ns(int64_t now_ns) const;

  WindowSteps& allocations() { return allocations_; }
  const WindowSteps& allocations() const { return allocations_; }
  WindowSteps& throws() { return throws_; }
  profile::OverheadMeter& meter() { return meter_; }
  const profile::Overhead& told() const { return meter_.told(); }
  // … since the last call.
  profile::Overhead Take();
  // The object of "overhead" in the agent's status.
  std::string Json() const;

 private:
  static constexpr int64_t kEveryNs = 100'000'000;

  profile::OverheadMeter meter_;
  WindowSteps allocations_, throws_;
  MeasureCosts spent_;
  int64_t own_ns_ = -1, next_ns_ = 0;
  profile::Overhead taken_;
};

}  // namespace clrscope::agent
