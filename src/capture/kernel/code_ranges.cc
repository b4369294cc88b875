// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_ranges.h"

#include <algorithm>

#include "capture/sessions/maps_line.h"

namespace clrscope::capture {
namespace {

// The runtime's code lies in memory without a file, or with W^X in a memory file, and in
// precompiled assemblies.
CodeKind KindOfPath(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  if (path.empty() || path.starts_with("[anon:") || path.starts_with(kRuntimeCodeFile) ||
      path.ends_with(".dll"))
    return CodeKind::kManaged;
  return CodeKind::kNative;
}

}  // namespace

CodeRanges CodeRanges::Parse(std::string_view maps) {
  CodeRanges out;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    MapsLine line;
    const bool parsed = ParseMapsLine(maps.substr(0, end), line);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    if (!parsed || !line.executable() || line.start >= line.end) continue;
    const Range range{line.start, line.end, KindOfPath(line.path)};
    Range* last = out.ranges_.empty() ? nullptr : &out.ranges_.back();
    if (last != nullptr && range.start < last->end) continue;  // the kernel sorts them
    if (last != nullptr && range.start == last->end && range.kind == last->kind)
      last->end = range.end;
    else
      out.ranges_.push_back(range);
  }
  return out;
}

CodeKind CodeRanges::KindOf(uint64_t address) const {
  if (ranges_.empty() || address < ranges_.front().start) return CodeKind::kNone;
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](uint64_t a, const Range& r) { return a < r.start; });
  const Range& range = *(after - 1);
  return address < range.end ? range.kind : CodeKind::kNone;
}

}  // namespace clrscope::capture
