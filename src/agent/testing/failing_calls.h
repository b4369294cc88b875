// SPDX-License-Identifier: Apache-2.0
// What objects of the runtime that answer nothing have in common.
#pragma once

#include "base/com/unknown.h"

namespace clrscope::agent {

class FailingCalls {
 protected:
  ~FailingCalls() = default;
  // Each method calls it, with its name.
  virtual void Called(const char* method) const { (void)method; }
  HResult Fail(const char* method = __builtin_FUNCTION()) const {
    Called(method);
    return kFail;
  }
};

}  // namespace clrscope::agent
