// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/reexecution.h"

#include <algorithm>
#include <cmath>

namespace clrscope::analysis {

using profile::LabelKey;
using profile::RequestPart;
using profile::RouteKind;

namespace {

constexpr uint32_t kFirstError = 400;
constexpr double kOne = 0.5;  // less is none

bool IsBad(uint64_t status) { return (status & 1) != 0 || status >> 1 >= kFirstError; }

// Which column each row belongs to as a whole, so that the sums are right: the only way, if there
// is exactly one. Rows and columns are numbers of requests.
class WholeRows {
 public:
  static constexpr size_t kMostRows = 16, kMostSteps = 200'000;

  WholeRows(const std::vector<double>& rows, const std::vector<double>& columns) {
    for (const double r : rows) rows_.push_back(std::llround(r));
    for (const double c : columns) left_.push_back(std::llround(c));
    at_.resize(rows_.size());
  }
  std::optional<std::vector<size_t>> Find() {
    if (rows_.size() > kMostRows) return {};
    Try(0);
    if (found_ != 1 || steps_ > kMostSteps) return {};
    return only_;
  }

 private:
  void Try(size_t row) {
    if (found_ > 1 || ++steps_ > kMostSteps) return;
    if (row == rows_.size()) {
      if (std::any_of(left_.begin(), left_.end(), [](int64_t n) { return n != 0; })) return;
      ++found_;
      only_ = at_;
      return;
    }
    for (size_t c = 0; c < left_.size(); ++c) {
      if (left_[c] < rows_[row]) continue;
      left_[c] -= rows_[row];
      at_[row] = c;
      Try(row + 1);
      left_[c] += rows_[row];
    }
  }

  std::vector<int64_t> rows_{}, left_{};
  std::vector<size_t> at_{}, only_{};
  size_t found_ = 0, steps_ = 0;
};

using Cells = std::vector<std::vector<double>>;

// Scales `cells`, by row and column, until rows and columns have these sums (iterative proportional
// fitting, Deming & Stephan 1940). False: with these cells there is no way.
bool FitMargins(Cells& cells, const std::vector<double>& rows, const std::vector<double>& columns) {
  constexpr int kTurns = 200;
  double off = 0, all = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t c = 0; c < columns.size(); ++c) {
      double sum = 0;
      for (const auto& row : cells) sum += row[c];
      for (auto& row : cells) row[c] *= sum > 0 ? columns[c] / sum : 0;
    }
    off = all = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      double sum = 0;
      for (const double cell : cells[r]) sum += cell;
      for (double& cell : cells[r]) cell *= sum > 0 ? rows[r] / sum : 0;
      off += std::abs(rows[r] - sum);
      all += rows[r];
    }
  }
  constexpr double kNear = 1e-3;
  return off <= kNear * all;
}

}  // namespace

// Requests of pages that ended with one status.
struct Reexecution::Column {
  struct Part {
    uint64_t page;
    double count, ns;  // ns: of one
  };
  uint64_t status = 0;
  double count = 0;
  std::vector<Part> parts{};
};

double Reexecution::Route::all() const {
  double sum = 0;
  for (const auto& [status, c] : counted) sum += c.count;
  return sum;
}

double Reexecution::Route::bad() const {
  double sum = 0;
  for (const auto& [status, c] : counted) sum += IsBad(status) ? c.count : 0;
  return sum;
}

void Reexecution::NoteRoute(uint32_t process, StringId name, RouteKind kind,
                            std::string_view method, std::string_view text, StringId of) {
  if (of.value != 0) actions_[{process, name.value}] = of.value;
  Process& p = processes_[process];
  const bool is_template = kind == RouteKind::kTemplate;
  if (method.empty() && (is_template || kind == RouteKind::kNoRoute)) {
    p.matches[name.value] = is_template ? std::optional(std::string(text)) : std::nullopt;
    return;
  }
  if (!is_template && kind != RouteKind::kNoRoute && kind != RouteKind::kPath) return;
  // A path whose template was told later has its name.
  Route& r = p.routes[name.value];
  if (r.kind != RouteKind::kPath) return;
  r.kind = kind;
  r.method = method;
  r.text = text;
}

void Reexecution::Add(uint32_t index, const profile::LabelSet& labels,
                      std::span<const Aggregate::Moment> moments) {
  const auto process = processes_.find(index);
  if (process == processes_.end()) return;
  Process& p = process->second;
  Counted sum;
  for (const Aggregate::Moment& m : moments) {
    sum.count += static_cast<double>(m.sums.stands_for);
    sum.ns += static_cast<double>(m.sums.amount);
  }
  const auto part = static_cast<RequestPart>(labels[LabelKey::kRequestPart]);
  uint64_t name = labels[LabelKey::kRequest];
  if (part == RequestPart::kMatched) {
    if (const auto of = p.matches.find(name); of != p.matches.end())
      (of->second ? p.matched[*of->second] : p.unmatched) += sum.count;
    return;
  }
  if (const auto action = actions_.find({index, name}); action != actions_.end())
    name = action->second;
  const auto route = p.routes.find(name);
  if (route == p.routes.end()) return;
  Route& r = route->second;
  const uint64_t status = labels[LabelKey::kStatus];
  switch (part) {
    case RequestPart::kEnded:
      if (labels[LabelKey::kRequestWindow] == 0) r.ended += sum.count;
      return;
    case RequestPart::kUncounted:
      r.ended -= sum.count;
      return;
    case RequestPart::kWatched:
      p.windows = true;
      r.watched += sum.count;
      return;
    case RequestPart::kCounted:
      r.counted[status].count += sum.count;
      r.counted[status].ns += sum.ns;
      return;
    case RequestPart::kLooked:
      r.looked += sum.count;
      if (status != 0) r.reexecuted[status] += sum.count;
      return;
    default:
      return;
  }
}

// How many requests of its own each route has, what the histogram lacks of them, and what it has
// too many.
void Reexecution::FindLacking(Process& p) {
  double counted = 0, ended = 0, watched = 0;
  for (const auto& [name, r] : p.routes) {
    counted += r.all();
    ended += r.ended;
    watched += r.watched;
  }
  const double scale = watched > 0 ? std::max(1.0, (counted - ended) / watched) : 1;
  std::map<std::pair<bool, std::string>, std::vector<Route*>> alike;  // of whatever method
  for (auto& [name, r] : p.routes) {
    r.own = r.ended + r.watched * scale;
    r.lacking = std::max(0.0, r.own - r.all());
    // In windows a route is seen by chance: a page is one that should have been seen.
    constexpr double kErrors = 3, kExpected = 5;
    const double surplus = std::min(r.bad(), r.all() - r.own);
    const bool seen_by_chance =
        p.windows && (surplus < kErrors * scale * std::sqrt(std::max(1.0, r.watched)) ||
                      r.all() < kExpected * scale);
    const bool page = r.kind == RouteKind::kTemplate && surplus > kOne && !seen_by_chance;
    r.surplus = page ? surplus : 0;
    if (page) r.lacking = 0;
    const bool by_matches =
        r.kind == RouteKind::kTemplate ? p.matched.contains(r.text) : r.kind == RouteKind::kNoRoute;
    if (p.windows && !p.matched.empty() && !page && by_matches)
      alike[{r.kind == RouteKind::kTemplate, r.text}].push_back(&r);
  }
  // What was matched is known of all requests, but not of which method.
  for (const auto& [key, routes] : alike) {
    double lacking = key.first ? p.matched.at(key.second) : p.unmatched, by_chance = 0, own = 0;
    for (const Route* r : routes) {
      lacking -= r->all();
      by_chance += r->lacking;
      own += r->own;
    }
    for (Route* r : routes) {
      const double part = by_chance > 0 ? r->lacking / by_chance : own > 0 ? r->own / own : 0;
      r->lacking = std::max(0.0, lacking) * part;
    }
  }
  for (auto& [name, r] : p.routes) {
    // Requests that have been matched may go on: where it was told of many how they ended, and none
    // of them ran again, few others did.
    constexpr double kEnough = 10, kMostUnseen = 3;
    if (r.looked >= kEnough && r.reexecuted.empty())
      r.lacking = std::min(r.lacking, kMostUnseen * r.own / r.looked);
    if (r.lacking < kOne) r.lacking = 0;
  }
}

// Of the routes of one method.
void Reexecution::Solve(uint32_t process, const std::vector<std::pair<uint64_t, Route*>>& routes,
                        bool windows, std::vector<Move>& out) {
  std::vector<std::pair<uint64_t, const Route*>> lacking;
  std::map<uint64_t, Column> by_status;
  double rows_sum = 0, columns_sum = 0;
  for (const auto& [name, r] : routes) {
    if (r->lacking > 0) lacking.emplace_back(name, r);
    rows_sum += r->lacking;
    columns_sum += r->surplus;
    if (r->surplus == 0) continue;
    const double part = r->surplus / r->bad();
    for (const auto& [status, c] : r->counted) {
      if (!IsBad(status) || c.count <= 0) continue;
      Column& column = by_status[status];
      column.status = status;
      column.count += c.count * part;
      column.parts.push_back({name, c.count * part, c.ns / c.count});
    }
  }
  const double most = std::min(rows_sum, columns_sum);
  if (most < kOne || (windows && rows_sum < columns_sum / 2)) return;
  std::vector<Column> columns;
  std::vector<double> rows, sums;
  for (auto& [status, c] : by_status) {
    sums.push_back(c.count * most / columns_sum);
    columns.push_back(std::move(c));
  }
  bool all_looked = true;
  Cells cells(lacking.size(), std::vector<double>(columns.size(), 1));
  for (size_t i = 0; i < lacking.size(); ++i) {
    const Route& r = *lacking[i].second;
    rows.push_back(r.lacking * most / rows_sum);
    all_looked = all_looked && !r.reexecuted.empty();
    if (r.reexecuted.empty()) continue;
    for (size_t c = 0; c < columns.size(); ++c) {
      cells[i][c] = 0;
      for (const auto& [status, n] : r.reexecuted)
        if (status >> 1 == columns[c].status >> 1) cells[i][c] += n;
    }
  }
  bool sure = all_looked || rows.size() == 1 || columns.size() == 1;
  std::optional<std::vector<size_t>> whole;
  if (!sure && !windows) whole = WholeRows(rows, sums).Find();
  if (whole) {
    sure = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::fill(cells[i].begin(), cells[i].end(), 0);
      cells[i][(*whole)[i]] = rows[i];
    }
  } else if (Cells seen = cells; FitMargins(seen, rows, sums)) {
    cells = std::move(seen);
  } else {  // what nobody saw may be, too
    constexpr double kUnseen = 1e-3;
    for (std::vector<double>& row : cells)
      for (double& cell : row) cell += kUnseen;
    (void)FitMargins(cells, rows, sums);
  }
  // What is next to nothing is what nobody saw.
  for (std::vector<double>& row : cells) {
    double& most_of_row = *std::max_element(row.begin(), row.end());
    for (double& cell : row)
      if (&cell != &most_of_row && cell < kOne) most_of_row += std::exchange(cell, 0);
  }
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t c = 0; c < columns.size(); ++c)
      for (const Column::Part& part : columns[c].parts) {
        const double count = cells[i][c] * part.count / columns[c].count;
        if (count <= 0) continue;
        out.push_back({process, StringId(static_cast<uint32_t>(part.page)),
                       StringId(static_cast<uint32_t>(lacking[i].first)), columns[c].status, count,
                       count * part.ns, sure || !lacking[i].second->reexecuted.empty()});
      }
}

std::vector<Reexecution::Move> Reexecution::Finish() {
  std::vector<Move> out;
  for (auto& [index, p] : processes_) {
    FindLacking(p);
    std::map<std::string, std::vector<std::pair<uint64_t, Route*>>> by_method;
    for (auto& [name, r] : p.routes) by_method[r.method].emplace_back(name, &r);
    for (const auto& [method, routes] : by_method) Solve(index, routes, p.windows, out);
  }
  return out;
}

}  // namespace clrscope::analysis
