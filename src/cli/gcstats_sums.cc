// SPDX-License-Identifier: Apache-2.0
// What the wide form sums up over all collections.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "cli/gcstats_parts.h"
#include "cli/humanize.h"
#include "cli/text_table.h"
#include "clr/gc_names.h"

namespace clrscope::cli::gctext {

using analysis::ProcessGcs;

std::string Marking(const ProcessGcs& report, const GcTextOptions& o) {
  struct Roots {
    uint64_t gcs = 0;
    int64_t ns = 0, bytes = 0;
  };
  std::array<Roots, profile::kGcRootKinds> kinds;
  for (const profile::PackedGc& packed : report.gcs) {
    const profile::GcRecord r = packed.Unpack();
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (r.mark_ns[i] < 0 && r.mark_bytes[i] < 0) continue;
      ++kinds[i].gcs;
      kinds[i].ns += std::max<int64_t>(r.mark_ns[i], 0);
      kinds[i].bytes += std::max<int64_t>(r.mark_bytes[i], 0);
    }
  }
  std::array<size_t, profile::kGcRootKinds> order;
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return kinds[a].ns > kinds[b].ns; });
  if (kinds[order.front()].gcs == 0) return {};
  TextTable table({{"GCs", Align::kRight},
                   {"ms", Align::kRight},
                   {"a GC", Align::kRight},
                   {"MiB", Align::kRight},
                   {"Roots"}});
  for (const size_t i : order) {
    const Roots& k = kinds[i];
    if (k.gcs == 0) continue;
    table.Add({Thousands(k.gcs), Millis(k.ns),
               Millis(static_cast<double>(k.ns) / static_cast<double>(k.gcs)), Mib(k.bytes),
               std::string(clr::GcRootKindName(static_cast<int>(i)))});
  }
  return "\n" + o.style.Bold("Marked from") +
         "  time of all heaps, and what was found from there\n" + table.Render(o.width, o.style);
}

std::string Condemnations(const ProcessGcs& report, const GcTextOptions& o) {
  struct Reason {
    uint64_t gcs = 0;
    int64_t pause_ns = 0;
  };
  std::map<std::string, Reason> reasons;
  for (const profile::PackedGc& packed : report.gcs) {
    const profile::GcRecord r = packed.Unpack();
    const std::string why = Condemned(r);
    if (why == kUnknown) continue;
    Reason& reason = reasons[why];
    ++reason.gcs;
    reason.pause_ns += std::max<int64_t>(r.pause_ns, 0);
  }
  if (reasons.empty()) return {};
  std::vector<std::pair<std::string, Reason>> rows(reasons.begin(), reasons.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.gcs > b.second.gcs; });
  TextTable table({{"GCs", Align::kRight}, {"Pause ms", Align::kRight}, {"Generation, and why"}});
  constexpr size_t kShown = 12;
  for (size_t i = 0; i < std::min(kShown, rows.size()); ++i)
    table.Add({Thousands(rows[i].second.gcs), Millis(rows[i].second.pause_ns), rows[i].first});
  std::string out = "\n" + o.style.Bold("Condemned") + "\n" + table.Render(~size_t{0}, o.style);
  if (rows.size() > kShown)
    out += fmt::format("… and {} more reasons: --json\n", rows.size() - kShown);
  return out;
}

}  // namespace clrscope::cli::gctext
