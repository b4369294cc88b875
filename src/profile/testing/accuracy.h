// SPDX-License-Identifier: Apache-2.0
// How good an estimator was over many runs, of a figure whose truth is known.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/estimate/estimate.h"
#include "profile/testing/program.h"

namespace clrscope::profile::testing {

// Of one figure, in bytes and objects.
struct Accuracy {
  struct Of {
    double error = 0, error2 = 0;
    uint64_t covered = 0;
    void Add(double value, double truth, const Interval& i) {
      const double e = value / truth - 1;
      error += e;
      error2 += e * e;
      // Rounding in sums of what is certain must not count as a miss.
      covered += truth >= i.low * (1 - 1e-9) && truth <= i.high * (1 + 1e-9) ? 1 : 0;
    }
  };
  uint64_t runs = 0;
  double samples_sum = 0, chance_sum = 0;
  Of bytes, objects;

  void Add(const Estimate& e, const SimTruth& truth) {
    ++runs;
    samples_sum += static_cast<double>(e.samples);
    if (e.count > 0) chance_sum += e.seen_count / e.count;
    bytes.Add(e.amount, truth.bytes, AmountInterval(e));
    objects.Add(e.count, truth.objects, CountInterval(e));
  }
  double n() const { return static_cast<double>(runs); }
  double samples() const { return samples_sum / n(); }  // expected
  double chance() const { return chance_sum / n(); }    // that an object is in the sample
  double bias(const Of& o) const { return o.error / n(); }
  double spread(const Of& o) const {
    return std::sqrt(std::max(0.0, o.error2 / n() - bias(o) * bias(o)));
  }
  double bias_error(const Of& o) const { return spread(o) / std::sqrt(n()); }
  double coverage(const Of& o) const { return static_cast<double>(o.covered) / n(); }
};

// One figure for each type and, last, the total.
struct AccuracyByType {
  explicit AccuracyByType(size_t types) : figures(types + 1) {}
  std::vector<Accuracy> figures;

  void Add(const std::vector<Estimate>& values, const std::vector<SimTruth>& truths) {
    Estimate total;
    SimTruth truth;
    for (size_t t = 0; t < values.size(); ++t) {
      total += values[t];
      truth += truths[t];
      if (truths[t].objects > 0) figures[t].Add(values[t], truths[t]);
    }
    figures.back().Add(total, truth);
  }
};

}  // namespace clrscope::profile::testing
