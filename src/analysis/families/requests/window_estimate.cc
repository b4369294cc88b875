// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/window_estimate.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace clrscope::analysis {

using profile::Cell;
using profile::Estimate;
using profile::Figure;
using profile::LabelKey;
using profile::LabelSet;
using profile::Measure;
using profile::Profile;
using profile::RequestPart;
using profile::TimedCell;

namespace {

LabelSet WithoutWindow(const LabelSet& labels) {
  return labels.With(LabelKey::kRequestWindow, 0).With(LabelKey::kAge, 0);
}
LabelSet WithoutRequest(const LabelSet& labels) {
  return WithoutWindow(labels).With(LabelKey::kRequest, 0).With(LabelKey::kDuration, 0);
}

Estimate Times(const Estimate& e, double factor) {
  Estimate out = e;
  out.amount *= factor;
  out.count *= factor;
  out.seen_amount = out.seen_count = 0;
  out.var_amount *= factor * factor;
  out.var_count *= factor * factor;
  out.max_amount *= factor;
  out.max_count *= factor;
  return out;
}

}  // namespace

uint8_t WindowEstimate::Process::Groups(const PerGroup& of) {
  return static_cast<uint8_t>(std::count_if(of.begin(), of.end(), [](double n) { return n > 0; }));
}

double WindowEstimate::Watch::watched() const {
  double sum = 0;
  for (const auto& [age, a] : ages) sum += a.watched;
  return sum;
}

double WindowEstimate::Watch::watched_of(size_t group) const {
  double sum = 0;
  for (const auto& [age, a] : ages) sum += a.watched_of[group];
  return sum;
}

void WindowEstimate::Watch::Weigh(double all, const PerGroup& without, bool few) {
  double above = watched();
  PerGroup above_of{};
  for (size_t g = 0; g < kG; ++g) above_of[g] = watched_of(g);
  for (const auto& [age, a] : ages) {
    // Of those whose window ended at about this age, half were watched to it.
    const double to_it = above - a.watched / 2;
    Weight& w = weights[age];
    w.factor = all / std::max(to_it, 0.5);
    w.few = few;
    for (size_t g = 0; g < kG; ++g) {
      const double rest = to_it - (above_of[g] - a.watched_of[g] / 2);
      // Else one group saw all of them, to this age.
      constexpr double kNone = 0.25;
      w.without[g] = rest < kNone ? 0 : without[g] / rest - w.factor;
      above_of[g] -= a.watched_of[g];
    }
    above -= a.watched;
  }
}

const WindowEstimate::Weight* WindowEstimate::Watch::At(uint64_t age) const {
  if (weights.empty()) return nullptr;
  // No request was watched to an age beyond the last step: the weight of the oldest age applies.
  auto w = weights.upper_bound(static_cast<uint16_t>(age));
  if (w != weights.begin()) --w;
  return &w->second;
}

void WindowEstimate::Add(uint32_t index, const LabelSet& labels,
                         std::span<const Aggregate::Moment> moments) {
  double count = 0, amount = 0, samples = 0;
  for (const Aggregate::Moment& m : moments) {
    count += static_cast<double>(m.sums.stands_for);
    amount += static_cast<double>(m.sums.amount);
    samples += static_cast<double>(m.sums.samples);
  }
  Process& p = processes_[index];
  const uint64_t group = labels[LabelKey::kRequestWindow];
  const auto part = static_cast<RequestPart>(labels[LabelKey::kRequestPart]);
  const bool windowed = group >= 1 && group <= kG;
  if (part == RequestPart::kWindows) {
    if (!windowed) return;
    p.windows += samples;
    p.windows_ns += amount;
    p.stands_for_ns += count;
    p.windows_of[group - 1] += samples;
    p.ns_of[group - 1] += amount;
    return;
  }
  Route& r = p.routes[labels[LabelKey::kRequest]];
  const auto age = static_cast<uint16_t>(labels[LabelKey::kAge]);
  switch (part) {
    case RequestPart::kCounted:
      r.counted += count;
      return;
    case RequestPart::kEnded:
      if (!windowed) r.ended += count;
      return;
    case RequestPart::kWatched:
      if (!windowed) return;
      r.watch.ages[age].watched += count;
      r.watch.ages[age].watched_of[group - 1] += count;
      return;
    case RequestPart::kIdleWatched:
      if (!windowed) {
        r.watched_whole += count;
        return;
      }
      r.runs.ages[age].watched += count;
      r.runs.ages[age].watched_of[group - 1] += count;
      p.runs_of[group - 1] += count;
      return;
    case RequestPart::kGcWaited:
      if (windowed) r.waited[{age, group}] += amount;
      return;
    case RequestPart::kFailed:
      if (windowed) r.failed[{age, group}] += count;
      return;
    case RequestPart::kChild:
      if (windowed) r.children.push_back({labels, count, amount});
      return;
    default:
      return;
  }
}

// Requests that ended in windows, by how long they took.
void WindowEstimate::CountEnded(const Profile& p) {
  const Figure* figure = p.Find(Measure::kRequests);
  if (figure == nullptr) return;
  for (const Cell& c : figure->cells) {
    const LabelSet& labels = p.labels[c.labels];
    if (labels[LabelKey::kRequestWindow] == 0) continue;
    processes_[c.process]
        .routes[labels[LabelKey::kRequest]]
        .watch.ages[static_cast<uint16_t>(labels[LabelKey::kAge])]
        .ended += c.value.count;
  }
}

// The part of them that took longer than they could be watched: what the others leave. 0 unless it
// is more than chance.
double WindowEstimate::Beyond(const Route& route) {
  constexpr double kErrors = 2, kLeast = 0.01;
  double above = 0, within = 0, variance = 0, ended = 0;
  for (const auto& [age, a] : route.watch.ages) above += a.watched;
  const double all = above;
  for (const auto& [age, a] : route.watch.ages) {
    const double watched = std::max(above - a.watched / 2, 0.5);
    within += a.ended / watched;
    variance += a.ended / (watched * watched);
    above -= a.watched;
    ended += a.ended;
  }
  if (ended == 0) return 1;
  const double beyond = std::clamp(1 - within, 0.0, 1.0);
  variance = std::max(0.0, variance - within * within / all);
  return beyond > kLeast && beyond > kErrors * std::sqrt(variance) ? beyond : 0;
}

void WindowEstimate::Weigh(uint32_t index, Process& p) {
  std::map<uint64_t, Counted> counted_as;
  for (const auto& [name, r] : p.routes) {
    Counted& c = counted_as[CountedAs(index, name)];
    c.counted += r.counted - r.ended;
    c.seen += r.watch.watched();
    for (size_t g = 0; g < kG; ++g) c.seen_of[g] += r.watch.watched_of(g);
  }
  for (auto& [name, r] : p.routes) {
    const double seen = r.watch.watched();
    if (seen <= 0) continue;
    const uint64_t as = CountedAs(index, name);
    const Counted& counted = counted_as[as];
    const bool by_histogram = by_histogram_ && p.routes[as].counted > 0;
    const double scale = p.windows_ns > 0 ? p.stands_for_ns / p.windows_ns : 1;
    // Of several that are counted as one: as many as were seen.
    const double part = seen / counted.seen;
    r.all = std::max(seen, by_histogram ? counted.counted * part : seen * scale);
    // Where some are counted by action, those that are not were not told of: of them it is not
    // known.
    r.beyond = name == as && part < 1 ? 0 : Beyond(r);
    PerGroup without{};
    for (size_t g = 0; g < kG; ++g) {
      const double rest = seen - r.watch.watched_of(g);
      without[g] = r.all;
      if (by_histogram && part < 1 && counted.seen > counted.seen_of[g])
        without[g] = counted.counted * rest / (counted.seen - counted.seen_of[g]);
      if (!by_histogram && p.windows_ns > p.ns_of[g])
        without[g] = std::max(rest, rest * p.stands_for_ns / (p.windows_ns - p.ns_of[g]));
    }
    r.watch.Weigh(r.all, without, p.few());
    double weighted = 0;
    for (const auto& [age, a] : r.watch.ages) weighted += a.ended * r.watch.weights[age].factor;
    if (weighted > 0) r.normal = r.all * (1 - r.beyond) / weighted;
  }
  WeighRuns(index, p);
}

// All requests but those of which everything is known.
void WindowEstimate::WeighRuns(uint32_t index, Process& p) const {
  for (auto& [name, r] : p.routes) {
    const double seen = r.runs.watched();
    if (seen <= 0) continue;
    const double counted = by_histogram_ && CountedAs(index, name) == name ? r.counted : 0;
    const double all = std::max(seen, std::max(r.all + r.ended, counted) - r.watched_whole);
    PerGroup without{};
    without.fill(all);
    r.runs.Weigh(all, without, Process::Groups(p.runs_of) < profile::kFewWindows);
  }
}

const WindowEstimate::Weight* WindowEstimate::WeightOf(uint32_t process, const LabelSet& labels,
                                                       bool runs) const {
  const auto p = processes_.find(process);
  if (p == processes_.end()) return nullptr;
  const auto r = p->second.routes.find(labels[LabelKey::kRequest]);
  if (r == p->second.routes.end()) return nullptr;
  return (runs ? r->second.runs : r->second.watch).At(labels[LabelKey::kAge]);
}

Estimate WindowEstimate::Weighted(const Estimate& e, uint32_t process, const LabelSet& labels,
                                  double normal, bool runs) const {
  const Weight* weight = WeightOf(process, labels, runs);
  if (weight == nullptr) return e;
  const Process& p = processes_.at(process);
  const size_t group = labels[LabelKey::kRequestWindow] - 1;
  const double factor = weight->factor * normal;
  Estimate out = Times(e, factor);
  out.seen_amount = e.seen_amount;
  out.seen_count = e.seen_count;
  out.var_amount = out.var_count = 0;
  profile::WindowGroups& w = out.windows.Make();
  for (size_t g = 0; g < kG; ++g) {
    const double change = g == group ? -factor : weight->without[g] * normal;
    w.count[g] = static_cast<float>(e.count * change);
    w.amount[g] = static_cast<float>(e.amount * change);
  }
  // No less than if everything had come by itself.
  const auto samples = static_cast<double>(std::max<uint64_t>(1, e.samples));
  w.least_count = out.count * out.count / samples;
  w.least_amount = out.amount * out.amount / samples;
  w.groups = Process::Groups(runs ? p.runs_of : p.windows_of);
  w.few = weight->few;
  return out;
}

// Cells without windows, of the figure's old ones.
class WindowEstimate::Cells {
 public:
  explicit Cells(Profile* profile) : p_(*profile) {
    for (uint32_t i = 0; i < p_.labels.size(); ++i) labels_.emplace(p_.labels[i], i);
  }
  uint32_t Find(const Cell& like, const LabelSet& labels) {
    const auto [label, new_label] =
        labels_.try_emplace(labels, static_cast<uint32_t>(p_.labels.size()));
    if (new_label) p_.labels.push_back(labels);
    const auto [cell, new_cell] =
        index_.try_emplace({like.process, like.node, like.type, like.kind, label->second},
                           static_cast<uint32_t>(cells.size()));
    if (new_cell) {
      cells.push_back(like);
      cells.back().labels = label->second;
      cells.back().value = {};
    }
    return cell->second;
  }
  std::vector<Cell> cells{};

 private:
  Profile& p_;
  std::map<LabelSet, uint32_t> labels_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, profile::HeapKind, uint32_t>, uint32_t> index_;
};

void WindowEstimate::FinishFigure(Profile& p, Figure& figure) const {
  const bool requests = figure.measure == Measure::kRequests, runs = figure.clocked();
  const auto window = [&](const Cell& c) { return p.labels[c.labels][LabelKey::kRequestWindow]; };
  if (std::none_of(figure.cells.begin(), figure.cells.end(),
                   [&](const Cell& c) { return window(c) != 0; }))
    return;
  figure.by_windows = true;
  const auto main = [&](const Estimate& e) {
    return figure.measure == Measure::kExceptions ? e.count : e.amount;
  };
  // What belongs to no request, or to one that no window followed: what is left of each type and
  // method that it is of. Not of each stack: where ids are on, awaits go on by way of other
  // methods.
  struct Pool {
    uint32_t process = 0;
    Estimate all;  // without a request, and in windows
    double routes = 0;
    std::array<float, kG> count{}, amount{};
    double part = 1;
  };
  Cells cells(&p);
  std::vector<Pool> pools;
  std::map<uint32_t, std::pair<double, double>> samples;  // by process: in windows, of none
  std::vector<uint32_t> place(figure.cells.size()), pool_of(figure.cells.size(), ~0u);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, profile::HeapKind>, uint32_t> pool_at;
  std::map<uint32_t, std::pair<uint32_t, Estimate>> rest_of;  // by cell: its pool, and all of it
  for (uint32_t i = 0; i < figure.cells.size(); ++i) {
    const Cell old = figure.cells[i];
    const LabelSet labels = p.labels[old.labels];
    const bool windowed = labels[LabelKey::kRequestWindow] != 0;
    if (requests || !processes_.contains(old.process) ||
        (!windowed && labels[LabelKey::kRequest] != 0)) {
      double normal = 1;
      if (windowed)
        normal = processes_.at(old.process).routes.at(labels[LabelKey::kRequest]).normal;
      place[i] = cells.Find(old, WithoutWindow(labels));
      cells.cells[place[i]].value +=
          windowed ? Weighted(old.value, old.process, labels, normal, runs) : old.value;
      continue;
    }
    const uint32_t rest = cells.Find(old, WithoutRequest(labels));
    const auto [at, is_new] =
        pool_at.try_emplace({old.process, p.nodes[old.node].frame, old.type, old.kind},
                            static_cast<uint32_t>(pools.size()));
    if (is_new) pools.emplace_back().process = old.process;
    Pool& pool = pools[at->second];
    pool_of[i] = at->second;
    pool.all += old.value;
    auto& [of, all_of_cell] = rest_of[rest];
    of = at->second;
    all_of_cell += old.value;
    (windowed ? samples[old.process].first : samples[old.process].second) +=
        static_cast<double>(old.value.samples);
    place[i] = rest;
    if (!windowed) continue;
    const Estimate e = Weighted(old.value, old.process, labels, 1, runs);
    pool.routes += main(e);
    if (const profile::WindowGroups* w = e.windows.get())
      for (size_t g = 0; g < kG; ++g) {
        pool.count[g] -= w->count[g];
        pool.amount[g] -= w->amount[g];
      }
    place[i] = cells.Find(old, WithoutWindow(labels));
    cells.cells[place[i]].value += e;
  }
  // By process: cells whose routes seem to have more than there is have nothing left, and the
  // others as much less. But what no window saw a route do, though some should have, is the rest's
  // alone.
  struct Rest {
    double left = 0, positive = 0;
    PerGroup count{}, amount{};
  };
  const auto sure = [&](const Pool& pool) {
    constexpr double kExpected = 5;
    const auto& [watched, all] = samples[pool.process];
    return pool.routes <= 0 && static_cast<double>(pool.all.samples) * watched > kExpected * all;
  };
  std::map<uint32_t, Rest> rests;
  for (const Pool& pool : pools) {
    if (sure(pool)) continue;
    const double left = main(pool.all) - pool.routes;
    Rest& r = rests[pool.process];
    r.left += left;
    r.positive += std::max(0.0, left);
    for (size_t g = 0; g < kG; ++g) {
      r.count[g] += pool.count[g];
      r.amount[g] += pool.amount[g];
    }
  }
  for (Pool& pool : pools) {
    if (sure(pool)) continue;
    const Rest& r = rests[pool.process];
    const double all = main(pool.all), left = std::max(0.0, all - pool.routes);
    pool.part = all > 0 && r.positive > 0 ? left / all * std::max(0.0, r.left) / r.positive : 0;
  }
  for (const auto& [cell, rest] : rest_of) {
    const Pool& pool = pools[rest.first];
    if (sure(pool)) {
      cells.cells[cell].value += rest.second;
      continue;
    }
    if (pool.part <= 0) continue;
    const Rest& r = rests[pool.process];
    Estimate e = Times(rest.second, pool.part);
    profile::WindowGroups& w = e.windows.Make();
    w.left = true;
    // What routes have more without a group, the rest has less: each cell its part of that.
    const double part = main(e) / std::max(1.0, r.left);
    for (size_t g = 0; g < kG; ++g) {
      w.count[g] = static_cast<float>(part * r.count[g]);
      w.amount[g] = static_cast<float>(part * r.amount[g]);
    }
    const Process& process = processes_.at(pool.process);
    w.groups = Process::Groups(runs ? process.runs_of : process.windows_of);
    w.few = runs ? w.groups < profile::kFewWindows : process.few();
    cells.cells[cell].value += e;
  }
  std::vector<TimedCell> timed;
  timed.reserve(figure.timed.size());
  for (TimedCell& t : figure.timed) {
    const Cell& old = figure.cells[t.cell];
    const LabelSet& labels = p.labels[old.labels];
    const uint32_t pool = pool_of[t.cell];
    if (pool != ~0u && pools[pool].part > 0) {
      // The window's own part of what is left, too.
      const uint32_t rest = cells.Find(old, WithoutRequest(labels));
      timed.push_back({rest, t.start_ns, t.end_ns, Times(t.value, pools[pool].part)});
    }
    if (labels[LabelKey::kRequestWindow] != 0) {
      const double normal =
          requests ? processes_.at(old.process).routes.at(labels[LabelKey::kRequest]).normal : 1;
      t.value = Weighted(t.value, old.process, labels, normal, runs);
    } else if (pool != ~0u) {
      continue;
    }
    t.cell = place[t.cell];
    timed.push_back(std::move(t));
  }
  figure.timed = std::move(timed);
  figure.cells = std::move(cells.cells);
  // A cell of which nothing is left.
  std::vector<uint32_t> kept_at(figure.cells.size(), ~0u);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < figure.cells.size(); ++i) {
    const Estimate& e = figure.cells[i].value;
    if (e.samples == 0 && e.count == 0 && e.amount == 0) continue;
    if (kept != i) figure.cells[kept] = std::move(figure.cells[i]);
    kept_at[i] = kept++;
  }
  figure.cells.resize(kept);
  std::erase_if(figure.timed, [&](const TimedCell& t) { return kept_at[t.cell] == ~0u; });
  for (TimedCell& t : figure.timed) t.cell = kept_at[t.cell];
}

void WindowEstimate::FinishFacts(Profile& p) const {
  for (profile::RouteFacts& f : p.requests.routes) {
    const auto process = processes_.find(f.process);
    if (process == processes_.end()) continue;
    const auto route = process->second.routes.find(f.route.value);
    if (route == process->second.routes.end()) continue;
    const Route& r = route->second;
    f.watched += r.watch.watched();
    if (f.watched == 0) continue;
    f.stands_for = r.all / f.watched;
    f.beyond_windows = r.beyond;
    for (const auto& [at, ns] : r.waited)
      if (const Weight* w = WeightOf(
              f.process,
              LabelSet().With(LabelKey::kRequest, f.route.value).With(LabelKey::kAge, at.first)))
        f.gc_waited_ns += w->factor * r.normal * ns;
    for (const auto& [at, n] : r.failed)
      if (const Weight* w = WeightOf(
              f.process,
              LabelSet().With(LabelKey::kRequest, f.route.value).With(LabelKey::kAge, at.first)))
        f.failed += w->factor * r.normal * n;
    for (const Child& c : r.children)
      if (const Weight* w = WeightOf(f.process, c.labels))
        f.ChildOf(StringId(static_cast<uint32_t>(c.labels[LabelKey::kOperation])))
            .Add(c.labels, w->factor * c.count, w->factor * c.ns);
  }
  for (const auto& [index, process] : processes_) {
    p.requests.windows.count += process.windows;
    p.requests.windows.ns += process.windows_ns;
    p.requests.windows.of_ns += process.stands_for_ns;
  }
}

void WindowEstimate::Finish(Profile& p) {
  std::erase_if(processes_, [](const auto& entry) {
    const auto& routes = entry.second.routes;
    return entry.second.windows == 0 &&
           std::all_of(routes.begin(), routes.end(), [](const auto& r) {
             return r.second.watch.ages.empty() && r.second.runs.ages.empty();
           });
  });
  if (processes_.empty()) return;
  CountEnded(p);
  for (auto& [index, process] : processes_) Weigh(index, process);
  for (Figure& figure : p.figures) FinishFigure(p, figure);
  FinishFacts(p);
}

}  // namespace clrscope::analysis
