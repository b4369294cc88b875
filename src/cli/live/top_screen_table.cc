// SPDX-License-Identifier: Apache-2.0
// The table of a view, and the call tree that a row opens into.
#include <fmt/format.h>
#define NCURSES_NOMACROS
#include <ncurses.h>

#include <algorithm>

#include "cli/live/top_screen.h"
#include "cli/live/top_words.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"

namespace clrscope::cli {
namespace {

using analysis::LiveBy;

// Where the columns are, in columns of the screen.
struct RowColumns {
  const bool wide = COLS >= 100;
  const int trend = wide ? 20 : 10;  // how wide
  const int at_error = 11, at_objects = 18, at_share = 28, at_trend = 36;
  const int at_total = at_trend + trend + 1, at_name = at_total + 10;
};

std::string ViewTitle(const TopModel& m) {
  const std::string place(m.spec().place);
  switch (m.by) {
    case LiveBy::kType:
      return "Type";
    case LiveBy::kSite:
      return m.spec().typed ? fmt::format("Type ← {}", place) : place;
    case LiveBy::kProcess:
      return "Process";
    case LiveBy::kRequest:
      return "Request";
    case LiveBy::kThread:
      break;
  }
  return "Thread";
}

// Of a rate, in a column of nine.
std::string Heading(const profile::Quantity& q) {
  constexpr size_t kRoom = 9;
  const std::string rate = fmt::format("{}/s", q.heading);
  return rate.size() <= kRoom ? rate : std::string(q.heading);
}

const char* WhyEmpty(const TopModel& m) {
  return !m.filter.empty() || m.typing  ? "nothing matches the filter"
         : m.view().processes().empty() ? "no .NET process yet"
         : m.by == LiveBy::kRequest && !m.Recorded(profile::Measure::kRequests)
             ? std::all_of(m.view().processes().begin(), m.view().processes().end(),
                           [](const auto& p) { return p.event_sources_off; })
                   ? "requests are not known: the program has EventSource switched off"
                   : "requests are not recorded: start top with --requests"
         : m.measure == profile::Measure::kCpu && !m.KnowsWhatRuns() &&
                 m.Recorded(profile::Measure::kWall)
             ? "the runtime's sampler does not report here what runs (w: wall time)"
         : m.measure == profile::Measure::kCpu && !m.Recorded(m.measure)
             ? "CPU time is not sampled: start top with --cpu"
         : m.measure == profile::Measure::kWall && !m.Recorded(m.measure)
             ? "wall time is not sampled: start top with --wall"
         : !m.sampled()                   ? "nothing yet"
         : m.view().tables().second() < 3 ? "waiting for the first samples …"
                                          : "nothing was sampled: about one in 100 KB is";
}

}  // namespace

void TopScreen::DrawRows(const TopModel& m, int top, int height) {
  DrawHeadings(m, top);
  const auto visible = static_cast<size_t>(std::max(height - 1, 1));
  if (m.selected() < first_) first_ = m.selected();
  if (m.selected() >= first_ + visible) first_ = m.selected() - visible + 1;
  if (first_ >= m.rows().size()) first_ = 0;
  if (m.rows().empty()) Text(top + 2, 2, WhyEmpty(m), COLS - 2);
  for (size_t i = first_; i < std::min(m.rows().size(), first_ + visible); ++i) {
    const TopRow& r = m.rows()[i];
    const int y = top + 1 + static_cast<int>(i - first_);
    const int style = static_cast<int>(i == m.selected()                  ? A_STANDOUT
                                       : r.window.samples == 0 || r.ended ? A_DIM
                                                                          : A_NORMAL);
    ::attron(style);
    if (i == m.selected()) ::mvhline(y, 0, ' ', COLS);
    DrawFigures(m, r, y);
    DrawNames(r, y);
    ::attroff(style);
  }
}

void TopScreen::DrawHeadings(const TopModel& m, int y) {
  const RowColumns c;
  ::attron(A_REVERSE);
  ::mvhline(y, 0, ' ', COLS);
  Right(y, 0, Heading(m.first()), 10);
  if (m.sampled()) Text(y, c.at_error, "95 %", 6);
  Right(y, c.at_objects, Heading(m.other()), 9);
  Right(y, c.at_share, "Share", 7);
  Text(y, c.at_trend, c.wide ? "Last 20 s" : "Trend", c.trend);
  Right(y, c.at_total, "Total", 9);
  Text(y, c.at_name, ViewTitle(m), COLS - c.at_name);
  ::attroff(A_REVERSE);
}

void TopScreen::DrawFigures(const TopModel& m, const TopRow& r, int y) {
  const RowColumns c;
  const bool idle = r.window.samples == 0;
  const auto seconds = static_cast<double>(m.covered());
  Right(y, 0, idle ? "0" : FirstText(m, m.First(r.window) / seconds), 10);
  if (m.sampled()) Text(y, c.at_error, ErrorText(r.window, r.biased), 6);
  if (m.tables().objects_known())
    Right(y, c.at_objects, idle ? "0" : OtherText(m, m.Other(r.window) / seconds), 9);
  Right(y, c.at_share, idle ? "" : report::HumanShare(m.First(r.window), m.First(m.window())), 7);
  Text(y, c.at_trend, SparkText(r.trend, static_cast<size_t>(c.trend)), c.trend);
  Right(y, c.at_total, FirstText(m, m.First(r.total)), 9);
}

void TopScreen::DrawNames(const TopRow& r, int y) {
  int x = RowColumns().at_name;
  int room = COLS - x;
  if (!r.process.empty() && room > 40) {
    Text(y, x, r.process, 18);
    x += 20;
    room -= 20;
  }
  if (r.method.empty()) {
    Text(y, x, report::ShortenName(r.name, static_cast<size_t>(std::max(room, 1))), room);
    return;
  }
  const int half = std::max(room * 2 / 5, 8);
  const std::string type = report::ShortenName(r.name, static_cast<size_t>(half));
  Text(y, x, type, half);
  const int used = static_cast<int>(report::DisplayWidth(type));
  Text(y, x + used, " ← ", 3);
  const int rest = room - used - 3;
  if (rest > 0)
    Text(y, x + used + 3, report::ShortenName(r.method, static_cast<size_t>(rest)), rest);
}

void TopScreen::DrawTree(const TopModel& m, int top, int height) {
  ::attron(A_REVERSE);
  ::mvhline(top, 0, ' ', COLS);
  Text(
      top, 0,
      fmt::format(" {} of {} since the start: {}", m.tree_bottom_up() ? "Callers" : "Call tree",
                  report::ShortenName(m.tree_title(), static_cast<size_t>(std::max(COLS - 50, 10))),
                  FirstText(m, m.tree_total())),
      COLS);
  ::attroff(A_REVERSE);
  const auto visible = static_cast<size_t>(std::max(height - 1, 1));
  const size_t first = m.selected() >= visible ? m.selected() - visible + 1 : 0;
  if (m.tree().empty()) Text(top + 2, 2, "its stacks are gone: the process has ended", COLS - 2);
  for (size_t i = first; i < std::min(m.tree().size(), first + visible); ++i) {
    const TopTreeLine& line = m.tree()[i];
    const int y = top + 1 + static_cast<int>(i - first);
    if (i == m.selected()) {
      ::attron(A_STANDOUT);
      ::mvhline(y, 0, ' ', COLS);
    }
    Right(y, 0, FirstText(m, m.First(line.value)), 10);
    Right(y, 11, report::HumanShare(m.First(line.value), m.tree_total()), 7);
    const int x = 20 + std::min(static_cast<int>(line.depth), std::max(COLS - 60, 4));
    Text(y, x, line.can_open ? line.open ? "▾" : "▸" : " ", 1);
    Text(y, x + 2, report::ShortenName(line.name, static_cast<size_t>(std::max(COLS - x - 2, 8))),
         COLS - x - 2);
    ::attroff(A_STANDOUT);
  }
}

}  // namespace clrscope::cli
