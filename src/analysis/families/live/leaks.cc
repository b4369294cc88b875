// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/leaks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/families/live/agent_windows.h"
#include "profile/compare.h"
#include "profile/estimate/beta.h"
#include "profile/views/tables.h"

namespace clrscope::analysis {
namespace {

using profile::Estimate;
using profile::kAgeStarts;
using profile::kBirthStarts;

constexpr uint64_t kFew = 5;           // samples
constexpr size_t kFewStates = 3;       // intervals
constexpr size_t kFewLevels = 5;       // pprof files, two or more of them in the window
constexpr double kMostGone = 0.5;      // of a growing row's old objects
constexpr double kLeastGrowth = 0.15;  // of a growing row's live bytes, within the window
constexpr double kLeastLate = 0.25;    // of its slope, in the window's last half
constexpr double kLeastAge = 0.1;      // of the window: the median age of what grows
constexpr double kNs = 1e9;

// The last birth bound that is not above `seconds`.
double BoundBelow(double seconds) {
  double bound = 0;
  for (const uint32_t start : kBirthStarts)
    if (start <= seconds) bound = start;
  return bound;
}

// Of weights by bucket; between a bucket's bounds by its share.
double MedianAge(const std::map<uint8_t, double>& ages) {
  double all = 0, below = 0;
  for (const auto& [bucket, objects] : ages) all += objects;
  for (const auto& [bucket, objects] : ages) {
    if (below + objects >= all / 2 && objects > 0) {
      const double start = kAgeStarts[bucket];
      const double end =
          size_t{bucket} + 1 < kAgeStarts.size() ? kAgeStarts[bucket + 1u] : start * 2;
      return start + (end - start) * (all / 2 - below) / objects;
    }
    below += objects;
  }
  return 0;
}

uint32_t MedianOf(const std::map<uint32_t, double>& counts) {
  double all = 0, below = 0;
  for (const auto& [n, objects] : counts) all += objects;
  for (const auto& [n, objects] : counts) {
    below += objects;
    if (below >= all / 2) return n;
  }
  return 0;
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  constexpr std::string_view kNames[] = {"growing", "refreshed", "steady", "few_samples"};
  return kNames[static_cast<size_t>(verdict)];
}

LeakFinder::LeakFinder(const profile::Profile* profile, const std::vector<AgentPlaces>* places)
    : profile_(profile), places_(places), site_(profile::SiteFrames(*profile, false)) {}

LeakFinder::Agent& LeakFinder::AgentOf(uint32_t process) {
  if (process >= agents_.size()) agents_.resize(process + 1);
  return agents_[process];
}

void LeakFinder::Measure(const profile::AgentInterval& interval) {
  if (!interval.frame.live) return;
  Agent& a = AgentOf(interval.process);
  // Of several agents in one process the last one counts.
  if (!a.begun || a.shift_ns != interval.shift_ns) {
    a = {};
    a.begun = true;
    a.shift_ns = interval.shift_ns;
    a.begin_ns = interval.frame.start_ns;
  }
  a.end_ns = std::max(a.end_ns, interval.frame.end_ns);
  a.levels = interval.frame.source == profile::Source::kForeign;
  ++a.states;
}

void LeakFinder::SetWindow(Agent& a) {
  a.windowed = true;
  LeakWindow& w = a.window;
  const double begin = static_cast<double>(a.begin_ns) / kNs;
  w.end_s = static_cast<double>(a.end_ns) / kNs;
  w.start_s = begin + (w.end_s - begin) / 2;
  if (!a.levels) w.start_s = BoundBelow(w.start_s);
  w.middle_s = w.start_s + (w.end_s - w.start_s) / 2;
  if (!a.levels) w.middle_s = BoundBelow(w.middle_s);
  w.shift_ns = a.shift_ns;
  w.known =
      w.start_s > begin && w.end_s > w.start_s && a.states >= (a.levels ? kFewLevels : kFewStates);
}

LeakFinder::Group* LeakFinder::GroupOf(uint32_t process, uint32_t node, uint32_t type) {
  if (process >= places_->size()) return nullptr;
  const AgentPlaces& places = (*places_)[process];
  if (node >= places.nodes.size() || type >= places.types.size()) return nullptr;
  const uint32_t where = places.nodes[node], what = places.types[type];
  const uint32_t frame = site_[where];
  Group& g = groups_[{process, what, frame}];
  g.row.process = process;
  g.row.type = what;
  g.row.frame = frame;
  g.row.live.many_sizes = profile_->types[what].many_sizes;
  return &g;
}

StringId LeakFinder::RouteOf(uint32_t process, uint32_t request) const {
  if (request == 0 || process >= places_->size()) return {};
  const std::vector<StringId>& routes = (*places_)[process].routes;
  return request <= routes.size() ? routes[request - 1] : StringId{};
}

bool LeakFinder::Keeps(uint32_t process, uint32_t request) const {
  if (!keep_) return true;
  const StringId route = RouteOf(process, request);
  return keep_(route.value == 0 ? profile::kNoRequest : profile_->str(route));
}

void LeakFinder::Add(const profile::AgentInterval& interval) {
  const profile::IntervalFrame& f = interval.frame;
  Agent& a = AgentOf(interval.process);
  if (!f.live || !a.begun || a.shift_ns != interval.shift_ns) return;
  if (!a.windowed) SetWindow(a);
  const LeakWindow& w = a.window;
  const double middle = static_cast<double>(f.start_ns + (f.end_ns - f.start_ns) / 2) / kNs;
  const AgentWindows windows(f.all_windows);
  for (const profile::IntervalTurnover& t : f.turnover) {
    if (middle < w.start_s) break;
    if (!Keeps(interval.process, t.request)) continue;
    Group* g = GroupOf(interval.process, t.node, t.type);
    if (g == nullptr) continue;
    const profile::Estimate deaths = windows.Of(t.deaths, t.window);
    g->row.born += windows.Of(t.births, t.window);
    g->row.died += deaths;
    const double born = kBirthStarts[t.birth_bucket];
    if (born < w.start_s) g->row.gone += deaths;
    if (middle >= w.middle_s && born < w.middle_s) g->late_gone += deaths;
  }
  if (a.levels) return AddLevels(interval);
  const bool last = f.end_ns == a.end_ns;
  const bool before = middle < w.start_s;  // the last of these is the state at the window's start
  if (before)
    for (auto& [key, g] : groups_)
      if (std::get<0>(key) == interval.process) g.ages_before.clear();
  if (!last && !before) return;
  for (const profile::IntervalLive& l : f.lives) {
    if (l.young || !Keeps(interval.process, l.request)) continue;
    Group* g = GroupOf(interval.process, l.node, l.type);
    if (g == nullptr) continue;
    const profile::Estimate value = windows.Of(l.value, l.window);
    if (before) {
      g->ages_before[l.age_bucket] += value.count;
      continue;
    }
    g->row.live += value;
    if (f.requests) g->requests[RouteOf(interval.process, l.request)] += value;
    g->bytes_of_node[(*places_)[interval.process].nodes[l.node]] += value.amount;
    g->ages[l.age_bucket] += value.count;
    g->gen2[std::midpoint(l.gen2_survived_min, l.gen2_survived_max)] += value.count;
    const double born = kBirthStarts[l.birth_bucket];
    if (born >= w.start_s) g->row.added += value;
    if (born >= w.middle_s) g->late_added += value;
  }
}

void LeakFinder::AddLevels(const profile::AgentInterval& interval) {
  const Agent& a = agents_[interval.process];
  const double at = static_cast<double>(interval.frame.end_ns) / kNs;
  for (const profile::IntervalLive& l : interval.frame.lives) {
    Group* g = GroupOf(interval.process, l.node, l.type);
    if (g == nullptr) continue;
    if (g->levels.empty() || g->levels.back().first != at) g->levels.emplace_back(at, 0);
    g->levels.back().second += l.value.amount;
    if (interval.frame.end_ns != a.end_ns) continue;
    g->row.live += l.value;
    g->bytes_of_node[(*places_)[interval.process].nodes[l.node]] += l.value.amount;
    g->ages[l.age_bucket] += l.value.count;
  }
}

Verdict LeakFinder::JudgeLevels(Group& g, const LeakWindow& w) {
  LeakRow& r = g.row;
  // What lived at a time: nothing where the row is not in that file.
  const auto level = [&](double at) {
    double bytes = 0;
    for (const auto& [time, value] : g.levels)
      if (time <= at) bytes = value;
    return bytes;
  };
  const double start = level(w.start_s), middle = level(w.middle_s), end = r.live.amount;
  r.slope = (end - start) / (w.end_s - w.start_s);
  r.late_slope = (end - middle) / (w.end_s - w.middle_s);
  const bool grows = start < middle && middle < end && end - start >= kLeastGrowth * end &&
                     r.late_slope >= kLeastLate * r.slope;
  return grows ? Verdict::kGrowing : Verdict::kSteady;
}

void LeakFinder::Describe(Group& g, const LeakWindow& w) {
  LeakRow& r = g.row;
  const double seconds = w.end_s - w.start_s, late = w.end_s - w.middle_s;
  r.slope = (r.added.amount - r.gone.amount) / seconds;
  r.late_slope = (g.late_added.amount - g.late_gone.amount) / late;
  const double before = r.live.amount - r.added.amount + r.gone.amount;
  r.kept = before > 0 ? std::clamp(1 - r.gone.amount / before, 0.0, 1.0) : 1;
  r.median_age_s = MedianAge(g.ages);
  if (!g.ages_before.empty()) r.median_age_before_s = MedianAge(g.ages_before);
  r.survived_gen2 = MedianOf(g.gen2);
  r.requests.assign(g.requests.begin(), g.requests.end());
  std::stable_sort(r.requests.begin(), r.requests.end(),
                   [](const auto& a, const auto& b) { return a.second.amount > b.second.amount; });
  double most = -1;
  for (const auto& [node, bytes] : g.bytes_of_node) {
    if (bytes <= most) continue;
    most = bytes;
    r.node = node;
  }
}

void LeakFinder::AddMemory(Leaks& leaks) const {
  for (uint32_t process = 0; process < leaks.windows.size(); ++process) {
    LeakWindow& w = leaks.windows[process];
    if (!w.known) continue;
    const auto at = [&](double seconds) { return w.shift_ns + std::llround(seconds * kNs); };
    w.memory = MemoryGrowthOf(*profile_, process, at(w.start_s), at(w.end_s));
    if (!w.memory || keep_) continue;
    double live = 0;
    for (const LeakRow& r : leaks.rows)
      if (r.process == process) live += r.added.amount - r.gone.amount;
    w.memory->live_bytes = std::llround(live);
  }
}

Leaks LeakFinder::Finish() {
  Leaks out;
  out.windows.resize(profile_->processes.size());
  for (size_t p = 0; p < agents_.size() && p < out.windows.size(); ++p)
    out.windows[p] = agents_[p].window;
  std::vector<profile::Difference> differences;
  for (auto& [key, g] : groups_) {
    LeakRow& r = g.row;
    const LeakWindow& w = out.windows[r.process];
    if (!w.known) continue;
    if (r.live.samples == 0 && r.gone.samples == 0) continue;  // all of it came and went
    const profile::Source source = profile_->processes[r.process].live_source;
    Describe(g, w);
    if (agents_[r.process].levels) {
      r.verdict = JudgeLevels(g, w);
      differences.emplace_back();
      out.rows.push_back(r);
      continue;
    }
    const double seconds = w.end_s - w.start_s;
    profile::Difference d = profile::Compare({{{r.gone}, {seconds}}, {{r.added}, {seconds}}},
                                             profile::Metric::kAmount, source, {});
    if (source == profile::Source::kTick) {
      // No weights that mean anything, but a count is a count.
      const auto added = static_cast<double>(r.added.samples);
      const auto gone = static_cast<double>(r.gone.samples);
      d.p_value = added + gone > 0 ? profile::BinomialPValue(added, added + gone, 0.5) : 1;
    } else {
      r.slope_interval = d.difference_interval;
    }
    // A row is one of those that may alarm falsely only when it could alarm at all.
    if (r.added.samples + r.gone.samples < kFew) d.p_value.reset();
    differences.push_back(d);
    out.rows.push_back(r);
  }
  AddMemory(out);
  profile::NameChanges(differences);
  for (size_t i = 0; i < out.rows.size(); ++i) {
    LeakRow& r = out.rows[i];
    if (agents_[r.process].levels) continue;
    const LeakWindow& w = out.windows[r.process];
    const double growth = r.slope * (w.end_s - w.start_s);
    if (r.live.samples + r.gone.samples < kFew) {
      r.verdict = Verdict::kFewSamples;
    } else if (differences[i].changed && r.slope > 0 && 1 - r.kept <= kMostGone &&
               growth >= kLeastGrowth * r.live.amount && r.late_slope >= kLeastLate * r.slope &&
               r.median_age_s >= kLeastAge * (w.end_s - w.start_s)) {
      r.verdict = Verdict::kGrowing;
    } else if (1 - r.kept > kMostGone && r.gone.samples >= 3) {
      r.verdict = Verdict::kRefreshed;
    } else {
      r.verdict = Verdict::kSteady;
    }
  }
  const auto rank = [](const LeakRow& r) {
    return r.verdict == Verdict::kGrowing ? 0 : r.verdict == Verdict::kFewSamples ? 2 : 1;
  };
  const auto weight = [](const LeakRow& r) {
    if (r.verdict != Verdict::kGrowing) return r.live.amount;
    return r.slope_interval ? r.slope_interval->low : r.slope;
  };
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](const LeakRow& a, const LeakRow& b) {
    return std::make_pair(rank(a), -weight(a)) < std::make_pair(rank(b), -weight(b));
  });
  return out;
}

}  // namespace clrscope::analysis
