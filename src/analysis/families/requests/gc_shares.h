// SPDX-License-Identifier: Apache-2.0
// Splits pauses for the garbage collector by the routes whose requests allocated since the pause
// before. Which route a sample belongs to becomes known later than the pause: both are kept by the
// number of pauses that there were when the sample came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace clrscope::analysis {

class GcShares {
 public:
  // A sample that stands for `bytes`; returns the epoch that it belongs to.
  uint64_t OnSample(double bytes) {
    epochs_.back().bytes += bytes;
    return first_ + epochs_.size() - 1;
  }
  void OnPause(int64_t pause_ns) {
    epochs_.back().pause_ns = pause_ns;
    epochs_.emplace_back();
    if (epochs_.size() > kMost) {
      epochs_.pop_front();
      ++first_;
    }
  }
  // The sample's route is known: add(route, ns), now or with the pause, by Collect().
  template <class F>
  void OnRoute(uint64_t epoch, uint32_t route, double bytes, F&& add) {
    if (epoch < first_ || epoch >= first_ + epochs_.size()) return;
    const Epoch& e = epochs_[epoch - first_];
    if (e.pause_ns < 0)
      waiting_.push_back({epoch, route, bytes});
    else if (e.bytes > 0)
      add(route, static_cast<double>(e.pause_ns) * std::min(1.0, bytes / e.bytes));
  }
  template <class F>
  void Collect(F&& add) {
    std::vector<Waiting> all;
    all.swap(waiting_);
    for (const Waiting& w : all) OnRoute(w.epoch, w.route, w.bytes, add);
    // Without a collection this would grow with the recording.
    if (waiting_.size() > kMostWaiting) Merge();
  }

 private:
  static constexpr size_t kMost = 4096, kMostWaiting = 10'000;
  struct Epoch {
    double bytes = 0;
    int64_t pause_ns = -1;  // -1: its pause is to come
  };
  struct Waiting {
    uint64_t epoch;
    uint32_t route;
    double bytes;
  };
  void Merge() {
    std::sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
      return std::pair(a.epoch, a.route) < std::pair(b.epoch, b.route);
    });
    size_t kept = 0;
    for (size_t i = 1; i < waiting_.size(); ++i) {
      Waiting& last = waiting_[kept];
      if (waiting_[i].epoch == last.epoch && waiting_[i].route == last.route)
        last.bytes += waiting_[i].bytes;
      else
        waiting_[++kept] = waiting_[i];
    }
    waiting_.resize(kept + 1);
  }

  std::deque<Epoch> epochs_{1};
  uint64_t first_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace clrscope::analysis
