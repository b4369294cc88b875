// SPDX-License-Identifier: Apache-2.0
// Captures from the outside: what they span, and those that their writer could not close.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace clrscope::store {

struct CaptureSpan {
  int64_t start_unix_ns = 0;
  int64_t length_ns = 0;
  bool complete = false;  // closed as it should be
};

// errors: not a capture, damaged
Result<CaptureSpan> ReadSpan(const std::string& path);

// Makes one file of a capture whose writer was killed and of the log beside it. It stays marked as
// incomplete: what came after the last commit is lost. Nobody may be writing it.
// errors: kEmpty (killed before its first commit), not a capture, damaged
Result<CaptureSpan> CloseLeftover(const std::string& path);

}  // namespace clrscope::store
