// SPDX-License-Identifier: Apache-2.0
// One measure under a limit of what it may take: sampled all along while that is within the limit,
// else in random windows of time. Time is cut into slots as long as a window; of so many slots in a
// row as the limit makes it, one is the window, by chance. So each slot has the same chance, and
// windows never wait for each other. Says what is to be done with the measure's session; knows
// neither sessions nor the time. docs/decisions/0019-overhead.md
#pragma once

#include <algorithm>
#include <cstdint>

#include "agent/samples/sample_window.h"
#include "profile/estimate/reservoir.h"
#include "profile/interval/interval_frame.h"
#include "profile/overhead/overhead_meter.h"
#include "profile/overhead/overhead_prices.h"
#include "profile/overhead/window_plan.h"

namespace clrscope::agent {

class WindowSteps {
 public:
  using Part = profile::OverheadPart;
  enum class Step : uint8_t { kNone, kEndWhole, kOpen, kClose, kBeginWhole };
  // So many windows in a row have to say that everything is affordable again.
  static constexpr int kCalmWindows = 5;
  static constexpr int64_t kSlotNs = SampleWindow::kLengthMs * 1'000'000;
  // A session is asked for so long before its window.
  static constexpr int64_t kAheadNs = 4'000'000;
  // 60 s: what has no window for longer is as good as unknown.
  static constexpr int64_t kMostSlots = 60'000 / SampleWindow::kLengthMs, kRowSlots = 20;

  WindowSteps(Part part, uint64_t seed) : part_(part), random_(seed), groups_(seed + 1) {}

  // It is sampled all along from now on.
  void Restart(double cost_ns, int64_t now_ns) {
    phase_ = Phase::kWhole;
    demand_ = 0;
    at_ns_ = now_ns;
    cost_ns_ = cost_ns;
  }
  // What is to be done now; each is done before the next call. `cost_ns`: what the measure took so
  // far.
  Step Next(profile::OverheadMeter& meter, double cost_ns, int64_t now_ns) {
    if (phase_ == Phase::kWhole) {
      NoteRate(cost_ns, now_ns);
      meter.Demand(part_, demand_);
      if (!meter.Overdrawn(part_)) return Step::kNone;
      calm_ = 0;
      at_ns_ = now_ns;
      Draw(meter, now_ns);
      return Step::kEndWhole;
    }
    Pass(now_ns);
    if (phase_ == Phase::kOpen) {
      if (now_ns < window_ns_ + kSlotNs) return Step::kNone;
      Close(meter, cost_ns, now_ns);
      return Step::kClose;
    }
    if (phase_ == Phase::kBefore && now_ns >= window_ns_ - kAheadNs) {
      phase_ = Phase::kAfter;  // should its session not begin
      return Step::kOpen;
    }
    if (phase_ == Phase::kBefore || now_ns < end_ns_) return Step::kNone;
    // Not right after a window: there would be more of them than the time stands for.
    if (calm_ >= kCalmWindows && !meter.Overdrawn(part_)) return Step::kBeginWhole;
    // A thread that stood still does not catch up.
    Draw(meter, now_ns - end_ns_ > kSlotNs ? now_ns : end_ns_);
    return Step::kNone;
  }
  // Its session has begun. `cost_ns`: what the measure took before. The word of the window.
  uint64_t Opened(double cost_ns, int64_t before_ns, int64_t now_ns) {
    phase_ = Phase::kOpen;
    opened_ns_ = before_ns;
    cost_ns_ = cost_ns;
    // What of it is over already: the rest stands for it. A thread that had no CPU for longer takes
    // as much time from now on, or nothing would stand for this row.
    if (now_ns > window_ns_ + kSlotNs / 2) window_ns_ = now_ns / 1'000'000 * 1'000'000;
    const int64_t begin_ns = std::max(now_ns, window_ns_);
    const auto rest = static_cast<double>(window_ns_ + kSlotNs - begin_ns) / kSlotNs;
    const auto group = static_cast<uint32_t>(groups_.NextGroup());
    told_.count += 1;
    told_.of_ns[group - 1] += of_ns_;
    return SampleWindow::Of(window_ns_ / 1'000'000,
                            static_cast<uint32_t>(static_cast<double>(of_ns_) / 1e6 / rest + 0.5),
                            group);
  }
  bool in_windows() const { return phase_ != Phase::kWhole; }
  // When a window begins or ends; else far away.
  int64_t due_ns() const {
    switch (phase_) {
      case Phase::kWhole:
        return INT64_MAX;
      case Phase::kBefore:
        return window_ns_ - kAheadNs;
      case Phase::kOpen:
        return window_ns_ + kSlotNs;
      case Phase::kAfter:
        return end_ns_ - kAheadNs;
    }
    return INT64_MAX;
  }
  double demand() const { return demand_; }

  // Of the windows since the last call.
  profile::IntervalWindows Take(int64_t now_ns) {
    if (in_windows()) Pass(now_ns);
    const profile::IntervalWindows told = told_;
    told_ = {};
    return told;
  }

 private:
  enum class Phase : uint8_t { kWhole, kBefore, kOpen, kAfter };

  // The slots of the next window, from `from_ns` on.
  void Draw(const profile::OverheadMeter& meter, int64_t from_ns) {
    const double cost = demand_ * static_cast<double>(kSlotNs) / 1e9 + profile::kNsPerWindow;
    const double slots = cost / std::max(1.0, meter.Allowed(part_)) * 1e9 / kSlotNs;
    const auto n = std::clamp<int64_t>(static_cast<int64_t>(slots) + 1, 2, kMostSlots);
    // What is allowed may soon be more: a long row is as good as short ones of which not all have a
    // window.
    const int64_t row = std::min(n, kRowSlots);
    of_ns_ = n * kSlotNs;
    // Times are told in milliseconds.
    const int64_t begin_ns = from_ns / 1'000'000 * 1'000'000;
    end_ns_ = begin_ns + row * kSlotNs;
    const auto slot = static_cast<int64_t>(random_.Unit() * static_cast<double>(n));
    window_ns_ = begin_ns + slot * kSlotNs;
    phase_ = slot < row ? Phase::kBefore : Phase::kAfter;
  }
  // While everything is sampled: over a second or so.
  void NoteRate(double cost_ns, int64_t now_ns) {
    constexpr int64_t kLeastNs = 50'000'000;
    constexpr double kSmooth = 1e9;
    const int64_t passed_ns = now_ns - at_ns_;
    if (passed_ns < kLeastNs) return;
    const double rate = (cost_ns - cost_ns_) * 1e9 / static_cast<double>(passed_ns);
    const double part = std::min(1.0, static_cast<double>(passed_ns) / kSmooth);
    demand_ += (rate - demand_) * part;
    at_ns_ = now_ns;
    cost_ns_ = cost_ns;
  }
  void Pass(int64_t now_ns) {
    told_.ns += std::max<int64_t>(0, now_ns - at_ns_);
    at_ns_ = std::max(at_ns_, now_ns);
  }
  void Close(profile::OverheadMeter& meter, double cost_ns, int64_t now_ns) {
    phase_ = Phase::kAfter;
    const auto on_ns = static_cast<double>(std::max<int64_t>(1, now_ns - opened_ns_));
    const double rate = (cost_ns - cost_ns_) * 1e9 / on_ns;
    // The first window says what there is; bursts come later.
    constexpr double kNews = 0.25;
    demand_ = demand_ == 0 ? rate : demand_ + kNews * (rate - demand_);
    meter.Demand(part_, demand_);
    meter.Spend(part_, profile::kNsPerWindow);
    meter.OnWindow(part_, kSlotNs, of_ns_);
    calm_ = meter.Affordable(part_) ? calm_ + 1 : 0;
  }

  Part part_;
  profile::Xorshift random_;
  profile::WindowPlan groups_;
  Phase phase_ = Phase::kWhole;
  double demand_ = 0;   // what sampling everything would take, ns a second
  double cost_ns_ = 0;  // at the last look, or when the session began
  int64_t at_ns_ = 0, opened_ns_ = 0;
  int64_t end_ns_ = 0, window_ns_ = 0;  // of the row of slots; the one that is taken
  int64_t of_ns_ = 0;                   // what that stands for
  int calm_ = 0;
  profile::IntervalWindows told_;
};

}  // namespace clrscope::agent
