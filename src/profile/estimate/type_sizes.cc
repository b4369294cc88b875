// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/type_sizes.h"

#include <cmath>

#include "profile/profile.h"

namespace clrscope::profile {

void TypeSizes::Add(uint32_t type, const Estimate& e) {
  constexpr double kSameSize = 1e-4;  // means of sizes are rounded
  if (e.seen_count <= 0 || e.seen_amount <= 0) return;
  if (type >= types_.size()) types_.resize(type + size_t{1});
  One& one = types_[type];
  const double size = e.seen_amount / e.seen_count;
  if (one.size == 0) one.size = size;
  one.many = one.many || SizesDiffer(e) || std::fabs(size / one.size - 1) > kSameSize;
}

void MarkTypeSizes(Profile& p) {
  TypeSizes sizes;
  for (const Cell& c : p.shown().cells) sizes.Add(c.type, c.value);
  for (const LiveCell& c : p.lives()) sizes.Add(c.type, c.value);
  for (uint32_t type = 0; type < p.types.size(); ++type)
    p.types[type].many_sizes = sizes.many(type);
  for (Cell& c : p.shown().cells) c.value.many_sizes = p.types[c.type].many_sizes;
  for (Figure& f : p.figures)
    for (LiveCell& c : f.lives) c.value.many_sizes = p.types[c.type].many_sizes;
}

}  // namespace clrscope::profile
