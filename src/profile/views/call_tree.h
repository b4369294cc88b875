// SPDX-License-Identifier: Apache-2.0
// Call trees for text: from the root down to what allocates, or from the allocating method up.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "profile/views/tables.h"

namespace clrscope::profile {

struct CallNode {
  uint32_t frame = 0;              // meaningless for node 0, the root
  Estimate total;                  // of this node and all below it
  std::vector<uint32_t> children;  // largest first
};

struct CallTree {
  std::vector<CallNode> nodes;  // node 0 is the root and holds the total of everything
};

struct CallTreeOptions {
  bool bottom_up = false;       // children are callers
  bool keep_machinery = false;  // keep async and thread-pool plumbing
  SortBy sort = SortBy::kAmount;
};

CallTree BuildCallTree(const Profile& profile, const CallTreeOptions& options);

}  // namespace clrscope::profile
