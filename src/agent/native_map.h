// SPDX-License-Identifier: Apache-2.0
// The native modules that are loaded, by address. Never changes once it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/eh_frame.h"

namespace clrscope::agent {

class NativeMap {
 public:
  // What is loaded now. Takes the loader's lock: not from a thread that the runtime waits for.
  static std::unique_ptr<NativeMap> Make();

  const NativeModule* Find(uintptr_t ip) const;
  size_t size() const { return modules_.size(); }

 private:
  std::vector<NativeModule> modules_;  // by text
};

}  // namespace clrscope::agent
