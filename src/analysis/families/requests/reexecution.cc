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

using Cells = std::vector<std::vector<double>>;

// Which column each row belongs to as a whole, so that the sums are right. Rows and columns are
// numbers of requests, columns of some status each.
class WholeRows {
 public:
  static constexpr size_t kMostRows = 16, kMostSteps = 200'000;

  // `may`: whether the row may be of the column.
  WholeRows(const Cells& may, const std::vector<double>& rows, const std::vector<double>& columns,
            std::vector<uint64_t> statuses)
      : may_(may), statuses_(std::move(statuses)) {
    for (const double r : rows) rows_.push_back(std::llround(r));
    for (const double c : columns) left_.push_back(std::llround(c));
    at_.resize(rows_.size());
  }
  // Nothing, unless each row's status is the same in every way to do it.
  std::optional<std::vector<size_t>> Find() {
    if (rows_.size() > kMostRows) return {};
    Try(0);
    if (several_ || steps_ > kMostSteps) return {};
    return found_;
  }

 private:
  void Try(size_t row) {
    if (several_ || ++steps_ > kMostSteps) return;
    if (row == rows_.size()) {
      if (std::any_of(left_.begin(), left_.end(), [](int64_t n) { return n != 0; })) return;
      several_ = found_ &&
                 !std::equal(at_.begin(), at_.end(), found_->begin(),
                             [this](size_t a, size_t b) { return statuses_[a] == statuses_[b]; });
      found_ = at_;
      return;
    }
    for (size_t c = 0; c < left_.size(); ++c) {
      if (left_[c] < rows_[row] || may_[row][c] == 0) continue;
      left_[c] -= rows_[row];
      at_[row] = c;
      Try(row + 1);
      left_[c] += rows_[row];
    }
  }

  const Cells& may_;
  std::vector<uint64_t> statuses_;
  std::vector<int64_t> rows_{}, left_{};
  std::vector<size_t> at_{};
  std::optional<std::vector<size_t>> found_{};
  bool several_ = false;
  size_t steps_ = 0;
};

// Scales `cells`, by row and column, until rows and columns have these sums (iterative proportional
// fitting, Deming & Stephan 1940). False: with these cells there is no way.
bool FitMargins(Cells& cells, const std::vector<double>& rows, const std::vector<double>& columns) {
  const auto fit_columns = [&] {
    for (size_t c = 0; c < columns.size(); ++c) {
      double sum = 0;
      for (const auto& row : cells) sum += row[c];
      for (auto& row : cells) row[c] *= sum > 0 ? columns[c] / sum : 0;
    }
  };
  constexpr int kTurns = 200;
  double off = 0, all = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    fit_columns();
    off = all = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      double sum = 0;
      for (const double cell : cells[r]) sum += cell;
      for (double& cell : cells[r]) cell *= sum > 0 ? rows[r] / sum : 0;
      off += std::abs(rows[r] - sum);
      all += rows[r];
    }
  }
  fit_columns();  // nothing is left at a page
  constexpr double kNear = 1e-3;
  return off <= kNear * all;
}

}  // namespace

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
void Reexecution::FindLacking(Process& p, bool whole) {
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
    if ((p.windows || !whole) && !p.matched.empty() && !page && by_matches)
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
    if (!p.windows && by_chance <= lacking) continue;
    for (Route* r : routes) {
      const double part = by_chance > 0 ? r->lacking / by_chance : own > 0 ? r->own / own : 0;
      r->lacking = std::max(0.0, lacking) * part;
    }
  }
  for (auto& [name, r] : p.routes) {
    // Requests that were matched may go on: where it was told of many how they ended, and none of
    // them ran again.
    constexpr double kEnough = 10, kMostUnseen = 3;
    const bool by_matches = p.windows || !whole;
    if (by_matches && r.looked >= kEnough && r.reexecuted.empty() &&
        r.lacking < kMostUnseen * r.own / r.looked)
      r.lacking = 0;
    if (r.lacking < kOne) r.lacking = 0;
  }
}

// Of the routes of one method. Rows are routes that lack requests, and pages that have failing ones
// of their own; columns are what the histogram counts to pages, by status.
void Reexecution::Solve(uint32_t process, const std::vector<std::pair<uint64_t, Route*>>& routes,
                        bool windows, std::vector<Move>& out) {
  struct Row {
    uint64_t name;
    const Route* route;
    double sum;
    bool stays = false;  // at the page: of these nothing is moved
  };
  struct Column {
    uint64_t page, status;
    double sum, ns;  // ns: of one
  };
  double lacking = 0, surplus = 0;
  for (const auto& [name, r] : routes) {
    lacking += r->lacking;
    surplus += r->surplus;
  }
  // A page's requests that began before the recording, or ended between its end and the histogram's
  // last value, are as the others; but not where nearly all are such.
  const bool few = lacking < surplus / 2;
  const double most = few ? lacking : surplus;
  if (most < kOne || (windows && few)) return;
  std::vector<Row> rows;
  std::vector<Column> columns;
  for (const auto& [name, r] : routes) {
    if (r->lacking > 0) rows.push_back({name, r, r->lacking * most / lacking});
    if (r->surplus == 0) continue;
    const double stays = r->bad() - r->surplus * most / surplus;
    if (stays >= kOne) rows.push_back({name, r, stays, true});
    for (const auto& [status, c] : r->counted)
      if (IsBad(status) && c.count > 0) columns.push_back({name, status, c.count, c.ns / c.count});
  }
  Cells cells(rows.size(), std::vector<double>(columns.size(), 1));
  std::vector<double> row_sums, column_sums;
  std::vector<uint64_t> statuses;
  for (const Column& c : columns) {
    column_sums.push_back(c.sum);
    statuses.push_back(c.status);
  }
  // A page without requests of its own may have some left that began before the recording.
  bool all_looked = true;
  size_t unknown = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Route& r = *rows[i].route;
    row_sums.push_back(rows[i].sum);
    const bool left = rows[i].stays && r.own < kOne;
    all_looked = all_looked && (left || !r.reexecuted.empty());
    unknown += left ? 0 : 1;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (!r.reexecuted.empty()) cells[i][c] = 0;
      for (const auto& [status, n] : r.reexecuted)
        if (status >> 1 == columns[c].status >> 1) cells[i][c] += n;
      if (rows[i].stays && columns[c].page != rows[i].name) cells[i][c] = 0;
    }
  }
  const bool one_status = std::all_of(statuses.begin(), statuses.end(),
                                      [&](uint64_t status) { return status == statuses[0]; });
  bool sure = all_looked || unknown == 1 || one_status;
  std::optional<std::vector<size_t>> whole;
  if (!sure && !windows) whole = WholeRows(cells, row_sums, column_sums, statuses).Find();
  if (whole) {
    sure = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::fill(cells[i].begin(), cells[i].end(), 0);
      cells[i][(*whole)[i]] = rows[i].sum;
    }
  } else if (Cells seen = cells; FitMargins(seen, row_sums, column_sums)) {
    cells = std::move(seen);
  } else {  // what nobody saw may be, too
    constexpr double kUnseen = 1e-3;
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t c = 0; c < columns.size(); ++c)
        if (!rows[i].stays || columns[c].page == rows[i].name) cells[i][c] += kUnseen;
    (void)FitMargins(cells, row_sums, column_sums);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    // What is next to nothing is what nobody saw.
    double& most_of_row = *std::max_element(cells[i].begin(), cells[i].end());
    for (double& cell : cells[i])
      if (&cell != &most_of_row && cell < kOne) most_of_row += std::exchange(cell, 0);
    for (size_t c = 0; c < columns.size(); ++c)
      if (!rows[i].stays && cells[i][c] > 0)
        out.push_back({process, StringId(static_cast<uint32_t>(columns[c].page)),
                       StringId(static_cast<uint32_t>(rows[i].name)), columns[c].status,
                       cells[i][c], cells[i][c] * columns[c].ns,
                       sure || !rows[i].route->reexecuted.empty()});
  }
}

std::vector<Reexecution::Move> Reexecution::Finish(bool whole) {
  std::vector<Move> out;
  for (auto& [index, p] : processes_) {
    FindLacking(p, whole);
    std::map<std::string, std::vector<std::pair<uint64_t, Route*>>> by_method;
    for (auto& [name, r] : p.routes) by_method[r.method].emplace_back(name, &r);
    for (const auto& [method, routes] : by_method) Solve(index, routes, p.windows, out);
  }
  return out;
}

}  // namespace clrscope::analysis
