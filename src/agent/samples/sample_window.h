// SPDX-License-Identifier: Apache-2.0
// When something is sampled, in one word that the program's threads read without a lock: all along,
// never, or in a window of time. What is sampled in a window carries a tag, which says what it
// stands for.
#pragma once

#include <cstdint>

namespace clrscope::agent {

class SampleWindow {
 public:
  static constexpr int64_t kLengthMs = 90;
  static constexpr uint64_t kAlways = 0;
  static constexpr uint64_t kNever = uint64_t{1} << 22;

  // Begins at `begin_ms` of the agent's time, is of `group` (from 1, at most 31), and stands for
  // `period_ms`, at most two minutes.
  static constexpr uint64_t Of(int64_t begin_ms, uint32_t period_ms, uint32_t group) {
    const uint64_t period = period_ms < kMostPeriod ? period_ms : kMostPeriod;
    return static_cast<uint64_t>(begin_ms) << 22 | period << 5 | group;
  }
  static constexpr bool Holds(uint64_t word, int64_t now_ns) {
    if (word == kAlways) return true;
    if ((word & kGroup) == 0) return false;
    const int64_t since_ms = now_ns / 1'000'000 - static_cast<int64_t>(word >> 22);
    return since_ms >= 0 && since_ms < kLengthMs;
  }

  // Of what is sampled while the word is this; 0: it stands for itself.
  static constexpr uint32_t TagOf(uint64_t word) {
    return (word & kGroup) == 0 ? 0 : static_cast<uint32_t>(word & kTag);
  }
  static constexpr uint8_t GroupOf(uint32_t tag) { return static_cast<uint8_t>(tag & kGroup); }
  // The inverse of the chance that a moment is in such a window.
  static constexpr double WeightOf(uint32_t tag) {
    return tag == 0 ? 1 : static_cast<double>(tag >> 5) / static_cast<double>(kLengthMs);
  }

 private:
  static constexpr uint64_t kGroup = 31, kTag = kNever - 1, kMostPeriod = (uint64_t{1} << 17) - 1;
};

}  // namespace clrscope::agent
