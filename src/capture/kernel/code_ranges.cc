// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_ranges.h"

#include <algorithm>

#include "capture/proc/maps_line.h"

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

// Finds where each file's image begins, line by line. A library's first segment has the file's
// begin; so has an assembly's header, and often its code as well, which lies behind it.
class ImageBases {
 public:
  uint64_t Of(const MapsLine& line) {
    if (line.path.empty() || line.path.starts_with(kRuntimeCodeFile)) return 0;
    if (line.path == "[vdso]") return line.start;
    if (line.path != path_) {
      path_ = line.path;
      base_ = 0;
    }
    const bool shared = line.permissions.size() >= 4 && line.permissions[3] == 's';
    if (line.offset == 0 && !shared && (!line.executable() || base_ == 0)) base_ = line.start;
    return base_;
  }

 private:
  std::string_view path_;
  uint64_t base_ = 0;
};

}  // namespace

CodeRanges CodeRanges::Parse(std::string_view maps) {
  CodeRanges out;
  ImageBases bases;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    MapsLine line;
    const bool parsed = ParseMapsLine(maps.substr(0, end), line);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    if (!parsed || line.start >= line.end) continue;
    const uint64_t image = bases.Of(line);
    if (line.executable()) out.Append({line.start, line.end, KindOfPath(line.path), image});
  }
  return out;
}

void CodeRanges::Append(const Range& range) {
  Range* last = ranges_.empty() ? nullptr : &ranges_.back();
  if (last != nullptr && range.start < last->end) return;  // the kernel sorts them
  if (last != nullptr && range.start == last->end && range.kind == last->kind &&
      range.image == last->image)
    last->end = range.end;
  else
    ranges_.push_back(range);
}

const CodeRanges::Range* CodeRanges::Find(uint64_t address) const {
  if (ranges_.empty() || address < ranges_.front().start) return nullptr;
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](uint64_t a, const Range& r) { return a < r.start; });
  const Range& range = *(after - 1);
  return address < range.end ? &range : nullptr;
}

CodeKind CodeRanges::KindOf(uint64_t address) const {
  const Range* range = Find(address);
  return range != nullptr ? range->kind : CodeKind::kNone;
}

}  // namespace clrscope::capture
