// SPDX-License-Identifier: Apache-2.0
// The stacks that events may refer to until the next sequence point.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "clr/raw_event.h"
#include "nettrace/recurring_stacks.h"

namespace clrscope::nettrace {

class StackTable {
 public:
  // `remember`: stacks that come again have the same memo, see RecurringStacks.
  explicit StackTable(bool remember) : memos_(remember) {}

  // Takes a StackBlock's content; the bytes must live until Clear().
  Status AddBlock(Bytes content, uint64_t offset, uint8_t pointer_size);
  void Clear();
  // Copies the bytes of all stacks: those that were given may go away.
  void Own();
  size_t size() const { return stacks_.size(); }

  // Sets `view` and returns whether the stack `id` is known.
  bool Find(uint32_t id, clr::StackView& view) {
    if (id - last_first_ < last_count_) {
      Fill(last_base_ + (id - last_first_), view);
      return true;
    }
    return FindSlow(id, view);
  }

  // `id` will be asked for soon.
  void Prefetch(uint32_t id) const {
    if (id - last_first_ >= last_count_) return;
    __builtin_prefetch(&memos_.memo(stacks_[last_base_ + (id - last_first_)].memo));
  }

 private:
  struct Stack {
    const std::byte* data;
    uint32_t frames;
    uint32_t memo;  // its index
  };
  struct Block {
    uint32_t first, count;
    size_t base;  // index into stacks_
  };

  bool FindSlow(uint32_t id, clr::StackView& view);
  void Fill(size_t index, clr::StackView& view) {
    const Stack& s = stacks_[index];
    view = {s.data, s.frames, pointer_size_, &memos_.memo(s.memo)};
  }

  std::vector<Stack> stacks_;
  RecurringStacks memos_;
  std::vector<Block> blocks_;  // a later block wins
  size_t owned_stacks_ = 0;    // the first so many lie in owned_
  std::vector<std::unique_ptr<std::byte[]>> owned_;
  uint32_t last_first_ = 0, last_count_ = 0;
  size_t last_base_ = 0;
  uint8_t pointer_size_ = 8;
};

}  // namespace clrscope::nettrace
