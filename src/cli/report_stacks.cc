// SPDX-License-Identifier: Apache-2.0
// Stacks as blocks of text.
#include <fmt/format.h>

#include "cli/humanize.h"
#include "cli/report_cells.h"
#include "cli/report_text.h"
#include "cli/shorten.h"

namespace clrscope::cli {

using profile::Estimate;
using profile::Profile;

std::string StacksText(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const double whole = SortValue(p.Total(), o.sort);
  std::string out = o.style.Bold("Stacks, the allocating method first") + "\n";
  for (const ReportRow& row : table.rows) {
    const Estimate& e = row.value;
    std::string head =
        fmt::format("{}{} {}  {}  {} {}", IsFew(p, e) ? "~ " : "", HumanBytes(e.bytes),
                    BytesError(p, e), HumanShare(SortValue(e, o.sort), whole),
                    p.counted() ? ObjectsText(p, e) : Thousands(e.samples),
                    p.counted()      ? "objects"
                    : e.samples == 1 ? "sample"
                                     : "samples");
    if (p.processes.size() > 1)
      head += fmt::format("  {} ({})", Text(row.key.at("process")), Text(row.key.at("pid")));
    out +=
        "\n" + (IsFew(p, e) ? o.style.Dim(Printable(head)) : o.style.Bold(Printable(head))) + "\n";
    const Json& types = row.key.at("types");
    for (size_t i = 0; i < types.size() && i < 3; ++i)
      out += "  " +
             ShortenName(
                 Printable(fmt::format("{}  {}", HumanBytes(types[i].at("bytes").get<double>()),
                                       types[i].at("type").get<std::string>())),
                 o.width - 2) +
             "\n";
    if (types.size() > 3) out += fmt::format("  … {} more types\n", types.size() - 3);
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
      out += "    " + ShortenName(Printable(Text(frame.at("method"))), o.width - 4) + "\n";
    }
    flush();
  }
  return out + (table.rows.size() < table.all_rows ? "\n" + More(table) : "");
}

}  // namespace clrscope::cli
