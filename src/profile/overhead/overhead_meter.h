// SPDX-License-Identifier: Apache-2.0
// Meters what a recording takes a process, and says how much each measure may: a part of the CPU
// time that the process uses (--max-overhead). What cannot be thinned is taken off first, the rest
// is shared between the measures that can be recorded in windows of time. Knows neither sessions
// nor the time: both are told. docs/decisions/0019-overhead.md
#pragma once

#include <array>
#include <cstdint>

#include "profile/overhead/overhead.h"

namespace clrscope::profile {

class OverheadMeter {
 public:
  using Part = OverheadPart;
  static constexpr size_t kParts = kOverheadParts;

  // The least CPU time of a program that the limit is a part of, so that an idle one is recorded.
  static constexpr double kFloorNsPerSecond = 0.1e9;
  // The time over which a measure's cost above or below its budget is evened out.
  static constexpr double kHorizonS = 10;
  // The budget of this many seconds may be spent before windows begin.
  static constexpr double kBurstS = 1;
  // However much the rest takes, this part of the limit is left to what is in windows.
  static constexpr double kLeastPart = 1.0 / 3;

  // `limit`: a part of the process's CPU time, 0 to 1; 0: no limit, the meter only counts.
  explicit OverheadMeter(double limit = 0) { told_.limit = limit; }

  bool limited() const { return told_.limit > 0; }
  // The process's CPU time so far, without the cost of its events and sessions.
  void OnCpu(int64_t now_ns, int64_t cpu_ns);
  // Adds `ns` of CPU time to a measure's cost.
  void Spend(Part part, double ns);
  // The same, of the agent, which keeps its own limit within this one: it comes off the budget
  // first.
  void SpendElsewhere(Part part, double ns);
  // The cost of a measure if all of it was recorded, ns a second; 0: it is not recorded.
  void Demand(Part part, double ns_per_second) {
    demand_[static_cast<size_t>(part)] = ns_per_second;
  }
  // A window of the measure has ended: it was `ns` long and stands for `of_ns`.
  void OnWindow(Part part, int64_t ns, int64_t of_ns) { OnWindows(part, {1, ns, of_ns}); }
  void OnWindows(Part part, const Overhead::Windows& windows);

  // The process's CPU time, smoothed, at least the floor; ns a second.
  double cpu_per_second() const;
  // A measure's part of the limit, ns a second.
  double Share(Part part) const;
  // Its part of the limit, less what it has overspent, spread over kHorizonS.
  double Allowed(Part part) const;
  // Whether the measure has cost more than its part over the last seconds.
  bool Overdrawn(Part part) const;
  // Whether recording all of the measure would be well within its part.
  bool Affordable(Part part) const;

  const Overhead& told() const { return told_; }
  // Continues in another recording: figures start at 0, and times are smaller by `shift_ns` from
  // now on.
  void Restart(int64_t shift_ns);

 private:
  // Whether measure `i` can be recorded in windows, is recorded, and is not `part`.
  bool Others(size_t i, Part part) const {
    return Thins(i) && demand_[i] > 0 && i != static_cast<size_t>(part);
  }
  static bool Thins(size_t part) {
    return part == static_cast<size_t>(Part::kAllocations) ||
           part == static_cast<size_t>(Part::kExceptions) ||
           part == static_cast<size_t>(Part::kRequests);
  }

  Overhead told_;
  std::array<double, kParts> exact_ns_{};  // of this recording
  std::array<double, kParts> spent_{};     // since the last look
  std::array<double, kParts> rate_{};      // ns a second, smoothed
  std::array<double, kParts> demand_{};
  std::array<double, kParts> debt_{};          // ns
  double elsewhere_ = 0, elsewhere_rate_ = 0;  // as spent_, rate_
  double cpu_rate_ = 0;
  double known_ = 0;  // how much of the smoothed figures is known: until then they are means
  int64_t at_ns_ = -1, cpu_at_ns_ = -1;
};

}  // namespace clrscope::profile
