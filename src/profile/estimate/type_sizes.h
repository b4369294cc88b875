// SPDX-License-Identifier: Apache-2.0
// Which types have objects of several sizes, by all samples of them. A row of such a type (of one
// site, of what still lives) may show one size by chance, and hide others.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/estimate/estimate.h"

namespace clrscope::profile {

struct Profile;

class TypeSizes {
 public:
  void Add(uint32_t type, const Estimate& e);
  bool many(uint32_t type) const { return type < types_.size() && types_[type].many; }

 private:
  struct One {
    double size = 0;  // of the first; 0: none yet
    bool many = false;
  };
  std::vector<One> types_;
};

// Tells it to types, cells and live cells.
void MarkTypeSizes(Profile& profile);

}  // namespace clrscope::profile
