// SPDX-License-Identifier: Apache-2.0
#include "nettrace/stack_table.h"

#include <fmt/format.h>

#include <cstring>

namespace clrscope::nettrace {
namespace {
// Between two sequence points a runtime writes some hundred blocks, whose ids follow on each other.
constexpr size_t kMaxBlocks = 4096;
}  // namespace

Status StackTable::AddBlock(Bytes content, uint64_t offset, uint8_t pointer_size) {
  pointer_size_ = pointer_size;
  ByteReader r(content);
  const uint32_t first = r.U32();
  const uint32_t count = r.U32();
  if (!r.ok() || count > r.remaining() / 4)
    return Error::At(
        ErrorCode::kCorrupt, offset,
        fmt::format("a stack block that claims {} stacks in {} bytes", count, content.size()));
  const size_t base = stacks_.size();
  if (count == 0) return OkStatus();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bytes = r.U32();
    const size_t at = r.position();
    const Bytes ips = r.Take(bytes);
    if (!r.ok()) {
      stacks_.resize(base);
      memos_.Forget();
      return Error::At(ErrorCode::kCorrupt, offset + at,
                       fmt::format("a stack of {} bytes does not fit into its block", bytes));
    }
    stacks_.push_back({ips.data(), bytes / pointer_size, 0});
    memos_.Add(ips);
  }
  memos_.Resolve([&](size_t i, uint32_t memo) { stacks_[base + i].memo = memo; });
  if (!blocks_.empty() && blocks_.back().first + blocks_.back().count == first &&
      blocks_.back().count <= UINT32_MAX - count && first + count > first) {
    blocks_.back().count += count;
  } else {
    if (blocks_.size() >= kMaxBlocks)
      return Error::At(ErrorCode::kCorrupt, offset,
                       "more blocks of stacks than any runtime writes");
    blocks_.push_back({first, count, base});
  }
  last_first_ = blocks_.back().first;
  last_count_ = blocks_.back().count;
  last_base_ = blocks_.back().base;
  return OkStatus();
}

void StackTable::Own() {
  size_t bytes = 0;
  for (size_t i = owned_stacks_; i < stacks_.size(); ++i)
    bytes += size_t{stacks_[i].frames} * pointer_size_;
  if (bytes != 0) owned_.emplace_back(new std::byte[bytes]);
  for (size_t at = 0; owned_stacks_ < stacks_.size(); ++owned_stacks_) {
    Stack& s = stacks_[owned_stacks_];
    const size_t n = size_t{s.frames} * pointer_size_;
    if (n == 0) continue;
    std::memcpy(owned_.back().get() + at, s.data, n);
    s.data = owned_.back().get() + at;
    at += n;
  }
}

void StackTable::Clear() {
  owned_stacks_ = 0;
  owned_.clear();
  stacks_.clear();
  memos_.Clear();
  blocks_.clear();
  last_count_ = 0;
}

bool StackTable::FindSlow(uint32_t id, clr::StackView& view) {
  for (size_t i = blocks_.size(); i-- > 0;) {
    const Block& b = blocks_[i];
    if (id - b.first < b.count) {
      last_first_ = b.first;
      last_count_ = b.count;
      last_base_ = b.base;
      Fill(b.base + (id - b.first), view);
      return true;
    }
  }
  return false;
}

}  // namespace clrscope::nettrace
