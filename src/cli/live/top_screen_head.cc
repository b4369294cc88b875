// SPDX-License-Identifier: Apache-2.0
// The lines above the table: what is watched, how much of it there is, the collections, the tabs.
#include <fmt/format.h>
#define NCURSES_NOMACROS
#include <ncurses.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cli/live/top_screen.h"
#include "cli/live/top_words.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"

namespace clrscope::cli {
namespace {

using analysis::LiveBy;
using profile::Estimate;

std::string Clock(int64_t ns) { return report::HumanDuration(static_cast<double>(ns) / 1e9); }

// Seven columns, like the other lines' words.
std::string_view HeadWord(profile::Measure m) {
  return m == profile::Measure::kExceptions ? "Thrown"
         : m == profile::Measure::kLocks    ? "Locks "
         : m == profile::Measure::kWaits    ? "Waits "
         : m == profile::Measure::kRequests ? "Served"
         : m == profile::Measure::kCpu      ? "CPU   "
         : m == profile::Measure::kWall     ? "Wall  "
                                            : "Alloc ";
}
std::string_view OtherWord(profile::Measure m) {
  return m == profile::Measure::kAllocations  ? "objects"
         : m == profile::Measure::kExceptions ? "thrown again"
         : m == profile::Measure::kRequests   ? "requests"
         : m == profile::Measure::kCpu        ? "samples"
         : m == profile::Measure::kWall       ? "samples"
                                              : "waits";
}

std::string WatchedText(const capture::LiveView& view) {
  const auto& processes = view.tables().processes();
  if (processes.size() == 1)
    return fmt::format("{} ({}){}", view.tables().str(processes[0].name), processes[0].pid,
                       processes[0].ended ? " has ended" : "");
  const auto alive =
      std::count_if(processes.begin(), processes.end(), [](const auto& p) { return !p.ended; });
  return fmt::format("{} process{}{}", alive, alive == 1 ? "" : "es",
                     processes.size() > static_cast<size_t>(alive)
                         ? fmt::format(", {} ended", processes.size() - static_cast<size_t>(alive))
                         : "");
}

// Of all processes.
struct Collected {
  std::array<uint64_t, 3> collections{};
  uint64_t pauses = 0, dropped = 0;
  int64_t pause_ns = 0;
  double cpu = -1;  // of processors, in the last second
  double pool_threads = -1, pool_queue = -1;
  std::array<int64_t, 5> heap{};  // after the last collections, by generation
  bool any_heap = false;
};

Collected Collect(const capture::LiveView& view) {
  Collected c;
  for (const auto& p : view.processes()) {
    for (size_t i = 0; i < 3; ++i) c.collections[i] += p.collections[i];
    c.pauses += p.pauses;
    c.pause_ns += p.pause_ns;
    c.dropped += p.dropped;
    const auto add = [](double& sum, double value) {
      if (value >= 0) sum = std::max(0.0, sum) + value;
    };
    if (p.cpu_s_before >= 0 && p.cpu_s >= 0) add(c.cpu, p.cpu_s - p.cpu_s_before);
    add(c.pool_threads, p.pool_threads);
    add(c.pool_queue, p.pool_queue);
    for (size_t i = 0; i < 5; ++i)
      if (p.last_gc.size_after[i] >= 0) {
        c.heap[i] += p.last_gc.size_after[i];
        c.any_heap = true;
      }
  }
  return c;
}

}  // namespace

void TopScreen::DrawHead(const TopModel& m) {
  DrawWatched(m);
  DrawSums(m);
  DrawCollections(m);
  DrawTabs(m);
}

void TopScreen::DrawWatched(const TopModel& m) {
  ::attron(A_BOLD);
  Text(0, 0, "clrscope top", 12);
  ::attroff(A_BOLD);
  Text(0, 14, WatchedText(m.view()), COLS - 14 - 26);
  Right(0, COLS - 26, m.paused ? "PAUSED" : Clock(m.view().now_ns()), 26);
}

void TopScreen::DrawSums(const TopModel& m) {
  const capture::LiveView& view = m.view();
  const auto seconds = static_cast<double>(m.covered());
  const Estimate& w = m.window();
  const bool biased = std::any_of(view.processes().begin(), view.processes().end(),
                                  [](const auto& p) { return p.biased; });
  std::string line =
      fmt::format("{}  {}/s {}", HeadWord(m.measure), FirstText(m, m.First(w) / seconds),
                  m.sampled() ? ErrorText(w, biased) : "");
  if (m.tables().objects_known())
    line += fmt::format("   {} {}/s", OtherText(m, m.Other(w) / seconds), OtherWord(m.measure));
  line += fmt::format("   total {}", FirstText(m, m.First(m.tables().everything().total)));
  const int spark = std::max(0, std::min(20, COLS - 60));
  Text(1, 0, line, COLS - spark - 2);
  ::attron(COLOR_PAIR(kAccent));
  Right(1, COLS - spark, SparkText(m.trend(), static_cast<size_t>(spark)), spark);
  ::attroff(COLOR_PAIR(kAccent));
}

void TopScreen::DrawCollections(const TopModel& m) {
  const Collected c = Collect(m.view());
  std::string line =
      fmt::format("GC     gen0 {}  gen1 {}  gen2 {}", report::Thousands(c.collections[0]),
                  report::Thousands(c.collections[1]), report::Thousands(c.collections[2]));
  // What does not fit is left out, the least important first.
  const auto add = [&line](const std::string& part) {
    if (report::DisplayWidth(line) + 3 + report::DisplayWidth(part) <= static_cast<size_t>(COLS))
      line += "   " + part;
  };
  const auto bytes = [](int64_t n) { return report::HumanBytes(static_cast<double>(n)); };
  if (c.dropped != 0) add(fmt::format("{} events dropped", report::Thousands(c.dropped)));
  if (c.pauses != 0)
    add(fmt::format("paused {}", report::HumanShare(static_cast<double>(c.pause_ns),
                                                    static_cast<double>(
                                                        std::max<int64_t>(m.view().now_ns(), 1)))));
  if (c.any_heap) {
    add(fmt::format("heap {}", bytes(c.heap[0] + c.heap[1] + c.heap[2] + c.heap[3] + c.heap[4])));
    add(fmt::format("gen2 {}  LOH {}  POH {}", bytes(c.heap[2]), bytes(c.heap[3]),
                    bytes(c.heap[4])));
  }
  Text(2, 0, line, COLS);
  line = c.cpu < 0 ? "" : fmt::format("Used   {:.2f} processors", c.cpu);
  if (c.pool_threads >= 0)
    line += fmt::format("{}Pool {:.0f} threads, {:.0f} work items wait", line.empty() ? "" : "   ",
                        c.pool_threads, std::max(0.0, c.pool_queue));
  Text(3, 0, line, COLS);
}

void TopScreen::DrawTabs(const TopModel& m) {
  static constexpr std::pair<LiveBy, const char*> kTabs[] = {{LiveBy::kType, "1 Types"},
                                                             {LiveBy::kSite, "2 Sites"},
                                                             {LiveBy::kProcess, "3 Processes"},
                                                             {LiveBy::kThread, "4 Threads"},
                                                             {LiveBy::kRequest, "5 Requests"}};
  int x = 0;
  const auto& all = m.view().processes();
  const bool requests = std::any_of(all.begin(), all.end(), [](const auto& p) {
    return p.Recorded(profile::Measure::kRequests);
  });
  for (const auto& [by, title] : kTabs) {
    if (by == LiveBy::kRequest && !requests && m.by != by) continue;
    if (by == m.by) ::attron(A_BOLD | A_UNDERLINE);
    Text(4, x, title, 14);
    if (by == m.by) ::attroff(A_BOLD | A_UNDERLINE);
    x += static_cast<int>(::strlen(title)) + 2;
  }
  std::string state = fmt::format("sort: {}", m.SortName());
  if (m.typing)
    state = fmt::format("/{}_", *m.typing);
  else if (!m.filter.empty())
    state += fmt::format("   filter: {}", m.filter);
  Right(4, x, state, COLS - x);
}

}  // namespace clrscope::cli
