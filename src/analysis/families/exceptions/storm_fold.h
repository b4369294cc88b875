// SPDX-License-Identifier: Apache-2.0
// Notices a storm of exceptions, and folds what is recorded of one: throws in windows of time, and
// how many there were, from a counter of the runtime. docs/decisions/0015-storms.md
#pragma once

#include <array>
#include <cstdint>

#include "analysis/families/windows/window_fold.h"

namespace clrscope::analysis {

class StormFold : public WindowFold {
 public:
  // More throws than these within a second are a storm.
  static constexpr uint64_t kMostPerSecond = 10'000;

  explicit StormFold(const Home& home)
      : WindowFold(home, profile::Source::kException, Loss::kStormUncounted) {}

  // A throw that is counted like any other, of a session that is open all along.
  void OnWhole(int64_t time_ns);
  // A storm goes on.
  bool stormy() const { return stormy_; }
  // Throws a second, of the last second's worst tenth.
  double whole_rate() const;

  void BeginStorm() { BeginWindows(); }
  void OnWindowed(uint32_t node, uint32_t type, uint64_t thread, bool again,
                  const ActivityPath& activity = {}, int64_t time_ns = 0);
  void EndStorm(int64_t whole_from_ns) {
    EndWindows(whole_from_ns);
    stormy_ = false;
  }
  void Stop() {
    WindowFold::Stop();
    stormy_ = false;
  }
  void Shift(int64_t shift_ns) {
    WindowFold::Shift(shift_ns);
    tenths_ = {};
    in_second_ = 0;
    tenth_ = 0;
  }

 private:
  // The last second's throws by tenths.
  std::array<uint32_t, 10> tenths_{};
  int64_t tenth_ = 0;
  uint64_t in_second_ = 0;
  bool stormy_ = false;
};

}  // namespace clrscope::analysis
