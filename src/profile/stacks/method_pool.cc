// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/method_pool.h"

#include <algorithm>

namespace clrscope::profile {

size_t MethodPool::Hash(const MethodInfo& m) {
  uint64_t h = 0;
  for (const uint32_t v : {m.owner.value, m.name.value, m.signature.value, m.token, m.flags}) {
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
  }
  return static_cast<size_t>(h);
}

uint32_t MethodPool::Intern(const MethodInfo& info) {
  if ((infos_.size() + 1) * 4 > places_.size() * 3) Grow();
  const size_t mask = places_.size() - 1;
  size_t i = Hash(info) & mask;
  for (; places_[i] != 0; i = (i + 1) & mask)
    if (infos_[places_[i] - 1] == info) return places_[i] - 1;
  infos_.push_back(info);
  places_[i] = static_cast<uint32_t>(infos_.size());
  return places_[i] - 1;
}

void MethodPool::Grow() {
  std::vector<uint32_t> bigger(std::max<size_t>(64, places_.size() * 2));
  const size_t mask = bigger.size() - 1;
  for (uint32_t id = 0; id < infos_.size(); ++id) {
    size_t i = Hash(infos_[id]) & mask;
    while (bigger[i] != 0) i = (i + 1) & mask;
    bigger[i] = id + 1;
  }
  places_.swap(bigger);
}

}  // namespace clrscope::profile
