// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>

#include "agent/host/read_file.h"
#include "agent/stacks/stack_bounds.h"

namespace clrscope::agent {
namespace {

bool TakeHex(std::string_view& text, uintptr_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return !text.empty();
}

}  // namespace

StackMap::StackMap(std::string_view maps) {
  while (!maps.empty()) {
    std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    // "7f12a0000000-7f12a0021000 rw-p 00000000 00:00 0    [stack]"
    Mapping m;
    if (!TakeHex(line, m.begin) || line[0] != '-') continue;
    line.remove_prefix(1);
    if (!TakeHex(line, m.end) || line.size() < 2) continue;
    m.readable = line[1] == 'r';
    m.stack = line.ends_with("[stack]");
    mappings_.push_back(m);
  }
}

StackMap StackMap::OfThisProcess() {
  std::string text;
  (void)ReadFile("/proc/self/maps", &text);
  return StackMap(text);
}

StackBounds StackMap::Of(uintptr_t thread, bool main) const {
  if (main) {
    const auto stack = std::find_if(mappings_.begin(), mappings_.end(),
                                    [](const Mapping& m) { return m.stack && m.readable; });
    return stack == mappings_.end() ? StackBounds{} : StackBounds{stack->begin, stack->end};
  }
  const auto after =
      std::upper_bound(mappings_.begin(), mappings_.end(), thread,
                       [](uintptr_t address, const Mapping& m) { return address < m.begin; });
  if (after == mappings_.begin()) return {};
  const auto holds = after - 1;
  if (thread >= holds->end || !holds->readable || holds == mappings_.begin()) return {};
  const auto guard = holds - 1;
  if (guard->end != holds->begin || guard->readable) return {};
  return {holds->begin, thread};
}

}  // namespace clrscope::agent
