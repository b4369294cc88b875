// SPDX-License-Identifier: Apache-2.0
// The error of figures that rest on random windows of time. What happens clusters, so how far a sum
// may be off follows from how windows differ and from no law of single events: each window belongs
// to one of sixteen random groups, and a figure keeps by how much it would change without each of
// them (the jackknife). These differences add up with the figures, so that any row has the error of
// its own sum. docs/decisions/0015-storms.md
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace clrscope::profile {

inline constexpr size_t kGroups = 16;

struct WindowGroups {
  std::array<float, kGroups> count{}, amount{};  // without the group, less with it
  // How much less the figures may be, beyond what windows differ by: where the counter says
  // significantly more than they do, as it counts what has no event; and as with `more_*`.
  double less_count = 0, less_amount = 0;
  // What may be there although no window saw it. Of a sum it is the largest.
  double hidden = 0;
  // The most that there may be of which nobody saw anything; 0: not known. Of a sum it is the
  // largest.
  double unseen_count = 0, unseen_amount = 0;
  // By how much more there may be than it is beyond what windows differ by: where one window is all
  // that there is, and as how long windows are is known to so much.
  double more_count = 0, more_amount = 0;
  // The least variance: of what comes by itself, whatever the windows say of it.
  double least_count = 0, least_amount = 0;
  uint8_t groups = kGroups;  // that have windows; the fewest of all parts
  // A part of the figure rests on too few windows to know how windows differ. The interval goes
  // from what the windows saw to all that the counter counted, if it did.
  bool few = false;
  // A part of the figure is the rest of a known whole: its error is symmetric.
  bool left = false;
  // There is time of which nothing is known: there may be any more.
  bool open = false;

  WindowGroups& operator+=(const WindowGroups& o) {
    for (size_t g = 0; g < kGroups; ++g) {
      count[g] += o.count[g];
      amount[g] += o.amount[g];
    }
    less_count += o.less_count;
    less_amount += o.less_amount;
    hidden = std::max(hidden, o.hidden);
    unseen_count = std::max(unseen_count, o.unseen_count);
    unseen_amount = std::max(unseen_amount, o.unseen_amount);
    more_count += o.more_count;
    more_amount += o.more_amount;
    least_count += o.least_count;
    least_amount += o.least_amount;
    groups = std::min(groups, o.groups);
    few = few || o.few;
    left = left || o.left;
    open = open || o.open;
    return *this;
  }
  static double Variance(const std::array<float, kGroups>& without) {
    double sum = 0;
    for (const float d : without) sum += static_cast<double>(d) * static_cast<double>(d);
    return sum * static_cast<double>(kGroups - 1) / static_cast<double>(kGroups);
  }
};

// Nothing for most figures, and copied with those that have it.
class OptionalGroups {
 public:
  OptionalGroups() = default;
  OptionalGroups(const OptionalGroups& o) { *this = o; }
  OptionalGroups(OptionalGroups&&) = default;
  OptionalGroups& operator=(const OptionalGroups& o) {
    if (this != &o) groups_ = o.groups_ ? std::make_unique<WindowGroups>(*o.groups_) : nullptr;
    return *this;
  }
  OptionalGroups& operator=(OptionalGroups&&) = default;
  ~OptionalGroups() = default;
  OptionalGroups& operator+=(const OptionalGroups& o) {
    if (o.groups_) [[unlikely]]
      Make() += *o.groups_;
    return *this;
  }
  WindowGroups& Make() {
    if (!groups_) groups_ = std::make_unique<WindowGroups>();
    return *groups_;
  }
  const WindowGroups* get() const { return groups_.get(); }

 private:
  std::unique_ptr<WindowGroups> groups_;
};

}  // namespace clrscope::profile
