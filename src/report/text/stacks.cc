// SPDX-License-Identifier: Apache-2.0
// Stacks as blocks of text.
#include <fmt/format.h>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/table.h"

namespace clrscope::report {

using profile::Estimate;
using profile::Profile;

namespace {

std::string Figures(const Profile& p, const Estimate& e, const std::string& share) {
  const profile::MeasureSpec& spec = p.shown().spec();
  if (p.shown().events()) {
    if (spec.amount.unit == profile::Unit::kNanoseconds)
      return fmt::format("{}  {}  {} {}{}", AmountText(p, e), share, CountText(p, e),
                         p.shown().clocked() ? "sample" : "wait", e.count == 1 ? "" : "s");
    return fmt::format("{} {}  {}{}", CountText(p, e), "thrown", share,
                       e.amount > 0 ? fmt::format("  {} thrown again", AmountText(p, e)) : "");
  }
  return fmt::format("{}{} {}  {}  {} {}", IsFew(p, e) ? "~ " : "", HumanBytes(e.amount),
                     AmountError(p, e), share, p.counted() ? CountText(p, e) : Thousands(e.samples),
                     p.counted()      ? "objects"
                     : e.samples == 1 ? "sample"
                                      : "samples");
}

// The three heaviest.
std::string TypesText(const Json& types, const Profile& p, const TextOptions& o) {
  const profile::MeasureSpec& spec = p.shown().spec();
  const profile::Quantity& first = spec.amount_first ? spec.amount : spec.count;
  std::string out;
  for (size_t i = 0; i < types.size() && i < 3; ++i) {
    const double value = types[i].at(std::string(first.name)).get<double>();
    const std::string text =
        fmt::format("{}  {}", QuantityText(first.unit, value, p.shown().events()),
                    types[i].at("type").get<std::string>());
    out += "  " + ShortenName(Printable(text), o.width - 2) + "\n";
  }
  if (types.size() > 3) out += fmt::format("  … {} more types\n", types.size() - 3);
  return out;
}

}  // namespace

std::string StacksText(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const double whole = SortValue(p.Total(), o.sort);
  std::string out =
      o.style.Bold(fmt::format("Stacks, the {} method first", p.shown().spec().doing)) + "\n";
  for (const ReportRow& row : table.rows) {
    const Estimate& e = row.value;
    std::string head = Figures(p, e, HumanShare(SortValue(e, o.sort), whole));
    if (p.processes.size() > 1)
      head += fmt::format("  {} ({})", Text(row.key.at("process")), Text(row.key.at("pid")));
    out +=
        "\n" + (IsFew(p, e) ? o.style.Dim(Printable(head)) : o.style.Bold(Printable(head))) + "\n";
    if (row.key.contains("types")) out += TypesText(row.key.at("types"), p, o);
    size_t folded = 0;
    const auto flush = [&] {
      if (folded > 0)
        out +=
            o.style.Dim(fmt::format("    … {} of async and thread-pool plumbing", folded)) + "\n";
      folded = 0;
    };
    for (const Json& frame : row.key.at("frames")) {
      if (frame.at("machinery").get<bool>() && !o.framework) {
        ++folded;
        continue;
      }
      flush();
      std::string line = LineText(frame);
      if (!line.empty()) line = fmt::format("  {}", line);
      const size_t room = o.width - 4 - std::min<size_t>(o.width / 2, DisplayWidth(line));
      out += "    " + ShortenName(Printable(Text(frame.at("method"))), room) +
             (line.empty() ? "" : o.style.Dim(Printable(line))) + "\n";
    }
    flush();
  }
  return out + (table.rows.size() < table.all_rows ? "\n" + More(table) : "");
}

}  // namespace clrscope::report
