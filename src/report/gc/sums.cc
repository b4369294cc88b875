// SPDX-License-Identifier: Apache-2.0
// What the wide form sums up over all collections.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>

#include "base/saturate.h"
#include "clr/gc_names.h"
#include "report/gc/parts.h"
#include "report/text/humanize.h"
#include "report/text/text_table.h"

namespace clrscope::report::gctext {

using analysis::ProcessGcs;

namespace {

void AddTo(int64_t& sum, int64_t more) { sum = SaturatedAdd(sum, std::max<int64_t>(more, 0)); }

struct Sums {
  struct Roots {
    uint64_t gcs = 0;
    int64_t ns = 0, bytes = 0;
  };
  struct Promotion {
    uint64_t gcs = 0, moves = 0;
    int64_t bytes = 0, in_bytes = 0;
  };
  struct Reason {
    uint64_t gcs = 0;
    int64_t pause_ns = 0;
  };
  std::array<Roots, profile::kGcRootKinds> kinds;
  std::array<Promotion, profile::kGcGenerations> promotion;
  std::map<std::string, Reason> reasons;

  void Add(const profile::GcRecord& r) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (r.mark_ns[i] < 0 && r.mark_bytes[i] < 0) continue;
      ++kinds[i].gcs;
      AddTo(kinds[i].ns, r.mark_ns[i]);
      AddTo(kinds[i].bytes, r.mark_bytes[i]);
    }
    for (size_t g = 0; g < promotion.size(); ++g) {
      Promotion& p = promotion[g];
      if (r.promoted[g] > 0) {
        ++p.gcs;
        AddTo(p.bytes, r.promoted[g]);
      }
      if (g < r.generations && r.generation_data[g].in > 0) {
        ++p.moves;
        AddTo(p.in_bytes, r.generation_data[g].in);
      }
    }
    const std::string why = Condemned(r);
    if (why == kUnknown) return;
    Reason& reason = reasons[why];
    ++reason.gcs;
    AddTo(reason.pause_ns, r.pause_ns);
  }
};

std::string Marking(const Sums& sums, const GcTextOptions& o) {
  const auto& kinds = sums.kinds;
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
    const Sums::Roots& k = kinds[i];
    if (k.gcs == 0) continue;
    table.Add({Thousands(k.gcs), Millis(k.ns),
               Millis(static_cast<double>(k.ns) / static_cast<double>(k.gcs)), Mib(k.bytes),
               std::string(clr::GcRootKindName(static_cast<int>(i)))});
  }
  return "\n" + o.style.Bold("Marked from") +
         "  time of all heaps, and what was found from there\n" + table.Render(o.width, o.style);
}

// What the runtime counts of each generation that it collected, and what went there from the one
// below.
std::string Promotions(const Sums& sums, const GcTextOptions& o) {
  constexpr const char* kNames[] = {"gen0", "gen1", "gen2", "LOH", "POH"};
  static_assert(std::size(kNames) == profile::kGcGenerations);
  TextTable table({{"GCs", Align::kRight},
                   {"Promoted MiB", Align::kRight},
                   {"GCs", Align::kRight},
                   {"Moved in MiB", Align::kRight},
                   {"Generation"}});
  bool any = false;
  for (size_t g = 0; g < sums.promotion.size(); ++g) {
    const Sums::Promotion& p = sums.promotion[g];
    if (p.gcs == 0 && p.moves == 0) continue;
    any = true;
    table.Add({Thousands(p.gcs), Mib(p.bytes), Thousands(p.moves), Mib(p.in_bytes), kNames[g]});
  }
  return any ? "\n" + o.style.Bold("Promoted") +
                   "  what lived on in it, and what came from the generation below\n" +
                   table.Render(o.width, o.style)
             : std::string();
}

std::string Condemnations(const Sums& sums, const GcTextOptions& o) {
  const auto& reasons = sums.reasons;
  if (reasons.empty()) return {};
  std::vector<std::pair<std::string, Sums::Reason>> rows(reasons.begin(), reasons.end());
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

}  // namespace

std::string SumsOf(const ProcessGcs& report, const GcTextOptions& o) {
  Sums sums;
  for (const profile::PackedGc& packed : report.gcs) sums.Add(packed.Unpack());
  return Promotions(sums, o) + Marking(sums, o) + Condemnations(sums, o);
}

}  // namespace clrscope::report::gctext
