// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead/overhead_meter.h"

#include <algorithm>

#include "profile/estimate/sample_weight.h"

namespace clrscope::profile {
namespace {

// Without the library of mathematics, which the agent has not.
int64_t Rounded(double ns) { return static_cast<int64_t>(ns + 0.5); }

}  // namespace

void OverheadMeter::Spend(Part part, double ns) {
  const auto i = static_cast<size_t>(part);
  spent_[i] += ns;
  exact_ns_[i] += ns;
  told_.cost_ns[i] = Rounded(exact_ns_[i]);
  debt_[i] += ns;
}

void OverheadMeter::SpendElsewhere(Part part, double ns) {
  const auto i = static_cast<size_t>(part);
  exact_ns_[i] += ns;
  told_.cost_ns[i] = Rounded(exact_ns_[i]);
  elsewhere_ += ns;
}

void OverheadMeter::OnWindows(Part part, const Overhead::Windows& windows) {
  Overhead::Windows& w = told_.windows_of(part);
  w.windows += windows.windows;
  w.ns += windows.ns;
  w.of_ns += windows.of_ns;
}

void OverheadMeter::OnCpu(int64_t now_ns, int64_t cpu_ns) {
  if (at_ns_ < 0 || now_ns <= at_ns_ || cpu_ns < cpu_at_ns_) {
    at_ns_ = now_ns;
    cpu_at_ns_ = cpu_ns;
    return;
  }
  const double seconds = static_cast<double>(now_ns - at_ns_) / 1e9;
  const auto used = static_cast<double>(cpu_ns - cpu_at_ns_);
  told_.cpu_ns += cpu_ns - cpu_at_ns_;
  at_ns_ = now_ns;
  cpu_at_ns_ = cpu_ns;
  // The first seconds count by themselves, each as long as it was.
  const double keep = 1 + ExpMinus1(-seconds / (kHorizonS / 2));
  const double known = keep * known_ + (1 - keep);
  const auto smooth = [&](double& rate, double now) {
    rate = (keep * known_ * rate + (1 - keep) * now) / known;
  };
  smooth(cpu_rate_, used / seconds);
  smooth(elsewhere_rate_, elsewhere_ / seconds);
  elsewhere_ = 0;
  for (size_t i = 0; i < kParts; ++i) {
    if (!Thins(i)) smooth(rate_[i], spent_[i] / seconds);
    spent_[i] = 0;
  }
  known_ = known;
  for (size_t i = 0; i < kParts; ++i) {
    if (!Thins(i)) continue;
    // What was not spent is not saved up: a burst would take it all at once.
    const double share = Share(static_cast<Part>(i));
    debt_[i] = std::max(0.0, debt_[i] - share * seconds);
  }
}

double OverheadMeter::cpu_per_second() const { return std::max(kFloorNsPerSecond, cpu_rate_); }

// What cannot be thinned comes first. The others get the same, but none more than it needs: what it
// leaves is shared by those that need more.
double OverheadMeter::Share(Part part) const {
  const double limit = told_.limit * cpu_per_second();
  double left = limit - elsewhere_rate_;
  for (size_t i = 0; i < kParts; ++i)
    if (!Thins(i)) left -= rate_[i];
  left = std::max(left, kLeastPart * limit);
  std::array<bool, kParts> served{};
  for (;;) {
    int wanting = 1;  // this one
    for (size_t i = 0; i < kParts; ++i) wanting += Others(i, part) && !served[i] ? 1 : 0;
    const double each = left / wanting;
    bool any = false;
    for (size_t i = 0; i < kParts; ++i) {
      if (!Others(i, part) || served[i] || demand_[i] > each) continue;
      served[i] = any = true;
      left -= demand_[i];
    }
    if (!any) return each;
  }
}

double OverheadMeter::Allowed(Part part) const {
  const double share = Share(part);
  return std::max(share / 4, share - debt_[static_cast<size_t>(part)] / kHorizonS);
}

bool OverheadMeter::Overdrawn(Part part) const {
  return debt_[static_cast<size_t>(part)] > kBurstS * Share(part);
}

bool OverheadMeter::Affordable(Part part) const {
  return demand_[static_cast<size_t>(part)] < Share(part) / 2;
}

void OverheadMeter::Restart(int64_t shift_ns) {
  // A time below zero would say that there is none.
  if (at_ns_ >= 0) at_ns_ = std::max<int64_t>(0, at_ns_ - shift_ns);
  const double limit = told_.limit;
  told_ = {};
  told_.limit = limit;
  exact_ns_ = {};
}

}  // namespace clrscope::profile
