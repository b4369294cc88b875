// SPDX-License-Identifier: Apache-2.0
// Who wants to know of code as the runtime tells of it, beside the process's tables.
#pragma once

#include <cstdint>

namespace clrscope::analysis {

class CodeListener {
 public:
  virtual ~CodeListener() = default;
  struct Method {
    uint64_t start = 0;
    uint32_t size = 0;
    uint64_t id = 0;       // that of all versions of the method
    int64_t time_ns = -1;  // when; below 0: it was there when it was told of
  };
  // Compiled while the program runs; told again by rundowns.
  virtual void OnMethod(const Method& method) = 0;
  virtual void OnUnload(const Method& method) = 0;
};

}  // namespace clrscope::analysis
