// SPDX-License-Identifier: Apache-2.0
// How long requests take, as numbers of steps: from 10 µs to some hours, 48 steps to a factor of
// ten, each 3.6 to 6.6 % wide. Every eighth step is a round duration: 1, 1.5, 2, 3, 5 or 7.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace clrscope::profile {

class DurationScale {
 public:
  // Label values: 0 = unknown. kShortest: below 10 µs.
  static constexpr uint16_t kUnknown = 0, kShortest = 1, kFirst = 2;
  static constexpr int kDecades = 9, kRound = 6, kFine = 8;
  static constexpr uint16_t kLongest = kFirst + kDecades * kRound * kFine;

  static uint16_t StepOf(int64_t ns) {
    double v = static_cast<double>(ns) / kLeastNs;
    if (v < 1) return kShortest;
    int decade = 0;
    for (; v >= 10 && decade < kDecades; ++decade) v /= 10;
    if (decade >= kDecades) return kLongest;
    int round = 0;
    while (round + 1 < kRound && v >= kEdges[static_cast<size_t>(round) + 1]) ++round;
    const double from = kEdges[static_cast<size_t>(round)];
    const double to = kEdges[static_cast<size_t>(round) + 1];
    const int fine = std::clamp(static_cast<int>(std::log(v / from) / std::log(to / from) * kFine),
                                0, kFine - 1);
    return static_cast<uint16_t>(kFirst + (decade * kRound + round) * kFine + fine);
  }
  // The shortest duration of a step, ns.
  static double LowNs(uint16_t step) {
    if (step <= kShortest) return 0;
    const int i = std::min<int>(step, kLongest) - kFirst;
    const int round = i / kFine, fine = i % kFine;
    const double from = kEdges[static_cast<size_t>(round % kRound)];
    const double to = kEdges[static_cast<size_t>(round % kRound) + 1];
    return kLeastNs * std::pow(10.0, round / kRound) * from *
           std::pow(to / from, static_cast<double>(fine) / kFine);
  }
  // In the middle of a step, ns.
  static double MiddleNs(uint16_t step) {
    if (step >= kLongest) return LowNs(kLongest);
    return std::sqrt(std::max(LowNs(step), kLeastNs / 10) * LowNs(static_cast<uint16_t>(step + 1)));
  }
  // The step of the round duration at or below.
  static uint16_t Rounded(uint16_t step) {
    if (step < kFirst) return step;
    return static_cast<uint16_t>(kFirst + (step - kFirst) / kFine * kFine);
  }
  // How old a request was, in twice as many steps as Rounded() has; what is much shorter than any
  // window is one step.
  static uint16_t AgeOf(int64_t ns) {
    if (ns < kYoungNs) return kShortest;
    return static_cast<uint16_t>(kFirst + (StepOf(ns) - kFirst) / (kFine / 2) * (kFine / 2));
  }

 private:
  static constexpr int64_t kYoungNs = 1'000'000;
  static constexpr double kLeastNs = 10'000;
  static constexpr std::array<double, kRound + 1> kEdges{1, 1.5, 2, 3, 5, 7, 10};
};

}  // namespace clrscope::profile
