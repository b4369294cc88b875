// SPDX-License-Identifier: Apache-2.0
// How good figures by route are when requests are followed in windows of time, on simulated
// servers: docs/accuracy-by-measure.md.
//   request_accuracy RUNS     Markdown on standard output
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "capture/testing/request_simulator.h"

using namespace clrscope;
using capture::testing::RequestSimulator;

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100;
  std::string out =
      "| server | route | requests | in windows | bytes | bias | typical error | 95 % interval: "
      "covers | half its width | p95, off by | beyond |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& server : capture::testing::SimulatedServers()) {
    struct Sum {
      double requests = 0, watched = 0, truth = 0, error = 0, error2 = 0, width = 0, p95 = 0;
      double beyond = 0;
      int covered = 0, known = 0, timed = 0;
    };
    std::vector<Sum> sums(server.routes.size());
    for (int run = 0; run < runs; ++run) {
      const auto routes = RequestSimulator(server, 31'000 + static_cast<uint64_t>(run)).Run();
      for (size_t i = 0; i < routes.size(); ++i) {
        const RequestSimulator::Route& r = routes[i];
        Sum& s = sums[i];
        s.requests += r.requests;
        s.watched += r.watched;
        s.truth += r.bytes;
        const double off = r.estimate / r.bytes - 1;
        s.error += off;
        s.error2 += off * off;
        s.beyond += r.beyond;
        if (r.p95_ns > 0) {
          ++s.timed;
          s.p95 += std::abs(r.p95_ns / r.true_p95_ns - 1);
        }
        if (!r.bounds.low || !r.bounds.high) continue;
        ++s.known;
        s.width += (*r.bounds.high - *r.bounds.low) / 2 / r.bytes;
        s.covered += r.bytes >= *r.bounds.low && r.bytes <= *r.bounds.high;
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      const Sum& s = sums[i];
      const double known = std::max(1, s.known);
      out += fmt::format(
          "| {} | {} | {:.0f} | {:.0f} | {:.1f} MB | {:+.1f} % | {:.1f} % | {:.1f} % | ±{:.1f} % | "
          "{:.1f} % | {:.2f} |\n",
          i == 0 ? server.name : "", i, s.requests / runs, s.watched / runs, s.truth / runs / 1e6,
          100 * s.error / runs, 100 * std::sqrt(s.error2 / runs), 100 * s.covered / known,
          100 * s.width / known, 100 * s.p95 / std::max(1, s.timed), s.beyond / runs);
    }
  }
  std::fputs(out.c_str(), stdout);
}
