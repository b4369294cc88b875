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
    if (!parsed || line.start >= line.end) continue;
    if (line.executable())
      Append(out.ranges_, {line.start, line.end, KindOfPath(line.path)});
    else if (line.permissions.starts_with('r'))
      Append(out.data_, {line.start, line.end, CodeKind::kNone});
  }
  return out;
}

void CodeRanges::Append(std::vector<Range>& ranges, const Range& range) {
  Range* last = ranges.empty() ? nullptr : &ranges.back();
  if (last != nullptr && range.start < last->end) return;  // the kernel sorts them
  if (last != nullptr && range.start == last->end && range.kind == last->kind)
    last->end = range.end;
  else
    ranges.push_back(range);
}

const CodeRanges::Range* CodeRanges::Find(const std::vector<Range>& ranges, uint64_t address) {
  if (ranges.empty() || address < ranges.front().start) return nullptr;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t a, const Range& r) { return a < r.start; });
  const Range& range = *(after - 1);
  return address < range.end ? &range : nullptr;
}

CodeKind CodeRanges::KindOf(uint64_t address) const {
  const Range* range = Find(ranges_, address);
  return range != nullptr ? range->kind : CodeKind::kNone;
}

bool CodeRanges::MayBecomeCode(uint64_t address) const {
  return Find(ranges_, address) == nullptr && Find(data_, address) == nullptr;
}

}  // namespace clrscope::capture
