// SPDX-License-Identifier: Apache-2.0
#include "report/rows/diff_rows.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_map>

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
  return {std::move(key), difference, Sum(pair.before.runs), Sum(pair.after.runs)};
}

}  // namespace

DiffTable MakeDiff(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                   View view, profile::Metric metric, bool framework) {
  Matcher matcher(before.size(), after.size());
  RowOptions options;
  options.framework = framework;
  const auto add = [&](const std::vector<DiffInput>& side, bool is_after) {
    for (size_t run = 0; run < side.size(); ++run)
      for (const ReportRow& row : MakeTable(side[run].input.profile, view, options).rows)
        matcher.Add(Identity(row.key, view), view == View::kMethod ? row.self : row.value, is_after,
                    run);
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

  const profile::Pair totals{Totals(before), Totals(after)};
  profile::Spread own = profile::SpreadOf({&totals, 1}, metric, table.source);
  own.chance = table.spread.chance;  // of many rows it is known better
  profile::Difference total = profile::Compare(totals, metric, SourceOf(totals, table.source), own);
  profile::NameChanges({&total, 1});
  table.total = RowOf({}, totals, total);

  for (size_t i = 0; i < differences.size(); ++i) {
    table.rows.push_back(RowOf(std::move(matcher.keys_[i]), matcher.pairs_[i], differences[i]));
    table.changed += differences[i].changed;
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    if (a.difference.changed != b.difference.changed) return a.difference.changed;
    return std::abs(a.difference.difference) > std::abs(b.difference.difference);
  });
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
