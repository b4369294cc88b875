// SPDX-License-Identifier: Apache-2.0
// The native modules that stay loaded, by address: the runtime's and the C library. Never changes
// once it is made, so that any thread may look into it and read the modules' tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "unwind/eh_frame.h"

namespace clrscope::agent {

// This process's own memory, read in place.
class OwnMemory final : public unwind::ModuleMemory {
 public:
  Bytes At(uint64_t address, size_t size) override {
    return AsBytes(reinterpret_cast<const void*>(address),
                   size);  // NOLINT(performance-no-int-to-ptr)
  }
};

class NativeMap {
 public:
  // Takes the loader's lock, like the next: not on a thread that the runtime waits for.
  static std::unique_ptr<NativeMap> Make();

  // The rule for an address in whichever module is loaded there now, which cannot be unloaded
  // meanwhile. False: there is none.
  static bool RuleOfLoaded(uintptr_t ip, unwind::FrameRule* rule);

  // How often modules were unloaded so far; some, if it differs.
  static uint64_t Unloads();

  const unwind::NativeModule* Find(uintptr_t ip) const;
  size_t size() const { return modules_.size(); }

 private:
  std::vector<unwind::NativeModule> modules_;  // by text
};

}  // namespace clrscope::agent
