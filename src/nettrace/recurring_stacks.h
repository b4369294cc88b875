// SPDX-License-Identifier: Apache-2.0
// Memos of stacks. A stream sends a stack anew after each sequence point, and a program comes by
// few stacks: those of a file are known again by their bytes, so that the receiver's memo outlives
// the sequence point and most stacks need not be looked at a second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "base/large_vector.h"
#include "clr/raw_event.h"

namespace clrscope::nettrace {

class RecurringStacks {
 public:
  // Not `remembered`: every stack has a memo of its own, until Clear().
  explicit RecurringStacks(bool remembered) : remembered_(remembered) {}

  // Takes the stacks of a block one after the other, then sets set(i, memo's index) for each.
  void Add(Bytes ips);
  template <class Set>
  void Resolve(Set&& set) {
    for (size_t i = 0; i < hashes_.size(); ++i) set(i, remembered_ ? Index(hashes_[i]) : NewMemo());
    hashes_.clear();
  }
  void Forget() { hashes_.clear(); }  // in place of Resolve()

  clr::StackMemo& memo(uint32_t index) { return memos_[index]; }
  const clr::StackMemo& memo(uint32_t index) const { return memos_[index]; }
  // No index is used any more.
  void Clear();

 private:
  // With a hundred thousand stacks two share a hash of 64 bits with a chance below 1 in 3 thousand
  // million.
  struct Slot {
    uint64_t hash = 0;
    uint32_t index = 0;  // of the memo + 1; 0 = empty
  };
  uint32_t Index(uint64_t hash);
  uint32_t NewMemo() {
    memos_.emplace_back();
    return static_cast<uint32_t>(memos_.size() - 1);
  }
  void Grow();

  bool remembered_;
  LargeVector<clr::StackMemo> memos_;
  LargeVector<Slot> slots_;
  std::vector<uint64_t> hashes_;  // of the block that is being taken
};

}  // namespace clrscope::nettrace
