// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/reexecution.h"

#include <algorithm>
#include <cmath>

namespace clrscope::analysis {

using profile::LabelKey;
using profile::RequestPart;
using profile::RouteKind;

namespace {

constexpr uint32_t kFirstFailingStatus = 400;
constexpr double kLeastMoved = 0.5;  // requests; less is none

bool IsFailingStatus(uint64_t status) {
  return (status & 1) != 0 || status >> 1 >= kFirstFailingStatus;
}

using SharedCells = std::vector<std::vector<double>>;

// Which column each row belongs to as a whole, so that the sums are right. Rows and columns are
// numbers of requests, columns of some status each.
class WholeRows {
 public:
  static constexpr size_t kMostRows = 16, kMostSteps = 200'000;

  // `may`: whether the row may be of the column.
  WholeRows(const SharedCells& may, const std::vector<double>& rows,
            const std::vector<double>& columns, std::vector<uint64_t> statuses)
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

  const SharedCells& may_;
  std::vector<uint64_t> statuses_;
  std::vector<int64_t> rows_{}, left_{};
  std::vector<size_t> at_{};
  std::optional<std::vector<size_t>> found_{};
  bool several_ = false;
  size_t steps_ = 0;
};

// Scales `cells`, by row and column, until rows and columns have these sums (iterative proportional
// fitting, Deming & Stephan 1940). False: with these cells there is no way.
bool FitMargins(SharedCells& cells, const std::vector<double>& rows,
                const std::vector<double>& columns) {
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

// Rows of whole numbers, whose columns have the same sums, rounded.
void RoundColumns(SharedCells& cells) {
  if (cells.empty()) return;
  for (size_t c = 0; c < cells[0].size(); ++c) {
    double sum = 0, before = 0;
    for (std::vector<double>& row : cells) {
      sum += row[c];
      row[c] = std::round(sum) - before;
      before += row[c];
    }
  }
}

}  // namespace

double Reexecution::Route::all() const {
  double sum = 0;
  for (const auto& [status, c] : counted) sum += c.count;
  return sum;
}

double Reexecution::Route::bad() const {
  double sum = 0;
  for (const auto& [status, c] : counted) sum += IsFailingStatus(status) ? c.count : 0;
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
      (labels[LabelKey::kRequestWindow] == 0 ? r.ended : r.watched_ended) += sum.count;
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
// too many. `partly`: in windows, or in a range of time.
void Reexecution::FindLacking(Process& p, bool partly) {
  double counted = 0, ended = 0, watched = 0;
  for (const auto& [name, r] : p.routes) {
    counted += r.all();
    ended += r.ended;
    watched += r.watched;
  }
  const double scale = watched > 0 ? std::max(1.0, (counted - ended) / watched) : 1;
  // The histogram's last value is of an interval that ends up to a second after the recording.
  const double tail = watched == 0 && ended > 0 ? std::max(1.0, counted / ended) : 1;
  std::map<std::pair<bool, std::string>, std::vector<Route*>> alike;  // of whatever method
  for (auto& [name, r] : p.routes) {
    r.own = r.ended * tail + r.watched * scale;
    r.lacking = std::max(0.0, r.own - r.all());
    // In windows a route is seen by chance, and in a range of time the histogram counts others than
    // were followed: a page is one that should have been seen, and most of its count is of others.
    constexpr double kErrors = 3, kExpected = 5;
    const double surplus = std::min(r.bad(), r.all() - r.own);
    const double error = kErrors * std::sqrt((tail - 1) * r.ended);
    const bool by_chance =
        (p.windows && (surplus < kErrors * scale * std::sqrt(std::max(1.0, r.watched)) ||
                       r.all() < kExpected * scale)) ||
        (partly && r.own > surplus) || surplus <= error;
    const bool page = r.kind == RouteKind::kTemplate && surplus > kLeastMoved && !by_chance;
    r.surplus = page ? surplus : 0;
    const bool by_matches =
        r.kind == RouteKind::kTemplate ? p.matched.contains(r.text) : r.kind == RouteKind::kNoRoute;
    if (page || !by_matches)
      r.lacking = 0;
    else
      alike[{r.kind == RouteKind::kTemplate, r.text}].push_back(&r);
  }
  // What was matched and not counted, in one session and of every request, but of whatever method.
  // Requests that go on are matched only. What answers before routing, such as static files, is
  // counted only: without a route, only failures may be of requests that nothing matched.
  for (const auto& [key, routes] : alike) {
    double lacking = key.first ? p.matched.at(key.second) : p.unmatched, of_each = 0, own = 0;
    for (const Route* r : routes) {
      lacking -= key.first ? r->all() : r->bad();
      of_each += r->lacking;
      own += r->own;
    }
    if (!p.windows && of_each <= lacking) continue;
    for (Route* r : routes) {
      const double part = of_each > 0 ? r->lacking / of_each : own > 0 ? r->own / own : 0;
      r->lacking = std::max(0.0, lacking) * part;
    }
  }
  for (auto& [name, r] : p.routes)
    if (r.lacking < kLeastMoved) r.lacking = 0;
}

// More is lacking than ran again: requests go on, or the program counts a route nowhere
// (DisableHttpMetrics). What was told of a route's requests decides how many may have run again.
double Reexecution::LackingAsTold(const Route& r, bool windows, bool partly) {
  constexpr double kEnough = 10, kMostUnseen = 3;
  double seen = 0;
  for (const auto& [status, n] : r.reexecuted) seen += IsFailingStatus(status) ? n : 0;
  double lacking = r.lacking;
  if (seen > 0) {
    // Of those that were told, and two errors of a Poisson number more.
    lacking = std::min(lacking, r.own * (seen + 2 * std::sqrt(seen) + kMostUnseen) / r.looked);
  } else if (r.looked >= kEnough && (partly || lacking > kMostUnseen * r.own / r.looked)) {
    lacking = 0;
  } else if (windows && r.ended == 0 && r.watched_ended == 0) {
    lacking = 0;
  }
  return lacking < kLeastMoved ? 0 : lacking;
}

// Of the routes of one method. Rows are routes that lack requests, and pages that have failing ones
// of their own; columns are what the histogram counts to pages, by status.
void Reexecution::Solve(uint32_t process, const std::vector<std::pair<uint64_t, Route*>>& routes,
                        bool windows, bool partly, std::vector<Move>& out) {
  double lacking = 0, told = 0, surplus = 0, bad = 0;
  const auto add_up = [&] {
    lacking = told = surplus = bad = 0;
    for (const auto& [name, r] : routes) {
      lacking += r->lacking;
      told += r->reexecuted.empty() ? 0 : r->lacking;
      surplus += r->surplus;
      bad += r->surplus > 0 ? r->bad() : 0;
    }
  };
  const auto too_many = [&] {
    constexpr double kFew = 2, kWhole = 0.005, kPartly = 0.05;
    return lacking > surplus + std::max(kFew, (partly ? kPartly : kWhole) * surplus);
  };
  add_up();
  // What goes on is no second run; in windows and ranges of time there is always some.
  const bool more = too_many();
  for (const auto& [name, r] : routes)
    if (more || (partly && r->reexecuted.empty())) r->lacking = LackingAsTold(*r, windows, partly);
  add_up();
  if (lacking < kLeastMoved || surplus < kLeastMoved) return;
  // Still too many: routes of which it was told, or the only way to leave routes out.
  constexpr double kNearly = 0.9;
  const auto move = [&](bool only_told, bool leave_out) {
    const double all_lacking = only_told ? told : lacking;
    if (all_lacking < kLeastMoved || (partly && all_lacking < surplus / 2)) return false;
    const bool all = leave_out || all_lacking >= kNearly * surplus;
    const double most = all ? surplus : all_lacking;
    std::vector<Row> rows;
    std::vector<Column> columns;
    for (const auto& [name, r] : routes) {
      if (r->lacking > 0 && (!only_told || !r->reexecuted.empty()))
        rows.push_back({name, r, r->lacking * (leave_out ? 1 : most / all_lacking), false});
      if (r->surplus == 0) continue;
      if (const double own = r->bad() - r->surplus; all && own >= kLeastMoved)
        rows.push_back({name, r, own, true});
      for (const auto& [status, c] : r->counted)
        if (IsFailingStatus(status) && c.count > 0)
          columns.push_back({name, status, c.count, c.ns / c.count});
    }
    // Of which page the rest is, is not known.
    if (!all) rows.push_back({0, nullptr, bad - most, true});
    // No page: what was not counted at all.
    if (leave_out) columns.push_back({0, 0, lacking - surplus, 0});
    Certainty certainty;
    const SharedCells cells = Share(rows, columns, partly, leave_out, certainty);
    for (size_t i = 0; i < cells.size(); ++i)
      for (size_t c = 0; c < columns.size(); ++c)
        if (!rows[i].stays && columns[c].page != 0 && cells[i][c] > 0)
          out.push_back({process, StringId(static_cast<uint32_t>(columns[c].page)),
                         StringId(static_cast<uint32_t>(rows[i].name)), columns[c].status,
                         cells[i][c], cells[i][c] * columns[c].ns,
                         certainty.all || (certainty.told && !rows[i].route->reexecuted.empty())});
    return !cells.empty();
  };
  if (!too_many())
    (void)move(false, false);
  else if (partly || told >= kNearly * surplus || !move(false, true))
    (void)move(true, false);
}

// How many of each row are of each column; empty: it cannot be known. `only_whole`: only if there
// is one way in which rows are of one column as a whole.
std::vector<std::vector<double>> Reexecution::Share(const std::vector<Row>& rows,
                                                    const std::vector<Column>& columns, bool partly,
                                                    bool only_whole, Certainty& certainty) {
  SharedCells cells(rows.size(), std::vector<double>(columns.size(), 1));
  std::vector<double> row_sums, column_sums;
  std::vector<uint64_t> statuses;
  for (const Column& c : columns) {
    column_sums.push_back(c.sum);
    statuses.push_back(c.status);
  }
  const auto may = [&](size_t i, size_t c) {
    return !rows[i].stays || rows[i].name == 0 || columns[c].page == rows[i].name;
  };
  bool all_told = true;
  double least = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    row_sums.push_back(rows[i].sum);
    least = i == 0 ? rows[i].sum : std::min(least, rows[i].sum);
    for (size_t c = 0; c < columns.size(); ++c) {
      if (rows[i].stays) {
        cells[i][c] = may(i, c) ? columns[c].sum : 0;  // nothing is told of these
        continue;
      }
      const auto& told = rows[i].route->reexecuted;
      if (!told.empty()) cells[i][c] = 0;
      for (const auto& [status, n] : told)
        if (status >> 1 == columns[c].status >> 1) cells[i][c] += n;
    }
    all_told = all_told && (rows[i].stays || !rows[i].route->reexecuted.empty());
  }
  const bool one_status = std::all_of(statuses.begin(), statuses.end(),
                                      [&](uint64_t status) { return status == statuses[0]; });
  const bool one_way = one_status || rows.size() == 1;
  certainty.all = one_way;
  if (!partly && ((!one_way && !all_told) || only_whole)) {
    const auto whole = WholeRows(cells, row_sums, column_sums, statuses).Find();
    if (only_whole && !whole) return {};
    if (whole) {
      // Few may add up by chance.
      constexpr double kMany = 20;
      certainty.all = least >= kMany;
      for (size_t i = 0; i < rows.size(); ++i) {
        std::fill(cells[i].begin(), cells[i].end(), 0);
        cells[i][(*whole)[i]] = rows[i].sum;
      }
      return cells;
    }
  }
  if (SharedCells seen = cells; FitMargins(seen, row_sums, column_sums)) {
    cells = std::move(seen);
    certainty.told = true;
  } else {  // what nobody saw may be, too
    constexpr double kUnseen = 1e-3;
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t c = 0; c < columns.size(); ++c)
        if (may(i, c)) cells[i][c] += kUnseen;
    (void)FitMargins(cells, row_sums, column_sums);
  }
  RoundColumns(cells);
  return cells;
}

std::vector<Reexecution::Move> Reexecution::Finish(bool whole) {
  std::vector<Move> out;
  for (auto& [index, p] : processes_) {
    if (p.matched.empty()) continue;  // there is no counter of matches, or another tool's limits
    const bool partly = p.windows || !whole;
    FindLacking(p, partly);
    std::map<std::string, std::vector<std::pair<uint64_t, Route*>>> by_method;
    for (auto& [name, r] : p.routes) by_method[r.method].emplace_back(name, &r);
    for (const auto& [method, routes] : by_method) Solve(index, routes, p.windows, partly, out);
  }
  return out;
}

}  // namespace clrscope::analysis
