// SPDX-License-Identifier: Apache-2.0
// What of a method does not depend on where its code lies. A machine's processes run the same
// framework: each of its methods is kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/strong.h"

namespace clrscope::profile {

struct MethodInfo {
  StringId owner, name, signature;  // as the runtime writes them
  uint32_t token = 0;
  uint32_t flags = 0;  // the runtime's method flags
  bool operator==(const MethodInfo&) const = default;
};

class MethodPool {
 public:
  // The id of `info`, adding it when it is new. Dense, in order of arrival.
  uint32_t Intern(const MethodInfo& info);
  const MethodInfo& Get(uint32_t id) const { return infos_[id]; }
  size_t size() const { return infos_.size(); }

 private:
  static size_t Hash(const MethodInfo& m);
  void Grow();

  std::vector<MethodInfo> infos_;
  std::vector<uint32_t> places_;  // id + 1; 0 = empty
};

}  // namespace clrscope::profile
