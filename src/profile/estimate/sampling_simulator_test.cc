// SPDX-License-Identifier: Apache-2.0
// The estimator against simulated programs whose allocations are known: coverage of its intervals,
// bias of its figures, and what AllocationTick makes of a periodic program.
//
// Tolerances. A 95 % interval that is right covers in each of R runs with chance 0.95 or more, so
// its measured coverage has a standard error of sqrt(0.95 * 0.05 / R) = 0.0109 for R = 400; 0.93
// lies 1.8 of them below. Bias: the mean over runs of estimate / truth - 1, whose standard error is
// measured over the runs; 3 of them and half a per cent are allowed (per cent parts come from size
// classes, see SizeClass.EstimatesAreOffByLessThanAThousandth).
#include "profile/testing/sampling_simulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace clrscope::profile {
namespace {

using testing::SamplingSimulator;

constexpr int kRuns = 400;

struct Workload {
  const char* name;
  size_t types;
  size_t threads;
  std::function<void(SamplingSimulator&)> run;
};

// Figures of one type, or of the total, over the runs.
struct Figures {
  double samples = 0, truth_bytes = 0;
  int bytes_covered = 0, objects_covered = 0;
  double bytes_error = 0, bytes_error2 = 0, objects_error = 0, objects_error2 = 0;

  void Add(const Estimate& e, const SamplingSimulator::Truth& t) {
    samples += static_cast<double>(e.samples);
    truth_bytes += t.bytes;
    const Interval b = AmountInterval(e), o = CountInterval(e);
    // Rounding in sums of what is certain must not count as a miss.
    bytes_covered += t.bytes >= b.low * (1 - 1e-9) && t.bytes <= b.high * (1 + 1e-9);
    objects_covered += t.objects >= o.low * (1 - 1e-9) && t.objects <= o.high * (1 + 1e-9);
    const double eb = e.amount / t.bytes - 1, eo = e.count / t.objects - 1;
    bytes_error += eb;
    bytes_error2 += eb * eb;
    objects_error += eo;
    objects_error2 += eo * eo;
  }
};

void ExpectUnbiased(double sum, double sum2, const std::string& what) {
  const double mean = sum / kRuns;
  const double se = std::sqrt((sum2 / kRuns - mean * mean) / kRuns);
  EXPECT_LE(std::fabs(mean), 0.005 + 3 * se)
      << what << ": bias " << mean << ", standard error " << se;
}

uint64_t Pick(std::mt19937_64& random, uint64_t n) { return random() % n; }
double Unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

Workload FixedSizes() {
  return {"fixed small sizes", 5, 4, [](SamplingSimulator& s) {
            static constexpr uint64_t kSizes[] = {24, 32, 64, 248, 1024};
            for (int i = 0; i < 60'000; ++i) {
              const uint64_t r = s.random()();
              const auto type = static_cast<uint32_t>(r % 5);
              s.Allocate((r >> 8) % 4, type, kSizes[type]);
            }
          }};
}

Workload MixedSizes() {
  return {"mixed sizes of 24 B to 2 MB", 4, 3, [](SamplingSimulator& s) {
            for (int i = 0; i < 60'000; ++i) {
              // Bounded Pareto, exponent 1.1: most objects are small, most bytes are not.
              const double u = Unit(s.random());
              const double size = 24 * std::pow(1 - u * (1 - std::pow(24.0 / 2e6, 1.1)), -1 / 1.1);
              const uint64_t r = s.random()();
              s.Allocate(r % 3, static_cast<uint32_t>((r >> 8) % 4), static_cast<uint64_t>(size));
            }
          }};
}

Workload LargeArrays() {
  return {"arrays of the large object heap", 3, 2, [](SamplingSimulator& s) {
            for (int i = 0; i < 90; ++i) {
              const auto type = static_cast<uint32_t>(i % 3);
              const uint64_t most = type == 0 ? 120'000 : type == 1 ? 400'000 : 2'000'000;
              s.Allocate(static_cast<size_t>(i) % 2, type,
                         85'000 + Pick(s.random(), most - 85'000));
            }
          }};
}

Workload Periodic() {
  return {"32, 8152 and 64 bytes in turn", 3, 2, [](SamplingSimulator& s) {
            for (int i = 0; i < 20'000; ++i) {
              s.Allocate(0, 0, 32);
              s.Allocate(0, 1, 8152);
              s.Allocate(0, 2, 64);
            }
          }};
}

void CheckWorkload(const Workload& w) {
  std::vector<Figures> figures(w.types + 1);
  for (int run = 0; run < kRuns; ++run) {
    SamplingSimulator s(w.types, w.threads, 1000 + static_cast<uint64_t>(run));
    w.run(s);
    Estimate total;
    SamplingSimulator::Truth truth;
    for (uint32_t t = 0; t < w.types; ++t) {
      const Estimate e = s.Sampled(t);
      figures[t].Add(e, s.truth()[t]);
      total += e;
      truth.bytes += s.truth()[t].bytes;
      truth.objects += s.truth()[t].objects;
    }
    figures[w.types].Add(total, truth);
  }
  for (size_t i = 0; i < figures.size(); ++i) {
    const Figures& f = figures[i];
    const std::string what =
        std::string(w.name) + (i == w.types ? ", total" : ", type " + std::to_string(i));
    std::printf(
        "%-45s %8.1f samples; covered: bytes %.3f, objects %.3f; bias: bytes %+.4f, objects "
        "%+.4f\n",
        what.c_str(), f.samples / kRuns, 1.0 * f.bytes_covered / kRuns,
        1.0 * f.objects_covered / kRuns, f.bytes_error / kRuns, f.objects_error / kRuns);
    ExpectUnbiased(f.bytes_error, f.bytes_error2, what + ", bytes");
    ExpectUnbiased(f.objects_error, f.objects_error2, what + ", objects");
    if (f.samples / kRuns < 5) continue;  // the intervals promise nothing sharp there
    EXPECT_GE(f.bytes_covered, 0.93 * kRuns) << what;
    EXPECT_GE(f.objects_covered, 0.93 * kRuns) << what;
  }
}

TEST(SamplingSimulator, IntervalsCoverFixedSizes) { CheckWorkload(FixedSizes()); }
TEST(SamplingSimulator, IntervalsCoverMixedSizes) { CheckWorkload(MixedSizes()); }
TEST(SamplingSimulator, IntervalsCoverLargeArrays) { CheckWorkload(LargeArrays()); }
TEST(SamplingSimulator, IntervalsCoverPeriodicPrograms) { CheckWorkload(Periodic()); }

TEST(SamplingSimulator, TickIsFarOffWhereThreadsTakeTurns) {
  // Two threads that allocate 8152, 32 and 64 bytes in turn lose what is left of each grant of
  // 8200, so that the large object asks each time, and one of the small ones never does.
  SamplingSimulator s(3, 2, 1);
  for (int i = 0; i < 20'000; ++i) {
    for (size_t thread = 0; thread < 2; ++thread) {
      s.Allocate(thread, 0, 32);
      s.Allocate(thread, 1, 8152);
      s.Allocate(thread, 2, 64);
    }
  }
  EXPECT_LT(s.Ticks(0).amount, s.truth()[0].bytes / 4);
  EXPECT_GT(s.Ticks(2).amount, 50 * s.truth()[2].bytes);
  for (uint32_t type = 0; type < 3; ++type) {
    const Interval i = AmountInterval(s.Sampled(type));
    EXPECT_LE(i.low, s.truth()[type].bytes);
    EXPECT_GE(i.high, s.truth()[type].bytes);
  }
}

TEST(SamplingSimulator, TickFindsEveryTypeOfOneThreadThatIsPeriodic) {
  // What is left of a grant is used before the next one, so that the period drifts against it.
  // 2,013 ticks of 20,000 periods of 8248 bytes; the small types' shares are 8 and 16 of them.
  SamplingSimulator s(3, 2, 1);
  Periodic().run(s);
  EXPECT_NEAR(s.Ticks(1).amount, s.truth()[1].bytes, 0.01 * s.truth()[1].bytes);
  EXPECT_GT(s.Ticks(0).samples, 0u);
  EXPECT_LT(s.Ticks(2).amount, 2 * s.truth()[2].bytes);
}

}  // namespace
}  // namespace clrscope::profile
