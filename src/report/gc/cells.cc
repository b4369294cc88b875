// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "analysis/families/gc/gc_reasons.h"
#include "report/gc/parts.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"

namespace clrscope::report {
namespace gctext {

using analysis::GcFigures;
using profile::GcRecord;

namespace {

// "2B", "0F", "1N", and an I when it was asked for: PerfView's letters.
std::string KindLetters(const GcRecord& r) {
  if (r.generation < 0) return kUnknown;
  std::string out = std::to_string(r.generation);
  out += r.type == 1 ? "B" : r.type == 2 ? "F" : r.type == 0 ? "N" : "";
  if (r.reason == 7)
    out += "i";
  else if (clr::IsInduced(r.reason))
    out += "I";
  return out;
}

std::string ReasonText(int32_t reason) {
  const std::string_view name = clr::GcReasonName(reason);
  return name.empty() ? std::to_string(reason) : std::string(name);
}

}  // namespace

std::string Millis(double ns) {
  if (!std::isfinite(ns) || ns < 0) return kUnknown;
  const double ms = ns / 1e6;
  return ms >= 1000  ? Thousands(static_cast<uint64_t>(std::llround(ms)))
         : ms >= 100 ? fmt::format("{:.0f}", ms)
         : ms >= 10  ? fmt::format("{:.1f}", ms)
                     : fmt::format("{:.2f}", ms);
}
std::string Millis(int64_t ns) { return Millis(static_cast<double>(ns)); }

std::string Mib(int64_t bytes) {
  if (bytes < 0) return kUnknown;
  const double mib = static_cast<double>(bytes) / (1024.0 * 1024.0);
  return mib == 0     ? "0"
         : mib >= 100 ? fmt::format("{:.0f}", mib)
         : mib >= 0.1 ? fmt::format("{:.1f}", mib)
                      : fmt::format("{:.2f}", mib);
}

std::string Percent(double v) {
  return std::isfinite(v) ? fmt::format("{:.0f}", v) : std::string(kUnknown);
}

std::string Marks(const profile::GcBrief& r) {
  std::string out;
  if (r.has(profile::kGcMaybeTouched)) out += "!";
  if (!r.has(profile::kGcComplete)) out += "?";
  return out;
}

std::vector<std::string> Cells(const GcRecord& r, const GcFigures& f) {
  std::vector<std::string> row = {
      std::to_string(r.number), fmt::format("{:.3f}", static_cast<double>(r.start_ns) / 1e9),
      KindLetters(r),           ReasonText(r.reason),
      Millis(r.pause_ns),       Millis(r.suspend_ns),
      Mib(f.allocated_bytes),   Mib(f.peak_bytes),
      Mib(f.promoted_bytes)};
  for (const int64_t size : r.size_after) row.push_back(Mib(size));
  return row;
}

std::string Condemned(const profile::GcRecord& r) {
  const std::optional<clr::CondemnedReasons> why = analysis::CondemnedOf(r);
  if (!why) return kUnknown;
  std::string out = fmt::format("gen{}", why->initial);
  if (why->final != why->initial) out += fmt::format(" → gen{}", why->final);
  if (why->by_budget > 0) out += fmt::format(", budget of gen{}", why->by_budget);
  if (why->by_time > 0) out += fmt::format(", time since gen{}", why->by_time);
  for (const std::string_view condition : why->conditions) out += fmt::format(", {}", condition);
  return out;
}

}  // namespace gctext

namespace {

// Of the columns of live lines, as Cells() gives them; below 0: to the left.
constexpr int kLineWidths[] = {5, 8, -4, -10, 6, 5, 5, 6, 5, 6, 5, 6, 6, 5};
constexpr const char* kLineTitles[] = {"GC",   "At s",  "Gen",  "Reason", "Pause", "Susp", "Alloc",
                                       "Peak", "Promo", "gen0", "gen1",   "gen2",  "LOH",  "POH"};

std::string Pad(const std::string& cell, int width) {
  const size_t wide = static_cast<size_t>(std::abs(width)), is = DisplayWidth(cell);
  const std::string room(wide > is ? wide - is : 0, ' ');
  return width < 0 ? cell + room : room + cell;
}

}  // namespace

std::string GcLines::Heading() const {
  std::string out = several_ ? Pad("PID", 8) : std::string();
  for (size_t i = 0; i < std::size(kLineWidths); ++i)
    out += (out.empty() ? "" : " ") + Pad(kLineTitles[i], kLineWidths[i]);
  return style_.Bold(out) + "\n";
}

std::string GcLines::Line(const analysis::ProcessGcs& report, size_t index,
                          const profile::Profile& profile) const {
  const profile::GcRecord r = report.gcs[index].Unpack();
  std::string out =
      several_ ? Pad(std::to_string(profile.processes[report.process].pid), 8) : std::string();
  std::vector<std::string> cells =
      gctext::Cells(r, analysis::FiguresOf(r, report.figures.flows()[index]));
  constexpr size_t kReason = 3, kReasonWidth = 10;
  if (cells[kReason].size() > kReasonWidth)
    cells[kReason] = cells[kReason].substr(0, kReasonWidth - 1) + "…";
  for (size_t i = 0; i < cells.size(); ++i)
    out += (out.empty() ? "" : " ") + Pad(cells[i], kLineWidths[i]);
  if (const std::string marks = gctext::Marks(r); !marks.empty()) out += " " + marks;
  return out + "\n";
}

}  // namespace clrscope::report
