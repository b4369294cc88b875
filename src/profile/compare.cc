// SPDX-License-Identifier: Apache-2.0
#include "profile/compare.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profile/estimate/beta.h"
#include "profile/estimate/gamma.h"

namespace clrscope::profile {
namespace {

// How much the spread of all rows counts when one row's own is judged, in degrees of freedom: two
// or three runs say little about one row.
constexpr double kSharedFreedom = 8;

double ValueOf(const Estimate& e, Metric m) { return m == Metric::kAmount ? e.amount : e.count; }
// Sums of durations: what one of them is like depends on the others, so that few runs say little.
bool IsTime(Metric m, Source source) {
  if (IsClock(source)) return false;  // samples of about the same time each
  const MeasureSpec& spec = SpecOf(MeasureOf(source));
  return (m == Metric::kAmount ? spec.amount : spec.count).unit == Unit::kNanoseconds;
}

// Of a comparison: which quantity, of which source, and Spread::chance.
struct Law {
  Metric metric;
  Source source;
  double chance = 1;
};

// By chance alone: of samples as they tell it; of events as if each came by itself, and of waits as
// if their lengths fell off exponentially.
double VarianceOf(const Estimate& e, const Law& law) {
  if (!IsEvent(law.source)) return law.metric == Metric::kAmount ? e.var_amount : e.var_count;
  if (IsClock(law.source) && law.metric == Metric::kAmount) {
    // What the system told without samples is certain.
    const double sampled = e.amount - e.seen_amount;
    return e.count > 0 ? law.chance * sampled * sampled / e.count : 0;
  }
  if (!IsTime(law.metric, law.source)) {
    double variance = law.chance * ValueOf(e, law.metric);
    if (const WindowGroups* w = e.windows.get(); w != nullptr)
      variance += WindowGroups::Variance(law.metric == Metric::kAmount ? w->amount : w->count) +
                  (law.metric == Metric::kAmount ? e.var_amount : e.var_count);
    return variance;
  }
  return e.count > 0 ? law.chance * 2 * e.amount * e.amount / e.count : 0;
}

struct Side {
  Estimate sum;
  double exposure = 0;
  double rate = 0;      // per unit of exposure
  double variance = 0;  // of the rate, by sampling or chance
  double runs = 0;
  double between = 0;   // variance between runs, of one run's rate
  double expected = 0;  // … of which this is by sampling or chance
  double excess() const { return between - expected; }  // below zero by chance: averages count it
};

Side SideOf(const Measured& m, const Law& law) {
  Side s;
  for (const Estimate& e : m.runs) s.sum += e;
  s.exposure = std::accumulate(m.exposures.begin(), m.exposures.end(), 0.0);
  s.runs = static_cast<double>(m.runs.size());
  if (s.exposure <= 0) return s;
  s.rate = ValueOf(s.sum, law.metric) / s.exposure;
  s.variance = VarianceOf(s.sum, law) / (s.exposure * s.exposure);
  if (m.runs.size() < 2) return s;
  double squares = 0, sampling = 0;
  for (size_t i = 0; i < m.runs.size(); ++i) {
    const double off = ValueOf(m.runs[i], law.metric) / m.exposures[i] - s.rate;
    squares += off * off;
    // Of few events in a run all runs together know better how they are.
    const double variance = IsEvent(law.source)
                                ? VarianceOf(s.sum, law) * m.exposures[i] / s.exposure
                                : VarianceOf(m.runs[i], law);
    sampling += variance / (m.exposures[i] * m.exposures[i]);
  }
  s.between = squares / (s.runs - 1);
  s.expected = sampling / s.runs;
  return s;
}

// A row's own spread: pooled over both sides, relative to their rates, and its weight.
struct OwnSpread {
  double squared = 0, freedom = 0;
};
OwnSpread OwnSpreadOf(const Side& a, const Side& b) {
  OwnSpread own;
  for (const Side* s : {&a, &b}) {
    if (s->runs < 2 || s->rate <= 0) continue;
    own.squared += (s->runs - 1) * s->excess() / (s->rate * s->rate);
    own.freedom += s->runs - 1;
  }
  if (own.freedom > 0) own.squared /= own.freedom;
  return own;
}

// How many bytes or objects one event of the side stands for, as a Poisson count of equal events
// that is as uncertain: variance/value. No count is larger than that of the samples: of objects so
// large that each is sampled the sum is certain, but how often such an object comes is not.
double UnitOf(const Side& s, const Law& law) {
  const double value = ValueOf(s.sum, law.metric);
  if (value <= 0) return 0;
  const double unit = VarianceOf(s.sum, law) / value;
  return law.source == Source::kCounted || IsEvent(law.source)
             ? unit
             : std::max(unit, value / static_cast<double>(s.sum.samples));
}

// Sampling alone.
double SamplingPValue(const Side& a, const Side& b, const Law& law) {
  const double value_a = ValueOf(a.sum, law.metric), value_b = ValueOf(b.sum, law.metric);
  const double own_a = UnitOf(a, law), own_b = UnitOf(b, law);
  const double unit_a = value_a > 0 ? own_a : own_b, unit_b = value_b > 0 ? own_b : own_a;
  if (value_a <= 0 && value_b <= 0) return 1;
  if (unit_a <= 0 || unit_b <= 0) return a.rate == b.rate ? 1 : 0;  // counted: certain
  const double trials_a = a.exposure / unit_a, trials_b = b.exposure / unit_b;
  const double count_a = value_a / unit_a, count_b = value_b / unit_b;
  return BinomialPValue(count_b, count_a + count_b, trials_b / (trials_a + trials_b));
}

Interval IntervalOf(const Side& s, const Side& other, Metric metric, Source source) {
  if (s.exposure <= 0) return {};
  if (source != Source::kSampled) return {s.rate, s.rate};
  Interval i = metric == Metric::kAmount ? AmountInterval(s.sum) : CountInterval(s.sum);
  if (s.sum.samples == 0 && other.sum.samples != 0) {
    // Nothing was sampled: below 3.69 events (95 %), each of which stands for as much as one does
    // on the other side.
    constexpr double kAtMost = 3.6889;
    i = {0, kAtMost * ValueOf(other.sum, metric) / static_cast<double>(other.sum.samples)};
  }
  return {i.low / s.exposure, i.high / s.exposure};
}

// How far a side's rate may be off by chance: of events, whose figures are exact for their run.
struct Reach {
  double down = 0, up = 0;
};
Reach ReachOf(const Side& s, const Law& law) {
  constexpr double kTail = 0.025, kNormal = 1.96;
  constexpr double kMany = 1e6;  // the laws are the same
  if (s.exposure <= 0) return {};
  const double n = ValueOf(s.sum, law.metric) / law.chance;
  if (IsTime(law.metric, law.source) || IsClock(law.source) || n > kMany ||
      s.sum.windows.get() != nullptr)
    return {kNormal * std::sqrt(s.variance), kNormal * std::sqrt(s.variance)};
  const double scale = law.chance / s.exposure;
  return {(n - (n > 0 ? GammaQuantile(kTail, n) : 0)) * scale,
          (GammaQuantile(1 - kTail, n + 1) - n) * scale};
}

// Of all rows, and as many times as kSharedFreedom 1: two runs may be alike by chance.
double ChanceOf(std::span<const Pair> rows, Metric metric, Source source) {
  double seen = kSharedFreedom, freedom = kSharedFreedom;
  for (const Pair& row : rows)
    for (const Measured* m : {&row.before, &row.after}) {
      const Side s = SideOf(*m, {metric, source});
      if (s.runs < 2 || s.expected <= 0) continue;
      seen += (s.runs - 1) * s.between / s.expected;
      freedom += s.runs - 1;
    }
  return std::min(1.0, seen / freedom);
}

}  // namespace

Spread SpreadOf(std::span<const Pair> rows, Metric metric, Source source) {
  // Rows weigh by how well their spread is known: not where sampling blurs it.
  const Law law{metric, source, IsEvent(source) ? ChanceOf(rows, metric, source) : 1};
  double sum = 0, weight = 0;
  bool known = false;
  for (const Pair& row : rows) {
    const Side a = SideOf(row.before, law), b = SideOf(row.after, law);
    const OwnSpread own = OwnSpreadOf(a, b);
    if (own.freedom <= 0) continue;
    known = true;
    double blur = 0;
    for (const Side* s : {&a, &b})
      if (s->rate > 0) blur += s->variance * s->runs / (s->rate * s->rate);
    constexpr double kSmallestBlur = 1e-4;  // else one certain row would outweigh all others
    const double w = own.freedom / std::pow(blur + kSmallestBlur, 2);
    sum += w * own.squared;
    weight += w;
  }
  return {weight > 0 ? std::max(0.0, sum / weight) : 0, known, law.chance};
}

Difference Compare(const Pair& row, Metric metric, Source source, const Spread& spread) {
  const Law law{metric, source, spread.chance};
  const Side a = SideOf(row.before, law), b = SideOf(row.after, law);
  const bool time = IsTime(metric, source);
  Difference d;
  d.before = a.rate;
  d.after = b.rate;
  d.difference = b.rate - a.rate;
  d.before_interval = IntervalOf(a, b, metric, source);
  d.after_interval = IntervalOf(b, a, metric, source);
  double low = std::hypot(a.rate - d.before_interval.high, b.rate - d.after_interval.low);
  double high = std::hypot(a.rate - d.before_interval.low, b.rate - d.after_interval.high);
  if (IsEvent(source)) {
    const Reach before = ReachOf(a, law), after = ReachOf(b, law);
    low = std::hypot(before.up, after.down);
    high = std::hypot(before.down, after.up);
  }
  if (source != Source::kTick && !time) d.p_value = SamplingPValue(a, b, law);

  if (spread.known && a.runs + b.runs > 2) {
    const OwnSpread own = OwnSpreadOf(a, b);
    const double freedom = kSharedFreedom + own.freedom;
    const double squared =
        std::max(0.0, (kSharedFreedom * spread.squared + own.freedom * own.squared) / freedom);
    const double between = squared * (a.rate * a.rate / a.runs + b.rate * b.rate / b.runs);
    const double variance = a.variance + b.variance + between;
    if (between > 0 || (time && variance > 0)) {
      // Welch and Satterthwaite: sampling's part is known, the other rests on `freedom`.
      constexpr double kNone = 1e6;  // as good as the normal law
      const double welch =
          between > 0 ? std::min(kNone, freedom * (variance / between) * (variance / between))
                      : kNone;
      const double p = StudentPValue(d.difference / std::sqrt(variance), welch);
      d.p_value = std::max(p, d.p_value.value_or(0));
      const double more = 2.0 * std::sqrt(between);
      low = std::hypot(low, more);
      high = std::hypot(high, more);
    }
  }
  d.has_interval = (source != Source::kTick && !time) || d.p_value.has_value();
  d.difference_interval = {d.difference - low, d.difference + high};
  return d;
}

void NameChanges(std::span<Difference> differences, double family_error) {
  std::vector<size_t> order;
  for (size_t i = 0; i < differences.size(); ++i) {
    differences[i].changed = false;
    if (differences[i].p_value) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t x, size_t y) { return *differences[x].p_value < *differences[y].p_value; });
  for (size_t rank = 0; rank < order.size(); ++rank) {
    Difference& d = differences[order[rank]];
    if (*d.p_value > family_error / static_cast<double>(order.size() - rank)) break;
    d.changed = d.difference != 0;
  }
}

}  // namespace clrscope::profile
