// SPDX-License-Identifier: Apache-2.0
// Where a process has code, and whose it is as far as the map of its memory tells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace clrscope::capture {

enum class CodeKind : uint8_t {
  kNone,    // nothing executable is known there
  kNative,  // libraries, the executable, [vdso]
  kManaged  // methods, or stubs of the runtime: it writes both into the same memory
};

class CodeRanges {
 public:
  // The text of /proc/PID/maps. Source: proc(5)
  static CodeRanges Parse(std::string_view maps);

  CodeKind KindOf(uint64_t address) const;
  // How many addresses of a chain, leaf first, come before the first in managed code.
  size_t NativesOf(std::span<const uint64_t> chain) const {
    return static_cast<size_t>(
        std::find_if(chain.begin(), chain.end(), [this](uint64_t a) { return managed(a); }) -
        chain.begin());
  }
  bool managed(uint64_t address) const { return KindOf(address) == CodeKind::kManaged; }
  // Where the file that is mapped there for execution begins in memory; 0: none, or not known.
  uint64_t ImageOf(uint64_t address) const {
    const Range* range = Find(address);
    return range != nullptr ? range->image : 0;
  }
  bool empty() const { return ranges_.empty(); }
  size_t size() const { return ranges_.size(); }
  bool operator==(const CodeRanges&) const = default;

 private:
  struct Range {
    uint64_t start, end;
    CodeKind kind;
    uint64_t image;
    bool operator==(const Range&) const = default;
  };
  const Range* Find(uint64_t address) const;
  void Append(const Range& range);

  std::vector<Range> ranges_;  // by address, apart
};

}  // namespace clrscope::capture
