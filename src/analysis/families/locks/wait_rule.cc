// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/locks/wait_rule.h"

namespace clrscope::analysis {

bool IsRuntimesOwnWait(const profile::Profile& p, uint32_t node) {
  bool any = false;
  for (; node != 0; node = p.nodes[node].parent) {
    const profile::Frame& f = p.frames[p.nodes[node].frame];
    if ((f.flags & (profile::kUnresolved | profile::kPseudo)) != 0) continue;
    if ((f.flags & profile::kFramework) == 0) return false;
    any = true;
  }
  return any;
}

bool MayHaveGivenUp(const profile::Profile& p, uint32_t node) {
  constexpr int kHelpers = 6;
  for (int i = 0; i < kHelpers && node != 0; ++i, node = p.nodes[node].parent)
    if (p.str(p.frames[p.nodes[node].frame].method)
            .starts_with("System.Threading.Lock.TryEnter_Outlined"))
      return true;
  return false;
}

}  // namespace clrscope::analysis
