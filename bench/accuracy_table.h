// SPDX-License-Identifier: Apache-2.0
// The rows of docs/accuracy.md: one estimator over many runs, its totals, types and sites.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profile/estimate/estimate.h"
#include "profile/testing/accuracy.h"
#include "profile/testing/program.h"

namespace clrscope::bench {

using profile::Estimate;
using profile::testing::Accuracy;
using profile::testing::Program;
using profile::testing::SimObject;
using profile::testing::SimTruth;

using Values = std::vector<Estimate>;                         // by type or by site
using ByObject = std::vector<std::pair<uint32_t, Estimate>>;  // what each seen object stands for

// What figures are added up by.
struct Groups {
  bool sites = false;
  std::vector<SimTruth> truth;
  std::vector<uint32_t> sampled;  // those of which five samples or nearly may come
  double whole = 0;

  // `live`: of what lives at the end, else of all that was allocated.
  static Groups Of(const Program& p, bool sites, bool live) {
    Groups g;
    g.sites = sites;
    g.truth.resize(sites ? p.sites : p.types);
    std::vector<double> expected(g.truth.size());
    for (const SimObject& o : p.objects) {
      if (live && o.death <= p.objects.size()) continue;
      g.truth[g.Group(o)] += SimTruth{static_cast<double>(o.size), 1};
      expected[g.Group(o)] += profile::HitProbability(o.size);
      g.whole += o.size;
    }
    for (uint32_t i = 0; i < expected.size(); ++i)
      if (expected[i] >= 4) g.sampled.push_back(i);
    return g;
  }
  uint32_t Group(const SimObject& o) const { return sites ? o.site : o.type; }
  Values Sum(const Program& p, const ByObject& objects) const {
    Values v(truth.size());
    for (const auto& [object, value] : objects) v[Group(p.objects[object])] += value;
    return v;
  }
};

// One estimator's types, or its sites, over the runs.
struct GroupFigures {
  static constexpr uint64_t kRanked = 50;  // runs; ranks and medians are dear and hardly move
  const Groups* groups = nullptr;
  std::vector<Accuracy> accuracy;  // of groups->sampled
  std::vector<double> error;       // of all, sums
  double off = 0, ranks = 0;
  uint64_t runs = 0;

  explicit GroupFigures(const Groups* g)
      : groups(g), accuracy(g->sampled.size()), error(g->truth.size()) {}

  void Add(const Values& v) {
    for (size_t i = 0; i < accuracy.size(); ++i) {
      const uint32_t at = groups->sampled[i];
      accuracy[i].Add(v[at], groups->truth[at]);
    }
    for (size_t i = 0; i < v.size(); ++i)
      if (groups->truth[i].bytes > 0) error[i] += v[i].amount / groups->truth[i].bytes - 1;
    if (runs++ >= kRanked) return;
    off += Off(v);
    ranks += Ranks(v);
  }
  double Mean(double sum) const {
    return sum / static_cast<double>(std::min<uint64_t>(runs, kRanked));
  }
  // The mean of |bias|, by bytes.
  double bias() const {
    double sum = 0;
    for (size_t i = 0; i < error.size(); ++i)
      sum += std::fabs(error[i]) / static_cast<double>(runs) * groups->truth[i].bytes;
    return sum / groups->whole;
  }
  // The largest of those with a hundredth of all bytes.
  double worst() const {
    double worst = 0;
    for (size_t i = 0; i < error.size(); ++i) {
      const double bias = error[i] / static_cast<double>(runs);
      if (groups->truth[i].bytes >= groups->whole / 100 && std::fabs(bias) > std::fabs(worst))
        worst = bias;
    }
    return worst;
  }

 private:
  // Half of all bytes lie in groups that are off by no more than that.
  double Off(const Values& v) const {
    std::vector<std::pair<double, double>> errors;
    for (size_t i = 0; i < v.size(); ++i) {
      const double bytes = groups->truth[i].bytes;
      if (bytes > 0) errors.push_back({std::fabs(v[i].amount / bytes - 1), bytes});
    }
    std::sort(errors.begin(), errors.end());
    double below = 0;
    for (const auto& [e, bytes] : errors)
      if ((below += bytes) >= groups->whole / 2) return e;
    return 0;
  }
  // Kendall's tau between told and true order of those with a thousandth of all bytes.
  double Ranks(const Values& v) const {
    std::vector<size_t> large;
    for (size_t i = 0; i < v.size(); ++i)
      if (groups->truth[i].bytes >= groups->whole / 1000) large.push_back(i);
    double agree = 0, pairs = 0;
    for (size_t a = 0; a < large.size(); ++a) {
      for (size_t b = a + 1; b < large.size(); ++b) {
        const double real = groups->truth[large[a]].bytes - groups->truth[large[b]].bytes;
        const double told = v[large[a]].amount - v[large[b]].amount;
        if (real == 0) continue;
        pairs += 1;
        agree += told == 0 ? 0 : (told > 0) == (real > 0) ? 1 : -1;
      }
    }
    return pairs > 0 ? agree / pairs : 1;
  }
};

struct Row {
  std::string name;
  bool interval = false;
  Accuracy total;
  GroupFigures types, sites;

  Row(std::string its_name, bool has_interval, const Groups* by_type, const Groups* by_site)
      : name(std::move(its_name)), interval(has_interval), types(by_type), sites(by_site) {}

  void Add(const Program& p, const ByObject& objects) {
    AddSums(types.groups->Sum(p, objects), sites.groups->Sum(p, objects));
  }
  void AddSums(const Values& by_type, const Values& by_site) {
    Estimate sum;
    for (const Estimate& e : by_type) sum += e;
    SimTruth truth;
    for (const SimTruth& t : types.groups->truth) truth += t;
    total.Add(sum, truth);
    types.Add(by_type);
    sites.Add(by_site);
  }
};

inline std::string Percent(double v) { return fmt::format("{:.1f}", 100 * v); }
inline std::string Signed(double v) { return fmt::format("{:+.1f}", 100 * v); }

inline std::string Covered(const GroupFigures& f, bool interval) {
  if (!interval) return "";
  double least = 1, most = 0;
  int n = 0;
  for (const Accuracy& a : f.accuracy) {
    if (a.samples() < 5) continue;
    ++n;
    least = std::min({least, a.coverage(a.bytes), a.coverage(a.objects)});
    most = std::max({most, a.coverage(a.bytes), a.coverage(a.objects)});
  }
  return n == 0 ? "" : fmt::format("{}: {} to {}", n, Percent(least), Percent(most));
}

inline std::string Line(const Row& r) {
  const auto groups = [&](const GroupFigures& f) {
    return fmt::format(" {} | {} | {} | {:.2f} | {} |", Percent(f.Mean(f.off)), Percent(f.bias()),
                       Signed(f.worst()), f.Mean(f.ranks), Covered(f, r.interval));
  };
  return fmt::format("| {} | {:.0f} | {} | {} | {} |{}{}\n", r.name, r.total.samples(),
                     Signed(r.total.bias(r.total.bytes)),
                     r.total.runs > 1 ? Percent(r.total.spread(r.total.bytes)) : "",
                     r.interval ? Percent(r.total.coverage(r.total.bytes)) + ", " +
                                      Percent(r.total.coverage(r.total.objects))
                                : "",
                     groups(r.types), groups(r.sites));
}

inline std::string Head(const std::string& what) {
  return "\n### " + what +
         "\n\n| estimator | samples | total: bias | spread | covered | types: off | bias | worst | "
         "ranks | covered | sites: off | bias | worst | ranks | covered |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | "
         "--- "
         "|\n";
}

}  // namespace clrscope::bench
