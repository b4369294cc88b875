// SPDX-License-Identifier: Apache-2.0
#include "report/rows/diff_rows.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "clr/type_name.h"
#include "report/rows/request_rows.h"

namespace clrscope::report {
namespace {

using profile::Estimate;

// The members of a row's key that are the same in every run of a program.
Json Identity(const Json& key, View view) {
  Json out;
  // Events have no heaps, and some no types.
  const auto keep = [&](const char* name) {
    if (key.contains(name)) out[name] = key.at(name);
  };
  switch (view) {
    case View::kType:
      keep("type");
      keep("kind");
      break;
    case View::kSite:
      keep("type");
      keep("module");
      keep("method");
      break;
    case View::kMethod:
      keep("module");
      keep("method");
      keep("raw");
      break;
    case View::kAssembly:
      keep("module");
      break;
    case View::kKind:
      keep("kind");
      break;
    case View::kProcess:
      keep("process");
      break;
    case View::kThread:  // numbers are new in every run: threads of one name are one row
      keep("name");
      keep("process");
      break;
    default:
      keep("frames");
      keep("process");
  }
  return out;
}

// What types are called in this comparison, by the names that they have in their own recordings: a
// recording of an earlier version, or of a program whose files and memory nobody may see, does not
// know owners of nested types. What is with its owner in one and without it in another is one row,
// without it.
class SharedTypeNames {
 public:
  void Add(const profile::Profile& p) {
    std::map<std::string_view, std::set<std::string_view>> with_owner;  // by the name without it
    std::set<std::string_view> bare;
    for (const profile::Type& type : p.types) {
      const std::string_view raw = p.str(type.raw);
      if (const auto own = clr::WithoutOwner(raw))
        with_owner[*own].insert(raw);
      else if (clr::BareNameOf(raw))
        bare.insert(raw);
    }
    for (const auto& [own, types] : with_owner)
      for (const std::string_view raw : types) owned_[std::string(own)].emplace(raw);
    // Where both are, it is not known which type the bare one is.
    for (const std::string_view raw : bare)
      if (!with_owner.contains(raw)) bare_.emplace(raw);
  }
  void Finish() {
    for (const auto& [own, types] : owned_)
      if (bare_.contains(own))
        for (const std::string& raw : types)
          names_[clr::CsharpTypeName(raw)] = clr::CsharpTypeName(own);
  }
  void Apply(Json& key) const {
    if (names_.empty() || !key.contains("type")) return;
    const auto it = names_.find(key.at("type").get<std::string>());
    if (it != names_.end()) key["type"] = it->second;
  }

 private:
  std::map<std::string, std::set<std::string>> owned_;  // raw names, by what they are without owner
  std::set<std::string> bare_;
  std::unordered_map<std::string, std::string> names_;
};

Estimate Sum(const std::vector<Estimate>& runs) {
  Estimate sum;
  for (const Estimate& e : runs) sum += e;
  return sum;
}

class Matcher {
 public:
  Matcher(size_t before, size_t after) : before_(before), after_(after) {}

  void Add(const Json& key, const Estimate& value, bool is_after, size_t run) {
    const auto [it, is_new] =
        index_.try_emplace(key.dump(-1, ' ', false, Json::error_handler_t::replace), keys_.size());
    if (is_new) {
      keys_.push_back(key);
      pairs_.push_back({});
      pairs_.back().before.runs.resize(before_);
      pairs_.back().after.runs.resize(after_);
    }
    profile::Pair& pair = pairs_[it->second];
    (is_after ? pair.after : pair.before).runs[run] += value;
  }

  // Rows that hold nothing of the metric: of what was only thrown no rethrows.
  void DropEmpty(profile::Metric metric) {
    const auto empty = [metric](const Estimate& e) {
      return (metric == profile::Metric::kAmount ? e.amount : e.count) == 0;
    };
    size_t kept = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (empty(Sum(pairs_[i].before.runs)) && empty(Sum(pairs_[i].after.runs))) continue;
      if (kept != i) {
        keys_[kept] = std::move(keys_[i]);
        pairs_[kept] = std::move(pairs_[i]);
      }
      ++kept;
    }
    keys_.resize(kept);
    pairs_.resize(kept);
  }

  std::vector<Json> keys_;
  std::vector<profile::Pair> pairs_;

 private:
  size_t before_, after_;
  std::unordered_map<std::string, size_t> index_;
};

std::vector<double> Exposures(const std::vector<DiffInput>& side) {
  std::vector<double> out;
  for (const DiffInput& i : side) out.push_back(i.exposure);
  return out;
}

profile::Measured Totals(const std::vector<DiffInput>& side) {
  profile::Measured m;
  for (const DiffInput& i : side) m.runs.push_back(i.input.profile.Total());
  m.exposures = Exposures(side);
  return m;
}

// A row of processes that know no AllocationSampled has no known error.
profile::Source SourceOf(const profile::Pair& pair, profile::Source source) {
  return Sum(pair.before.runs).biased || Sum(pair.after.runs).biased ? profile::Source::kTick
                                                                     : source;
}

DiffRow RowOf(Json key, const profile::Pair& pair, const profile::Difference& difference) {
  return {std::move(key), difference, Sum(pair.before.runs), Sum(pair.after.runs), {}};
}

void SetTotal(const profile::Pair& totals, DiffTable& table) {
  profile::Spread own = profile::SpreadOf({&totals, 1}, table.metric, table.source);
  own.chance = table.spread.chance;  // of many rows it is known better
  profile::Difference total =
      profile::Compare(totals, table.metric, SourceOf(totals, table.source), own);
  profile::NameChanges({&total, 1});
  table.total = RowOf({}, totals, total);
}

void SortRows(DiffTable& table) {
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    if (a.difference.changed != b.difference.changed) return a.difference.changed;
    return std::abs(a.difference.difference) > std::abs(b.difference.difference);
  });
}

// The requests of one route, run by run.
struct RouteRuns {
  struct Run {
    Estimate value;  // of the measure that is shown
    double count = 0;
    std::optional<double> errors;
  };
  std::vector<Run> runs;
  profile::Durations durations;

  RouteRuns& operator+=(const RouteRuns& other) {
    for (size_t i = 0; i < std::min(runs.size(), other.runs.size()); ++i) {
      const Run& run = other.runs[i];
      if (run.count <= 0) continue;
      // What is not known of one is not known of all.
      if (runs[i].count <= 0)
        runs[i].errors = run.errors;
      else if (runs[i].errors)
        runs[i].errors = run.errors ? std::optional(*runs[i].errors + *run.errors) : std::nullopt;
      runs[i].value += run.value;
      runs[i].count += run.count;
    }
    durations += other.durations;
    return *this;
  }

  // Of the runs in which it was asked for.
  profile::Measured Asked() const {
    profile::Measured out;
    for (const Run& run : runs) {
      if (run.count <= 0) continue;
      out.runs.push_back(run.value);
      out.exposures.push_back(run.count);
    }
    return out;
  }

  RouteSide Side() const {
    RouteSide side;
    side.durations = durations;
    bool known = true;
    double errors = 0;
    for (const Run& run : runs) {
      if (run.count <= 0) continue;
      side.count += run.count;
      known = known && run.errors;
      errors += run.errors.value_or(0);
    }
    if (known && side.count > 0) side.errors = errors;
    return side;
  }
};
struct Route {
  RouteRuns before, after;
  RouteSides Sides() const { return {before.Side(), after.Side()}; }
};
using RouteName = std::pair<std::string, std::string>;  // process, "" where there is one; route

bool AnySeveralPrograms(const std::vector<DiffInput>& side) {
  return std::any_of(side.begin(), side.end(), [](const DiffInput& i) {
    const profile::Profile& p = i.input.profile;
    return std::any_of(
        p.processes.begin(), p.processes.end(),
        [&](const profile::Process& process) { return process.name != p.processes.front().name; });
  });
}

void AddRoutes(const std::vector<DiffInput>& side, bool is_after, bool processes,
               std::map<RouteName, Route>& routes) {
  for (size_t i = 0; i < side.size(); ++i) {
    const profile::Profile& p = side[i].input.profile;
    std::map<std::pair<uint32_t, std::string_view>, Estimate> values;
    for (const profile::Cell& c : p.shown().cells)
      values[{c.process, p.RequestName(p.labels[c.labels])}] += c.value;
    for (const RequestRow& r : RequestRows(p, "count", kAllRows).rows) {
      if (!r.is_route || r.count <= 0) continue;
      RouteRuns one;
      one.runs.resize(side.size());
      one.runs[i].value = values[{r.process, r.route}];
      one.runs[i].count = r.count;
      if (!p.requests.narrowed && r.facts.counted > 0) one.runs[i].errors = r.facts.failed;
      one.durations = r.durations;
      const std::string_view process = processes ? p.str(p.processes[r.process].name) : "";
      Route& route = routes[{std::string(process), std::string(r.route)}];
      RouteRuns& into = is_after ? route.after : route.before;
      into.runs.resize(side.size());
      into += one;
    }
  }
}

}  // namespace

DiffTable MakeDiff(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                   View view, profile::Metric metric, bool framework) {
  Matcher matcher(before.size(), after.size());
  RowOptions options;
  options.framework = framework;
  SharedTypeNames names;
  for (const std::vector<DiffInput>* side : {&before, &after})
    for (const DiffInput& run : *side) names.Add(run.input.profile);
  names.Finish();
  const auto add = [&](const std::vector<DiffInput>& side, bool is_after) {
    for (size_t run = 0; run < side.size(); ++run)
      for (const ReportRow& row : MakeTable(side[run].input.profile, view, options).rows) {
        Json key = Identity(row.key, view);
        names.Apply(key);
        matcher.Add(key, view == View::kMethod ? row.self : row.value, is_after, run);
      }
  };
  add(before, false);
  add(after, true);
  DiffTable table;
  table.view = view;
  table.metric = metric;
  table.measure = before.front().input.profile.measure();
  table.source = before.front().input.profile.shown().source;
  if (profile::IsEvent(table.source)) matcher.DropEmpty(metric);
  for (profile::Pair& pair : matcher.pairs_) {
    pair.before.exposures = Exposures(before);
    pair.after.exposures = Exposures(after);
  }
  table.spread = profile::SpreadOf(matcher.pairs_, metric, table.source);
  std::vector<profile::Difference> differences;
  for (const profile::Pair& pair : matcher.pairs_)
    differences.push_back(
        profile::Compare(pair, metric, SourceOf(pair, table.source), table.spread));
  profile::NameChanges(differences);

  SetTotal({Totals(before), Totals(after)}, table);

  for (size_t i = 0; i < differences.size(); ++i) {
    table.rows.push_back(RowOf(std::move(matcher.keys_[i]), matcher.pairs_[i], differences[i]));
    table.changed += differences[i].changed;
  }
  SortRows(table);
  return table;
}

double RequestCount(const profile::Profile& p) {
  double count = 0;
  for (const RequestRow& r : RequestRows(p, "count", kAllRows).rows)
    if (r.is_route) count += r.count;
  return count;
}

DiffTable MakeRequestDiff(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                          profile::Metric metric) {
  std::map<RouteName, Route> routes;
  const bool processes = AnySeveralPrograms(before) || AnySeveralPrograms(after);
  AddRoutes(before, false, processes, routes);
  AddRoutes(after, true, processes, routes);
  DiffTable table;
  table.view = View::kRequest;
  table.metric = metric;
  table.measure = before.front().input.profile.measure();
  table.source = before.front().input.profile.shown().source;
  std::vector<profile::Pair> pairs;
  for (const auto& [name, route] : routes)
    pairs.push_back({route.before.Asked(), route.after.Asked()});
  table.spread = profile::SpreadOf(pairs, metric, table.source);
  std::vector<profile::Difference> differences;
  for (const profile::Pair& pair : pairs) {
    differences.push_back(
        profile::Compare(pair, metric, SourceOf(pair, table.source), table.spread));
    if (!pair.before.runs.empty() && !pair.after.runs.empty()) continue;
    profile::Difference& d = differences.back();
    d.difference = 0;
    d.difference_interval = {};
    d.p_value.reset();
  }
  profile::NameChanges(differences);

  Route all;
  all.before.runs.resize(before.size());
  all.after.runs.resize(after.size());
  for (const auto& [name, route] : routes) {
    all.before += route.before;
    all.after += route.after;
  }
  SetTotal({all.before.Asked(), all.after.Asked()}, table);
  table.total.requests = all.Sides();
  size_t i = 0;
  for (const auto& [name, route] : routes) {
    Json key{{"request", name.second}};
    if (processes) key["process"] = name.first;
    DiffRow& row = table.rows.emplace_back(RowOf(std::move(key), pairs[i], differences[i]));
    row.requests = route.Sides();
    table.changed += differences[i].changed;
    ++i;
  }
  SortRows(table);
  return table;
}

InputOptions ParseWindow(const std::string& text) {
  InputOptions out;
  out.path = text;
  const size_t at = text.rfind('@');
  if (at == std::string::npos || std::filesystem::exists(text)) return out;
  const size_t dots = text.find("..", at);
  if (dots == std::string::npos) return out;
  out.path = text.substr(0, at);
  out.from = text.substr(at + 1, dots - at - 1);
  out.to = text.substr(dots + 2);
  return out;
}

}  // namespace clrscope::report
