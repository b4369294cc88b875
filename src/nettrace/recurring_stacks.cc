// SPDX-License-Identifier: Apache-2.0
#include "nettrace/recurring_stacks.h"

namespace clrscope::nettrace {
namespace {

__extension__ using Uint128 = unsigned __int128;  // ISO C++ knows no 128-bit integer

// More are forgotten at the next sequence point: 5 MB.
constexpr size_t kMaxRemembered = 1 << 17;

constexpr uint64_t kA = 0x9E3779B97F4A7C15u, kB = 0xBF58476D1CE4E5B9u, kC = 0x94D049BB133111EBu;

uint64_t MultiplyMix(uint64_t a, uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Three chains of multiplications at a time: a stack has hundreds of bytes, and every one passes
// here.
uint64_t HashOf(Bytes ips) {
  const std::byte* p = ips.data();
  size_t n = ips.size();
  uint64_t a = kA ^ n, b = kB, c = kC;
  for (; n >= 48; n -= 48, p += 48) {
    a = MultiplyMix(LoadAt<uint64_t>(p) ^ kA, LoadAt<uint64_t>(p + 8) ^ a);
    b = MultiplyMix(LoadAt<uint64_t>(p + 16) ^ kB, LoadAt<uint64_t>(p + 24) ^ b);
    c = MultiplyMix(LoadAt<uint64_t>(p + 32) ^ kC, LoadAt<uint64_t>(p + 40) ^ c);
  }
  a ^= b ^ (c << 1 | c >> 63);
  for (; n >= 8; n -= 8, p += 8) a = MultiplyMix(LoadAt<uint64_t>(p) ^ kB, a ^ kC);
  for (; n > 0; --n, ++p) a = MultiplyMix(static_cast<uint64_t>(*p) ^ kC, a ^ kB);
  return MultiplyMix(a ^ kA, kB);
}

}  // namespace

void RecurringStacks::Add(Bytes ips) {
  const uint64_t hash = remembered_ ? HashOf(ips) : 0;
  hashes_.push_back(hash);
  // By the time the block is resolved it has come.
  if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
}

uint32_t RecurringStacks::Index(uint64_t hash) {
  if ((memos_.size() + 1) * 2 > slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].index != 0 && slots_[i].hash != hash) i = (i + 1) & mask;
  if (slots_[i].index == 0) slots_[i] = {hash, NewMemo() + 1};
  return slots_[i].index - 1;
}

void RecurringStacks::Grow() {
  LargeVector<Slot> bigger(slots_.empty() ? 1 << 8 : slots_.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.index == 0) continue;
    size_t i = slot.hash & mask;
    while (bigger[i].index != 0) i = (i + 1) & mask;
    bigger[i] = slot;
  }
  slots_.swap(bigger);
}

void RecurringStacks::Clear() {
  if (remembered_ && memos_.size() <= kMaxRemembered) return;
  memos_.clear();
  slots_.clear();
  if (remembered_) {  // the room of a stream that is unusual, too
    memos_.shrink_to_fit();
    slots_.shrink_to_fit();
  }
}

}  // namespace clrscope::nettrace
