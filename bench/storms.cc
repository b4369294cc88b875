// SPDX-License-Identifier: Apache-2.0
// How good the estimator of storms of exceptions is, on simulated programs:
// docs/accuracy-by-measure.md.
//   storm_accuracy RUNS     Markdown on standard output
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "capture/testing/storm_simulator.h"

using namespace clrscope;
using capture::testing::StormSimulator;

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100;
  std::string out =
      "| program | type | thrown | recorded | bias | typical error | 95 % interval: covers | half "
      "its width | in no window |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& p : capture::testing::StormPrograms()) {
    struct Sum {
      double truth = 0, samples = 0, error = 0, error2 = 0, width = 0;
      int covered = 0, seen = 0;
    };
    std::vector<Sum> sums(p.types);
    const int n = p.seconds > 1'000 ? std::max(1, runs / 4) : runs;
    for (int run = 0; run < n; ++run) {
      StormSimulator simulator(p.types, 77'000 + static_cast<uint64_t>(run));
      const StormSimulator::Outcome o = simulator.Run(p.program, p.seconds);
      for (size_t i = 0; i < p.types; ++i) {
        const StormSimulator::Figure& f = o.types[i];
        Sum& s = sums[i];
        s.truth += f.truth;
        const double off = f.value.count / f.truth - 1;
        s.error += off;
        s.error2 += off * off;
        if (f.value.samples == 0) continue;
        ++s.seen;
        s.samples += static_cast<double>(f.value.samples);
        s.width += (f.interval.high - f.interval.low) / 2 / f.truth;
        s.covered += f.truth >= f.interval.low - 1 && f.truth <= f.interval.high + 1;
      }
    }
    for (size_t i = 0; i < p.types; ++i) {
      const Sum& s = sums[i];
      const double seen = std::max(1, s.seen);
      out += fmt::format(
          "| {} | {} | {:.0f} | {:.0f} | {:+.1f} % | {:.1f} % | {:.1f} % | ±{:.1f} % | {} |\n",
          i == 0 ? p.name : "", i, s.truth / n, s.samples / n, 100 * s.error / n,
          100 * std::sqrt(s.error2 / n), 100 * s.covered / seen, 100 * s.width / seen, n - s.seen);
    }
  }
  std::fputs(out.c_str(), stdout);
}
