// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/thrown_names.h"

#include <algorithm>
#include <cstring>

#include "agent/samples/lazy_memory.h"
#include "base/hash_bytes.h"

namespace clrscope::agent {

ThrownNames::ThrownNames()
    : slots_(LazyArray<Slot>(kSlots)), text_(LazyArray<std::byte>(kUnits * 2)) {}

ThrownNames::~ThrownNames() {
  FreeLazy(slots_, kSlots);
  FreeLazy(text_, kUnits * 2);
}

uint32_t ThrownNames::FindOrAdd(Utf16View name) {
  if (slots_ == nullptr || text_ == nullptr) return kOther;
  const uint64_t hash = HashBytes(name.bytes()) | 1;
  size_t at = (hash >> 16) & (kSlots - 1);
  for (;; at = (at + 1) & (kSlots - 1)) {
    Slot& s = slots_[at];
    uint64_t there = s.hash.load(std::memory_order_acquire);
    if (there == hash) return static_cast<uint32_t>(at) + 1;
    if (there != 0) continue;
    // Threads that come at once may pass the bound by as many as they are: the table has room.
    if (count_.load(std::memory_order_relaxed) >= kMost) return kOther;
    if (s.hash.compare_exchange_strong(there, hash, std::memory_order_acq_rel)) break;
    if (there == hash) return static_cast<uint32_t>(at) + 1;
  }
  Slot& mine = slots_[at];
  count_.fetch_add(1, std::memory_order_relaxed);
  const auto units = static_cast<uint32_t>(std::min(name.units, kLongest));
  mine.first = used_.fetch_add(units, std::memory_order_relaxed);
  mine.units = mine.first + size_t{units} <= kUnits ? units : 0;
  mine.cut = mine.units < name.units;
  if (mine.units != 0) std::memcpy(text_ + size_t{mine.first} * 2, name.data, mine.units * 2);
  mine.ready.store(1, std::memory_order_release);
  return static_cast<uint32_t>(at) + 1;
}

Utf16View ThrownNames::Get(uint32_t id, bool* cut) const {
  *cut = false;
  if (id == kOther || id > kSlots) return {};
  const Slot& s = slots_[id - 1];
  if (s.ready.load(std::memory_order_acquire) == 0) return {};
  *cut = s.cut;
  return {text_ + size_t{s.first} * 2, s.units};
}

}  // namespace clrscope::agent
