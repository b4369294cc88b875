// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_ranges.h"

#include <algorithm>
#include <charconv>

namespace clrscope::capture {
namespace {

// Takes what lies before the next run of blanks.
std::string_view TakeWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

bool ParseHex(std::string_view text, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return error == std::errc{} && end == text.data() + text.size();
}

// The runtime's code lies in memory without a file, or with W^X in a memory file, and in
// precompiled assemblies.
// Source: dotnet/runtime src/coreclr/minipal/Unix/doublemapping.cpp
CodeKind KindOfPath(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  if (path.empty() || path.starts_with("[anon:") || path.starts_with("/memfd:doublemapper") ||
      path.ends_with(".dll"))
    return CodeKind::kManaged;
  return CodeKind::kNative;
}

}  // namespace

CodeRanges CodeRanges::Parse(std::string_view maps) {
  CodeRanges out;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    const std::string_view span = TakeWord(line), permissions = TakeWord(line);
    TakeWord(line), TakeWord(line), TakeWord(line);  // offset, device, inode
    const size_t dash = span.find('-');
    Range range{};
    if (dash == span.npos || permissions.size() < 3 || permissions[2] != 'x' ||
        !ParseHex(span.substr(0, dash), range.start) || !ParseHex(span.substr(dash + 1), range.end))
      continue;
    if (range.start >= range.end) continue;
    range.kind = KindOfPath(line);
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
