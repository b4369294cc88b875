// SPDX-License-Identifier: Apache-2.0
// Where a process has code, read again when a stack has addresses that are not known: at once, and
// less and less often while that is no use. What runs is code for certain, so it has a patience of
// its own: where chains of frame pointers end in what is none must not delay it.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "capture/kernel/code_ranges.h"
#include "capture/proc/maps_line.h"

namespace clrscope::capture {

class CodeLook {
 public:
  explicit CodeLook(pid_t pid) : pid_(pid) {}

  // As of now, as far as that is known, for a stack of these addresses, leaf first.
  const CodeRanges& For(std::span<const uint64_t> addresses, int64_t now_ns) {
    const int64_t since_ns = now_ns - looked_ns_;
    const auto leaf = addresses.first(std::min<size_t>(addresses.size(), 1));
    const bool runs_unknown = HasUnknown(leaf);
    if (!old_ && !(runs_unknown && since_ns >= leaf_wait_ns_) &&
        !(since_ns >= wait_ns_ && HasUnknown(addresses)))
      return code_;
    Read(now_ns);
    wait_ns_ = Next(wait_ns_, HasUnknown(addresses));
    if (runs_unknown) leaf_wait_ns_ = Next(leaf_wait_ns_, HasUnknown(leaf));
    return code_;
  }
  // Something may have been mapped since the last look, as far as that can be guessed.
  const CodeRanges& Again(int64_t now_ns) {
    if (old_ || now_ns - looked_ns_ >= std::max(again_wait_ns_, kAgainNs))
      again_wait_ns_ = Next(again_wait_ns_, !Read(now_ns));
    return code_;
  }
  // The text of the latest map of memory that For() or Again() used; "" when that was taken before.
  // Samples are to be named by the files that their stacks were walked with.
  std::string TakeMaps() { return std::exchange(maps_, {}); }
  // How often the map of memory was read.
  uint64_t reads() const { return reads_; }
  // Another program runs.
  void Outdate() { old_ = true; }

 private:
  static constexpr int64_t kAgainNs = 50'000'000, kMostNs = 1'000'000'000;

  // Returns whether there is other code than before.
  bool Read(int64_t now_ns) {
    looked_ns_ = now_ns;
    ++reads_;
    old_ = false;
    std::string maps = MapsOf(pid_);
    CodeRanges code = CodeRanges::Parse(maps);
    if (code.empty()) return false;  // the process has ended: the last map is as good as it gets
    const bool any_new = !(code == code_);
    code_ = std::move(code);
    maps_ = std::move(maps);
    return any_new;
  }
  static int64_t Next(int64_t wait_ns, bool in_vain) {
    return in_vain ? std::clamp(wait_ns * 2, 2 * kAgainNs, kMostNs) : kAgainNs;
  }
  bool HasUnknown(std::span<const uint64_t> addresses) const {
    return std::any_of(addresses.begin(), addresses.end(),
                       [this](uint64_t a) { return code_.KindOf(a) == CodeKind::kNone; });
  }

  pid_t pid_;
  CodeRanges code_;
  std::string maps_;
  bool old_ = true;
  int64_t looked_ns_ = 0, wait_ns_ = 0, leaf_wait_ns_ = 0, again_wait_ns_ = 0;
  uint64_t reads_ = 0;
};

}  // namespace clrscope::capture
