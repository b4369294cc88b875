// SPDX-License-Identifier: Apache-2.0
#include "report/text/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using profile::Difference;
using profile::Interval;
using Fit = TextColumn::Fit;

// Of a stack, for one line; JSON has them all.
constexpr size_t kStackFrames = 3;

// "Acme.Orders.Store<T>.Load" → "Store<T>.Load"
std::string LastNames(const std::string& method) {
  int depth = 0, dots = 0;
  for (size_t i = method.size(); i-- > 0;) {
    if (method[i] == '>' || method[i] == ']') ++depth;
    if (method[i] == '<' || method[i] == '[') --depth;
    if (method[i] == '.' && depth == 0 && ++dots == 2) return method.substr(i + 1);
  }
  return method;
}

class DiffWords {
 public:
  DiffWords(const DiffTable& table, const DiffTextOptions& options) : t_(table), o_(options) {}

  std::string Figure(double v) const {
    const bool whole = profile::IsEvent(t_.source) && v == std::round(v);
    const bool divided = o_.per != Per::kTotal || t_.spread.known;
    if (profile::IsEvent(t_.source) && t_.quantity().unit == profile::Unit::kNumber && divided &&
        !whole && v < 99.95)
      return fmt::format("{:.{}f}", v, v < 9.995 ? 2 : 1) + Unit();
    return QuantityText(t_.quantity().unit, v, whole) + Unit();
  }
  std::string Signed(double v) const {
    if (v == 0) return "0";
    return (v < 0 ? "-" : "+") + Figure(std::abs(v));
  }
  // What was not sampled is below something, not nothing.
  std::string Side(double rate, const Interval& interval, uint64_t samples) const {
    if (samples == 0 && interval.high > 0) return "<" + Figure(interval.high);
    return Figure(rate);
  }
  std::string Before(const DiffRow& r) const {
    if (r.requests && r.requests->before.count <= 0) return "";
    return Side(r.difference.before, r.difference.before_interval, r.before.samples);
  }
  std::string After(const DiffRow& r) const {
    if (r.requests && r.requests->after.count <= 0) return "";
    return Side(r.difference.after, r.difference.after_interval, r.after.samples);
  }
  // "+12 %", "new", "gone"
  std::string Ratio(const DiffRow& r) const {
    if (r.requests && !r.requests->both()) return r.requests->after.count > 0 ? "new" : "gone";
    if (!r.difference.ratio()) return r.difference.after > 0 ? "new" : "";
    if (r.difference.after == 0) return "gone";
    return fmt::format("{:+.{}f} %", *r.difference.ratio() * 100,
                       std::abs(*r.difference.ratio()) < 0.0995 ? 1 : 0);
  }
  std::string Change(const DiffRow& r) const {
    return Compared(r) ? Signed(r.difference.difference) : "";
  }
  std::string ErrorOf(const DiffRow& r) const { return Compared(r) ? Error(r.difference) : ""; }
  // The interval of the difference: "±1.2 MiB", "+1.2 MiB … +3.4 MiB" when it is lopsided.
  std::string Error(const Difference& d) const {
    if (!d.has_interval) return "";
    const double below = d.difference - d.difference_interval.low;
    const double above = d.difference_interval.high - d.difference;
    if (below == 0 && above == 0) return "exact";
    if (std::abs(above - below) < 0.15 * above) return "±" + Figure(std::max(below, above));
    return Signed(d.difference_interval.low) + " … " + Signed(d.difference_interval.high);
  }
  std::string Name(const DiffRow& r) const {
    const auto text = [&](const char* key) { return Text(r.key.at(key)); };
    switch (t_.view) {
      case View::kType:
        return text("type") + (!r.key.contains("kind") || text("kind") == "SOH"
                                   ? ""
                                   : fmt::format(" ({})", text("kind")));
      case View::kSite:
        return text("method");
      case View::kMethod:
        return text("method");
      case View::kAssembly:
        return r.key.at("module").is_null() ? "[unknown]" : text("module");
      case View::kKind:
        return text("kind");
      case View::kProcess:
        return text("process");
      case View::kRequest:
        return text("request") +
               (r.key.contains("process") ? fmt::format(" ({})", text("process")) : "");
      case View::kThread:
        return r.key.at("name").is_null() ? "(threads without a name)" : text("name");
      default: {
        std::string stack;
        size_t frames = 0;
        for (const Json& f : r.key.at("frames")) {
          if (f.at("machinery").get<bool>()) continue;
          if (++frames > kStackFrames) return stack + " ← …";
          stack += (stack.empty() ? "" : " ← ") + LastNames(Text(f.at("method")));
        }
        return stack;
      }
    }
  }
  bool has_type() const { return t_.view == View::kSite && t_.spec().typed; }
  std::string Type(const DiffRow& r) const { return has_type() ? Text(r.key.at("type")) : ""; }
  std::string Title() const {
    switch (t_.view) {
      case View::kType:
        return "Type";
      case View::kSite:
        return std::string(t_.spec().place);
      case View::kMethod:
        return profile::IsEvent(t_.source) ? "Method (itself)"
               : t_.spec().state           ? "Method (what of its own lives)"
                                           : "Method (what it allocates itself)";
      case View::kAssembly:
        return "Assembly";
      case View::kKind:
        return "Heap";
      case View::kProcess:
        return "Process";
      case View::kRequest:
        return "Request";
      case View::kThread:
        return "Threads of one name";
      default:
        return "Stack, leaf first";
    }
  }
  // "Allocations", "Waits for locks"
  std::string Measure() const {
    std::string title(t_.spec().title);
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] += 'A' - 'a';
    return title;
  }
  std::string TotalLine() const {
    const DiffRow& r = t_.total;
    std::string line =
        fmt::format("{} → {}{}  ({}, {})", Before(r), After(r), r.requests ? " per request" : "",
                    Signed(r.difference.difference), Ratio(r));
    if (r.difference.has_interval) line += fmt::format("; 95 %: {}", Error(r.difference));
    if (!r.difference.p_value && profile::IsEvent(t_.source))
      return line + "; by how much runs differ is unknown";
    if (!r.difference.p_value)
      return line + (t_.measure == profile::Measure::kGcCpu
                         ? "; by how much runs differ is unknown"
                         : fmt::format("; no error is known: {}", EventName(t_.source)));
    return line + (r.difference.changed ? "" : "; within noise");
  }
  std::string Verdict() const {
    if (t_.measure == profile::Measure::kGcCpu && !t_.spread.known)
      return "How much CPU time the collector takes in two runs of the same program differs by an "
             "unknown amount, so no row is called a change: give several recordings of each side.";
    if (t_.source == profile::Source::kForeign && !t_.spread.known)
      return "pprof files tell no error, so no row is called a change: give several of each side.";
    if (t_.source == profile::Source::kTick && !t_.spread.known)
      return "AllocationTick has no known error, so no row is called a change: give several "
             "recordings of each side.";
    if (t_.measure == profile::Measure::kRequests && !t_.spread.known &&
        t_.metric == profile::Metric::kAmount)
      return "How long requests take in two runs of the same program differs by an unknown amount, "
             "so no row is called a change: give several recordings of each side.";
    if (t_.quantity().unit == profile::Unit::kNanoseconds && !t_.spread.known)
      return fmt::format(
          "How long is waited in two runs of the same program differs by an unknown amount, so no "
          "row is called a change: give several recordings of each side, or compare the number of "
          "waits (--metric {}).",
          t_.spec().count.name);
    if (t_.source == profile::Source::kCounted && !t_.spread.known)
      return fmt::format(
          "{} of {} rows differ; counts are compared as they are. How much two runs of the same "
          "program differ is unknown with one recording a side.",
          Thousands(t_.changed), Thousands(t_.rows.size()));
    std::string text = fmt::format(
        "{} of {} rows changed; the others are within noise. With nothing changed, a row would be "
        "named once in 100 comparisons (Holm).",
        Thousands(t_.changed), Thousands(t_.rows.size()));
    constexpr double kAlike = 0.5;
    text +=
        t_.spread.known && t_.spread.squared == 0 && t_.spread.chance < kAlike
            ? " Runs of one side differ by less than chance would have it."
        : t_.spread.known
            ? fmt::format(" Runs of one side differ by {:.1f} % beyond {}.",
                          std::sqrt(t_.spread.squared) * 100,
                          profile::IsEvent(t_.source) && !profile::IsClock(t_.source) ? "chance"
                                                                                      : "sampling")
        : profile::IsEvent(t_.source) && !profile::IsClock(t_.source)
            ? " Figures are exact for their run; runs of the same program are taken to differ "
              "by chance alone, as if each event came by itself: give several of each side."
            : " How much two runs of the same program differ is unknown with one recording a "
              "side: give several.";
    return text;
  }

  // "1,200 → 1,150", of a route's requests.
  static std::string Requests(const RouteSides& r) {
    return Sides(r, [](const RouteSide& s) { return Whole(s.count); });
  }
  static std::string Took(const RouteSides& r, double quantile) {
    return Sides(r, [quantile](const RouteSide& s) {
      return s.durations.count > 0 ? HumanTime(s.durations.At(quantile) / 1e9) : "";
    });
  }
  // Nothing where there were none.
  static std::string Errors(const RouteSides& r) {
    if (r.before.errors.value_or(0) == 0 && r.after.errors.value_or(0) == 0) return "";
    return Sides(r, [](const RouteSide& s) { return s.errors ? Whole(*s.errors) : "?"; });
  }

 private:
  static bool Compared(const DiffRow& r) { return !r.requests || r.requests->both(); }
  static std::string Whole(double n) {
    return Thousands(static_cast<uint64_t>(std::llround(std::max(n, 0.0))));
  }
  template <class TextOf>
  static std::string Sides(const RouteSides& r, TextOf text_of) {
    const std::string before = r.before.count > 0 ? text_of(r.before) : "";
    const std::string after = r.after.count > 0 ? text_of(r.after) : "";
    if (before.empty() || after.empty() || before == after) return before.empty() ? after : before;
    return before + " → " + after;
  }
  std::string Unit() const {
    return o_.per == Per::kSecond ? "/s" : o_.per == Per::kGc ? "/GC" : "";
  }
  const DiffTable& t_;
  const DiffTextOptions& o_;
};

std::string SideText(std::string_view title, const std::vector<DiffInput>& side) {
  std::string text;
  for (const DiffInput& i : side)
    text += fmt::format("{:<7} {}  {}, {} GC{}\n", text.empty() ? title : "", i.name,
                        HumanDuration(i.seconds), Thousands(i.gcs), i.gcs == 1 ? "" : "s");
  return text;
}

// How long requests took, and how many failed.
std::string RouteTimes(const DiffWords& w, const DiffTable& table, size_t shown,
                       const DiffTextOptions& options) {
  TextTable lines({{"p50", Align::kRight},
                   {"p95", Align::kRight},
                   {"Errors", Align::kRight},
                   {w.Title(), Align::kLeft, Fit::kName}});
  for (size_t i = 0; i < shown; ++i) {
    const DiffRow& r = table.rows[i];
    lines.Add({DiffWords::Took(*r.requests, 0.5), DiffWords::Took(*r.requests, 0.95),
               DiffWords::Errors(*r.requests), w.Name(r)},
              !r.difference.changed);
  }
  return lines.Render(options.width, options.style);
}

// What a cell of a Markdown table cannot hold.
std::string EscapeMarkdown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '>' || c == '*' || c == '_' || c == '`' || c == '\\')
      out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string DiffText(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                     const DiffTable& table, const DiffTextOptions& options) {
  const DiffWords w(table, options);
  std::string text = SideText("before", before) + SideText("after", after);
  text += fmt::format("total   {}\n\n", w.TotalLine());
  const bool requests = table.view == View::kRequest;
  std::vector<TextColumn> columns = {{"Change", Align::kRight},
                                     {"", Align::kRight},
                                     {"95 %", Align::kLeft},
                                     {"Before", Align::kRight},
                                     {"After", Align::kRight}};
  columns.push_back(requests ? TextColumn{"Requests", Align::kRight}
                             : TextColumn{"Type", Align::kLeft, Fit::kName});
  columns.push_back({w.Title(), Align::kLeft, Fit::kName});
  TextTable lines(columns);
  const size_t shown = std::min(options.limit, table.rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const DiffRow& r = table.rows[i];
    lines.Add({w.Change(r), w.Ratio(r), w.ErrorOf(r), w.Before(r), w.After(r),
               r.requests ? DiffWords::Requests(*r.requests) : w.Type(r), w.Name(r)},
              !r.difference.changed);
  }
  if (!lines.empty()) text += lines.Render(options.width, options.style);
  if (requests && shown != 0) text += "\n" + RouteTimes(w, table, shown, options);
  if (shown < table.rows.size())
    text += fmt::format("… {} more rows: -n {}\n", Thousands(table.rows.size() - shown),
                        table.rows.size());
  return text + "\n" + Wrap(w.Verdict(), 0, 0, options.width);
}

std::string DiffMarkdown(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                         const DiffTable& table, const DiffTextOptions& options) {
  const DiffWords w(table, options);
  std::string text = fmt::format("**{}:** {}\n\n", w.Measure(), EscapeMarkdown(w.TotalLine()));
  if (table.changed != 0) {
    text += fmt::format("| Change | | Before | After |{} {} |\n|--:|--:|--:|--:|:--|{}\n",
                        w.has_type() ? " Type |" : "", w.Title(), w.has_type() ? ":--|" : "");
    for (size_t i = 0; i < std::min(options.limit, table.changed); ++i) {
      const DiffRow& r = table.rows[i];
      text += fmt::format("| {} | {} | {} | {} |{} {} |\n", w.Signed(r.difference.difference),
                          w.Ratio(r), EscapeMarkdown(w.Before(r)), EscapeMarkdown(w.After(r)),
                          w.has_type() ? " " + EscapeMarkdown(w.Type(r)) + " |" : "",
                          EscapeMarkdown(w.Name(r)));
    }
    if (table.changed > options.limit)
      text += fmt::format("\n… {} more.\n", Thousands(table.changed - options.limit));
    text += "\n";
  }
  text += w.Verdict() + "\n\n<sub>";
  for (const auto* side : {&before, &after})
    for (const DiffInput& i : *side)
      text += fmt::format("{}{} ({}, {} GCs)",
                          side == &after && &i == &side->front() ? " → "
                          : &i == &side->front()                 ? ""
                                                                 : ", ",
                          EscapeMarkdown(i.name), HumanDuration(i.seconds), i.gcs);
  return text + "</sub>\n";
}

}  // namespace clrscope::report
