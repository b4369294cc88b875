// SPDX-License-Identifier: Apache-2.0
#include "report/input/damage.h"

#include <fmt/format.h>

namespace clrscope::report {

std::optional<Error> DamageOf(const import::TraceSummary& trace, const std::string& path,
                              bool ended) {
  std::string file = path == "-" ? "standard input" : path;
  if (trace.unpacked) file += ", unpacked,";
  if (trace.damage) {
    const uint64_t at =
        trace.damage->offset == Error::kNoOffset ? trace.bytes : trace.damage->offset;
    return Error::At(trace.damage->code, at,
                     fmt::format("{} is damaged at byte {}: {}; everything before it was read",
                                 file, at, trace.damage->message));
  }
  if (ended) return std::nullopt;
  const uint64_t whole = trace.bytes - trace.losses[Loss::kTruncatedBytes];
  if (whole == trace.bytes)
    return Error::At(
        ErrorCode::kTruncated, whole,
        fmt::format("{} stops at byte {} without an end (its recorder was killed, or still runs); "
                    "everything up to there was read",
                    file, whole));
  return Error::At(
      ErrorCode::kTruncated, whole,
      fmt::format(
          "{} is cut off: its last whole block ends at byte {} of {}; everything up to there "
          "was read",
          file, whole, trace.bytes));
}

}  // namespace clrscope::report
