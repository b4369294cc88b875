// SPDX-License-Identifier: Apache-2.0
// Hash map from 64-bit keys to 32-bit values for hot paths: open addressing, no erase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mix_bits.h"

namespace clrscope {

// A key of two parts.
inline uint64_t PairKey(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

class FlatMap {
 public:
  static constexpr uint32_t kNone = ~0u;

  FlatMap() : slots_(64) {}

  // The value of `key`, or kNone.
  uint32_t Find(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = Hash(key) & mask; slots_[i].value != kNone; i = (i + 1) & mask)
      if (slots_[i].key == key) return slots_[i].value;
    return kNone;
  }
  // Adds or replaces; `value` must not be kNone.
  void Set(uint64_t key, uint32_t value) {
    size_t mask = slots_.size() - 1;
    size_t i = Hash(key) & mask;
    for (; slots_[i].value != kNone; i = (i + 1) & mask) {
      if (slots_[i].key == key) {
        slots_[i].value = value;
        return;
      }
    }
    slots_[i] = {key, value};
    if (++size_ * 3 > slots_.size() * 2) Grow();
  }
  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kNone;
  };
  static size_t Hash(uint64_t key) { return static_cast<size_t>(MixBits(key)); }
  void Grow() {
    std::vector<Slot> bigger(slots_.size() * 2);
    const size_t mask = bigger.size() - 1;
    for (const Slot& s : slots_) {
      if (s.value == kNone) continue;
      size_t i = Hash(s.key) & mask;
      while (bigger[i].value != kNone) i = (i + 1) & mask;
      bigger[i] = s;
    }
    slots_.swap(bigger);
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace clrscope
