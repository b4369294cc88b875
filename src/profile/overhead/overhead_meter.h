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

  // A program that uses less CPU counts as one that uses so much, so that an idle one is recorded.
  static constexpr double kFloorNsPerSecond = 0.1e9;
  // What is open in the account of a measure is paid back over so long.
  static constexpr double kHorizonS = 10;
  // So many seconds' worth may be spent before windows begin.
  static constexpr double kBurstS = 1;
  // However much the rest takes, this part of the limit is left to what is in windows.
  static constexpr double kLeastPart = 1.0 / 3;

  // `limit`: a part of the process's CPU time; 0: none, everything is metered alone.
  explicit OverheadMeter(double limit = 0) { told_.limit = limit; }

  bool limited() const { return told_.limit > 0; }
  // The process's CPU time so far, its events and sessions aside.
  void OnCpu(int64_t now_ns, int64_t cpu_ns);
  // So much more was spent.
  void Spend(Part part, double ns);
  // … by somebody who keeps a limit of his own, within this one: it is taken off first.
  void SpendElsewhere(Part part, double ns);
  // What a measure would take if all of it was recorded, ns a second; 0: it is not recorded.
  void Demand(Part part, double ns_per_second) {
    demand_[static_cast<size_t>(part)] = ns_per_second;
  }
  // It is in windows of time, of which one more is over and stands for `of_ns`.
  void OnWindow(Part part, int64_t ns, int64_t of_ns) { OnWindows(part, {1, ns, of_ns}); }
  void OnWindows(Part part, const Overhead::Windows& windows);

  // What the process uses, smoothed, at least the floor; ns a second.
  double cpu_per_second() const;
  // A measure's part of the limit, ns a second.
  double Share(Part part) const;
  // … with what it has overspent paid back.
  double Allowed(Part part) const;
  // It has spent more than its part of the last seconds.
  bool Overdrawn(Part part) const;
  // Everything of it would be well within its part.
  bool Affordable(Part part) const;

  const Overhead& told() const { return told_; }
  // Goes on in another recording: what was told so far was of the one before, and times are so much
  // smaller from now on.
  void Restart(int64_t shift_ns);

 private:
  // It is thinned, wanted, and not this one.
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
