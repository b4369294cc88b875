// SPDX-License-Identifier: Apache-2.0
// The program's errno, which callbacks and handlers of signals may not change.
#pragma once

#include <cerrno>

namespace clrscope::agent {

class KeptErrno {
 public:
  KeptErrno() = default;
  ~KeptErrno() { errno = error_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  const int error_ = errno;
};

}  // namespace clrscope::agent
