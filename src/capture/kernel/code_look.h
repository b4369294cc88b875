// SPDX-License-Identifier: Apache-2.0
// Where a process has code, read again when a stack has addresses that are not known: at once, and
// less and less often while that is no use.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "capture/kernel/code_ranges.h"
#include "capture/kernel/perf_open.h"

namespace clrscope::capture {

class CodeLook {
 public:
  explicit CodeLook(pid_t pid) : pid_(pid) {}

  // As of now, as far as that is known, for a stack of these addresses.
  const CodeRanges& For(std::span<const uint64_t> addresses, int64_t now_ns) {
    if (!old_ && (!HasUnknown(addresses) || now_ns - looked_ns_ < wait_ns_)) return code_;
    code_ = CodeRanges::Parse(MapsOf(pid_));
    // Where a chain ends in what is no code at all, looking again does not help.
    wait_ns_ = !HasUnknown(addresses) ? kAgainNs : std::clamp(wait_ns_ * 2, 2 * kAgainNs, kMostNs);
    looked_ns_ = now_ns;
    ++reads_;
    old_ = false;
    return code_;
  }
  // Something may have been mapped since the last look.
  const CodeRanges& Again(int64_t now_ns) {
    old_ = old_ || now_ns - looked_ns_ >= std::max(wait_ns_, kAgainNs);
    return For({}, now_ns);
  }
  // How often the map of memory was read.
  uint64_t reads() const { return reads_; }
  // Another program runs.
  void Outdate() { old_ = true; }

 private:
  static constexpr int64_t kAgainNs = 50'000'000, kMostNs = 1'000'000'000;

  bool HasUnknown(std::span<const uint64_t> addresses) const {
    return std::any_of(addresses.begin(), addresses.end(),
                       [this](uint64_t a) { return code_.KindOf(a) == CodeKind::kNone; });
  }

  pid_t pid_;
  CodeRanges code_;
  bool old_ = true;
  int64_t looked_ns_ = 0, wait_ns_ = 0;
  uint64_t reads_ = 0;
};

}  // namespace clrscope::capture
