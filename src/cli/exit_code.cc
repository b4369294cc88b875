// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

namespace clrscope::cli {

int ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return kExitUsage;
    case ErrorCode::kEmpty:
      return kExitEmpty;
    case ErrorCode::kNotFound:
    case ErrorCode::kNotDotnet:
      return kExitNoTarget;
    case ErrorCode::kPermission:
      return kExitPermission;
    case ErrorCode::kRefused:
      return kExitRefused;
    case ErrorCode::kCorrupt:
    case ErrorCode::kTruncated:
      return kExitIncomplete;
    case ErrorCode::kFailed:
    case ErrorCode::kTimeout:
    case ErrorCode::kIo:
      break;
  }
  return kExitFailure;
}

}  // namespace clrscope::cli
