// SPDX-License-Identifier: Apache-2.0
// What brought collections about: what was allocated before them, and who asked for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/profile.h"

namespace clrscope::analysis {

// Allocated type and the first method outside the framework.
struct GcSite {
  uint32_t type = 0, frame = 0;  // indexes into the profile's
  int64_t bytes = 0;
};

// Sites of single GCs; what they need of the profile is worked out once.
class GcSites {
 public:
  explicit GcSites(const profile::Profile& profile);
  // The largest ones, put together from the stacks that the GC keeps.
  std::vector<GcSite> Of(const profile::GcRecord& gc) const;
  uint32_t FrameOf(uint32_t node) const { return frames_[node]; }

 private:
  std::vector<uint32_t> frames_;  // by node
};

struct InducingStack {
  uint32_t node = 0;  // leaf; 0 = no stack
  uint64_t gcs = 0;
  int64_t pause_ns = 0;  // of those whose pause is known
};
// Who called GC.Collect; the longest pauses first.
std::vector<InducingStack> InducingStacks(std::span<const profile::PackedGc> gcs);

// Types by what was allocated of them before the GCs that allocations triggered: each such pause is
// split by their shares of those bytes.
struct TypeBlame {
  uint32_t type = 0;
  int64_t bytes = 0;
  double pause_ns = 0;
};
struct Blame {
  std::vector<TypeBlame> types;  // most pause first
  double pause_ns = 0;           // of all GCs that are split
  double named_ns = 0;           // of it, to the types above
};
Blame BlameTypes(std::span<const profile::PackedGc> gcs);

}  // namespace clrscope::analysis
