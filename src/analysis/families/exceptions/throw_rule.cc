// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/throw_rule.h"

namespace clrscope::analysis {
namespace {

struct ProfileStacks {
  const profile::Profile& p;
  const profile::Frame& frame(uint32_t node) const { return p.frames[p.nodes[node].frame]; }
  std::string_view method(uint32_t node) const {
    return node == 0 ? std::string_view() : p.str(frame(node).method);
  }
  uint32_t parent(uint32_t node) const { return p.nodes[node].parent; }
  bool has_name(uint32_t node) const { return (frame(node).flags & profile::kUnresolved) == 0; }
};

}  // namespace

Throw ThrowAt(const profile::Profile& p, uint32_t node, std::string_view type) {
  return profile::FindThrow(ProfileStacks{p}, node, type, /*dispatched=*/false);
}

}  // namespace clrscope::analysis
