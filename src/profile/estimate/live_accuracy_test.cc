// SPDX-License-Identifier: Apache-2.0
// Estimates and intervals of what was allocated and of what lives, at several caps, against
// simulated programs. CLRSCOPE_RUNS=4000 for the long form (tools/soak).
//
// Tolerances, for R runs. An interval that covers with chance 0.95 is seen to cover with a standard
// error of sqrt(0.95 * 0.05 / R); three of them are allowed around what is promised: 93 % or more
// where 5 samples or more are expected, 93 to 97 % where 30 or more are and objects are mostly not
// in the sample. Bias: half a per cent and three of its measured standard errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "profile/testing/accuracy.h"
#include "profile/testing/live_run.h"
#include "profile/testing/mixed_programs.h"

namespace clrscope::profile {
namespace {

using testing::Accuracy;
using testing::AccuracyByType;
using testing::Program;

#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t kUsualRuns = 100;  // what the statistics are is the plain build's business
#else
constexpr uint64_t kUsualRuns = 250;
#endif

uint64_t Runs() {
  const char* runs = std::getenv("CLRSCOPE_RUNS");
  const bool quick = std::getenv("CLRSCOPE_QUICK") != nullptr;  // make check
  if (runs == nullptr) return quick ? 100 : kUsualRuns;
  return static_cast<uint64_t>(std::atoi(runs));
}

void Check(const Accuracy& a, const Accuracy::Of& of, const std::string& what, bool total) {
  const double slack = a.runs >= 4000 ? 0 : 3 * std::sqrt(0.93 * 0.07 / a.n());
  std::printf("%-52s %8.1f samples  p %.4f  covered %.3f  bias %+.4f  spread %.4f\n", what.c_str(),
              a.samples(), a.chance(), a.coverage(of), a.bias(of), a.spread(of));
  // Where less is expected in all runs together than a single sample, there is nothing to be said.
  if (total || a.samples() >= 5) {
    EXPECT_LE(std::fabs(a.bias(of)), 0.005 + 3 * a.bias_error(of)) << what;
  }
  if (a.samples() < 5) return;
  EXPECT_GE(a.coverage(of), 0.93 - slack) << what;
  if (a.samples() >= 30 && a.chance() < 0.3) {
    EXPECT_LE(a.coverage(of), 0.97 + std::max(slack, 0.005)) << what;
  }
}

void Check(const AccuracyByType& by_type, const std::string& what) {
  for (size_t i = 0; i < by_type.figures.size(); ++i) {
    const Accuracy& a = by_type.figures[i];
    if (a.runs == 0) continue;
    const bool total = i + 1 == by_type.figures.size();
    const std::string name = what + (total ? ", total" : ", type " + std::to_string(i));
    Check(a, a.bytes, name + ", bytes", total);
    Check(a, a.objects, name + ", objects", total);
  }
}

std::vector<Program (*)()> Programs() {
  std::vector<Program (*)()> all = testing::AllPrograms();
  for (const auto make : testing::MixedPrograms()) all.push_back(make);
  return all;
}

class LiveAccuracy : public ::testing::TestWithParam<size_t> {};

TEST_P(LiveAccuracy, FiguresAreUnbiasedAndIntervalsCover) {
  const Program program = Programs()[GetParam()]();
  AccuracyByType allocated(program.types);
  for (const size_t cap : {size_t{512}, size_t{2'000}, size_t{20'000}}) {
    AccuracyByType live(program.types);
    for (uint64_t run = 0; run < Runs(); ++run) {
      const testing::LiveRun r = testing::RunLive(program, cap, 7000 + run);
      ASSERT_LE(r.most_followed, cap);
      live.Add(r.live, program.live);
      if (cap == 512) allocated.Add(r.allocated, program.allocated);
    }
    Check(live, program.name + ", live, cap " + std::to_string(cap));
  }
  Check(allocated, program.name + ", allocated");
}

INSTANTIATE_TEST_SUITE_P(Programs, LiveAccuracy, ::testing::Range(size_t{0}, Programs().size()));

}  // namespace
}  // namespace clrscope::profile
