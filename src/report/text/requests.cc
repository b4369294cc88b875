// SPDX-License-Identifier: Apache-2.0
#include "report/text/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/window_note.h"
#include "report/input/input.h"
#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using profile::Profile;

std::string TimeCell(double ns) { return ns > 0 ? HumanTime(ns / 1e9) : ""; }
std::string CountCell(double n) {
  return n > 0 ? Thousands(static_cast<uint64_t>(std::llround(n))) : "";
}

// Of one request on average; too short to matter: nothing.
std::string EachCell(const RequestRow& r, double ns) {
  constexpr double kLeast = 1e4;
  return r.count > 0 && ns / r.count >= kLeast ? TimeCell(ns / r.count) : "";
}

bool AnyRecorded(const Profile& p, profile::Measure m) {
  return std::any_of(p.processes.begin(), p.processes.end(), [m](const profile::Process& process) {
    return process.measures == 0 || process.Recorded(m);
  });
}

// Of a route, those that took longest in all.
constexpr size_t kMostChildren = 3;
constexpr size_t kColumnGap = 2, kLeastRoute = 24, kLeastPath = 16;

struct Lines {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows{};
  std::vector<bool> few{};

  void Empty(size_t column) {
    for (auto& row : rows) row[column].clear();
  }
  size_t WidthOf(size_t column) const {
    size_t width = 0;
    for (const auto& row : rows) width = std::max(width, DisplayWidth(row[column]));
    return width == 0 ? 0 : std::max(width, DisplayWidth(columns[column].title));
  }
  // What is left for the columns from `first` on.
  size_t RoomFor(size_t first, size_t width) const {
    size_t used = 0;
    for (size_t c = 0; c < first; ++c)
      if (const size_t w = WidthOf(c); w > 0) used += w + kColumnGap;
    return used >= width ? 0 : width - used;
  }
  std::string Render(const TextOptions& o) {
    TextTable text(std::move(columns));
    for (size_t i = 0; i < rows.size(); ++i) text.Add(std::move(rows[i]), !few.empty() && few[i]);
    return text.Render(o.width, o.style);
  }
};

// Names have the room first: empties the columns `drop`, one after the other, until those from
// `first` on have `wanted`. Returns what they have.
size_t MakeRoom(Lines& lines, size_t first, size_t wanted, std::initializer_list<size_t> drop,
                size_t width) {
  for (const size_t column : drop) {
    if (lines.RoomFor(first, width) >= wanted) break;
    lines.Empty(column);
  }
  return lines.RoomFor(first, width);
}

// "GET /shop/orders/{id}/parts/{part}" → "GET /shop/or…/parts/{part}": which method it is stays.
std::string ShortenRoute(std::string_view route, size_t width) {
  const size_t space = route.find(' ');
  if (space == std::string_view::npos || route[0] == '(' || width < space + 8)
    return ShortenMiddle(route, width);
  return std::string(route.substr(0, space + 1)) +
         ShortenMiddle(route.substr(space + 1), width - space - 1);
}

// The runtime counts to the page what ran again for it.
std::string ErrorPagesText(const Profile& p, const TextOptions& o) {
  constexpr size_t kMostPages = 3;
  double reexecuted = 0;
  bool sure = true;
  std::set<std::string_view> all;
  for (const profile::RouteFacts& f : p.requests.routes) {
    reexecuted += f.reexecuted;
    sure = sure && (f.statuses_sure || f.reexecuted == 0);
    if (f.error_page) all.insert(p.str(f.route));
  }
  if (reexecuted == 0 || p.requests.narrowed) return "";
  std::string pages;
  size_t count = 0;
  for (const std::string_view page : all) {
    if (++count > kMostPages) break;
    pages += (count == 1 ? "" : ", ") + Printable(page);
  }
  if (count > kMostPages) pages += ", …";
  std::string out =
      Wrap(fmt::format("{} ran again for an error page{}. They count to their own routes",
                       CountCell(reexecuted), pages.empty() ? "" : " (" + pages + ")"),
           0, 0, o.width);
  if (!sure)
    out += Wrap(
        "Of some of these it is not known with which status they ended: where routes of one "
        "method ran again for pages of several statuses, their errors are estimated",
        0, 0, o.width);
  return out;
}

}  // namespace

std::string RequestsText(const RequestTable& table, const Profile& p, const TextOptions& o) {
  const bool bytes =
      p.figures.front().by_request() && AnyRecorded(p, profile::Measure::kAllocations);
  const bool wide = o.width >= 100;
  enum Column : size_t {
    kFew,
    kCount,
    kErrors,
    kP50,
    kP95,
    kBytes,
    kError,
    kEach,
    kCpu,
    kThrown,
    kLockWait,
    kQueued,
    kAwaiting,
    kGc,
    kProcess,
    kRequest
  };
  Lines lines{{{"", Align::kLeft},
               {"Count", Align::kRight},
               {"Errors", Align::kRight},
               {"p50", Align::kRight},
               {"p95", Align::kRight},
               {"Bytes", Align::kRight},
               {"95 %", Align::kRight},
               {"Each", Align::kRight},
               {"CPU", Align::kRight},
               {"Thrown", Align::kRight},
               {"Lock wait", Align::kRight},
               {"Queued", Align::kRight},
               {"Awaiting", Align::kRight},
               {"GC", Align::kRight},
               {"Process", Align::kLeft},
               {"Request", Align::kLeft}}};
  size_t longest = 0;
  bool children = false, more_children = false;
  for (const RequestRow& r : table.rows) {
    const profile::Estimate& e = r.allocated;
    lines.few.push_back(bytes && IsFew(p, e) && e.samples > 0);
    const std::string_view process =
        p.processes.size() > 1 ? p.str(p.processes[r.process].name) : std::string_view();
    lines.rows.push_back(
        {lines.few.back() ? "~" : "",
         r.is_route ? Thousands(static_cast<uint64_t>(std::llround(r.count))) : "",
         CountCell(r.facts.failed), TimeCell(r.durations.At(0.5)), TimeCell(r.durations.At(0.95)),
         !bytes           ? ""
         : e.samples == 0 ? "-"
                          : HumanBytes(e.amount),
         !bytes || e.samples == 0 || !wide ? "" : AmountError(p, e),
         bytes && r.is_route && r.count > 0 && e.samples > 0 ? HumanBytes(e.amount / r.count) : "",
         TimeCell(r.cpu.amount), CountCell(r.exceptions), TimeCell(r.lock_wait_ns),
         EachCell(r, r.idle ? r.idle->queued_ns : 0), EachCell(r, r.idle ? r.idle->awaiting_ns : 0),
         wide ? TimeCell(r.facts.gc_caused_ns) : "",
         ShortenMiddle(Printable(process), std::max<size_t>(12, o.width / 8)), Printable(r.route)});
    longest = std::max(longest, DisplayWidth(lines.rows.back()[kRequest]));
    for (size_t i = 0; i < std::min(kMostChildren, r.children.size()); ++i) {
      const profile::ChildCost& c = r.children[i];
      std::vector<std::string> cells(kRequest + 1);
      cells[kCount] = CountCell(c.durations.count);
      cells[kErrors] = CountCell(c.failed);
      cells[kP50] = TimeCell(c.durations.At(0.5));
      cells[kP95] = TimeCell(c.durations.At(0.95));
      cells[kRequest] = "└ " + Printable(c.operation);
      longest = std::max(longest, DisplayWidth(cells[kRequest]));
      lines.few.push_back(false);
      lines.rows.push_back(std::move(cells));
    }
    more_children |= r.children.size() > kMostChildren;
    children |= !r.children.empty();
  }
  const size_t wanted = std::min(longest, std::max(kLeastRoute, wide ? o.width / 4 : o.width / 3));
  const size_t room = MakeRoom(
      lines, kRequest, wanted,
      {kError, kGc, kEach, kLockWait, kP50, kQueued, kThrown, kProcess, kErrors, kAwaiting, kP95},
      o.width);
  for (auto& row : lines.rows) row[kRequest] = ShortenRoute(row[kRequest], room);
  const bool idle = lines.WidthOf(kQueued) > 0 || lines.WidthOf(kAwaiting) > 0;
  std::string out = o.style.Bold("Requests: what each route cost") + "\n";
  out += lines.Render(o);
  if (idle)
    out += Wrap(
        "Queued: its work waited for a thread. Awaiting: nothing ran for it. Both of one "
        "request, on average",
        0, 0, o.width);
  if (children)
    out += Wrap(fmt::format("└ what requests of the route above called, and how long that took{}",
                            more_children ? "; all of it: --json" : ""),
                0, 0, o.width);
  if (table.all_rows > table.rows.size())
    out +=
        fmt::format("… {} more rows: -n {}\n", table.all_rows - table.rows.size(), table.all_rows);
  if (p.requests.windows.any()) out += Wrap(profile::WindowNote(p.requests.windows), 0, 0, o.width);
  out += ErrorPagesText(p, o);
  for (const RequestRow& r : table.rows)
    if (r.facts.beyond_windows > 0)
      out +=
          Wrap(fmt::format("{:.0f} % of {} took longer than a window: what they did after that is "
                           "in {}, so its figures are too small",
                           100 * r.facts.beyond_windows, Printable(r.route), profile::kNoRequest),
               0, 0, o.width);
  double unended = 0;
  for (const RequestRow& r : table.rows) unended += r.facts.unended;
  if (unended > 0)
    out += Wrap(fmt::format("{} had not ended when the recording did: they are in no count",
                            CountCell(unended)),
                0, 0, o.width);
  return out;
}

std::string SlowestText(const Profile& p, size_t limit, const TextOptions& o) {
  enum Column : size_t {
    kGoesOn,
    kAt,
    kTook,
    kQueued,
    kAwaiting,
    kBytes,
    kThrown,
    kLockWait,
    kGc,
    kRequest,
    kPath
  };
  Lines lines{{{"", Align::kLeft},
               {"At", Align::kRight},
               {"Took", Align::kRight},
               {"Queued", Align::kRight},
               {"Awaiting", Align::kRight},
               {"Bytes", Align::kRight},
               {"Thrown", Align::kRight},
               {"Lock wait", Align::kRight},
               {"GC", Align::kRight},
               {"Request", Align::kLeft},
               {"Path", Align::kLeft}}};
  const std::vector<profile::SlowRequestRow>& rows = p.requests.slowest;
  size_t route = 0, path = 0;
  for (size_t i = 0; i < std::min(limit, rows.size()); ++i) {
    const profile::SlowRequestRow& r = rows[i];
    // It may have begun in the recording before.
    lines.rows.push_back(
        {r.finished ? "" : "…",
         r.start_ns < 0 ? "earlier" : ClockText(static_cast<double>(r.start_ns) / 1e9),
         TimeCell(static_cast<double>(r.duration_ns)), TimeCell(static_cast<double>(r.queued_ns)),
         TimeCell(static_cast<double>(r.awaiting_ns)), r.samples == 0 ? "" : HumanBytes(r.bytes),
         CountCell(static_cast<double>(r.exceptions)),
         TimeCell(static_cast<double>(r.lock_wait_ns)),
         TimeCell(static_cast<double>(r.gc_waited_ns)), Printable(p.str(r.route)),
         Printable(p.str(r.path))});
    route = std::max(route, DisplayWidth(lines.rows.back()[kRequest]));
    path = std::max(path, DisplayWidth(lines.rows.back()[kPath]));
  }
  std::string out = o.style.Bold("The slowest requests") + "\n";
  if (rows.empty()) {
    const std::string missing = ButMissing(p, false);
    return out + (missing.empty() ? "None has ended yet" : "None came" + missing) + ".\n";
  }
  const size_t least = std::min(route, kLeastRoute) + kColumnGap + std::min(path, kLeastPath);
  const size_t room = MakeRoom(lines, kRequest, least,
                               {kGc, kLockWait, kThrown, kQueued, kBytes, kAt, kAwaiting}, o.width);
  // The path has what the route leaves, or half.
  const size_t half = room >= least ? std::max(kLeastRoute, room / 2) : room / 2;
  const size_t taken = path + kColumnGap + half < room ? room - path - kColumnGap : half;
  const size_t of_route = std::min(route, taken);
  const size_t of_path = room > of_route + kColumnGap ? room - of_route - kColumnGap : 0;
  for (auto& row : lines.rows) {
    row[kRequest] = ShortenRoute(row[kRequest], of_route);
    row[kPath] = ShortenMiddle(row[kPath], of_path);
  }
  out += lines.Render(o);
  if (std::any_of(rows.begin(), rows.end(), [](const auto& r) { return !r.finished; }))
    out += "… had not ended when the recording did\n";
  return out;
}

}  // namespace clrscope::report
