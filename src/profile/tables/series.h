// SPDX-License-Identifier: Apache-2.0
// Series: what samples are counted by. One series is one (stack, type, heap kind, event, size
// class, set of labels); a time slice counts its samples by series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/large_vector.h"
#include "profile/estimate/estimate.h"

namespace clrscope::profile {

// Objects of nearly one size: exact up to 128 bytes, then sixteen classes per power of two, so that
// estimating with the class's mean size in place of each object's own is off by at most 0.01 % for
// bytes and 0.09 % for objects (the worst mix of a class's sizes; see SizeClass tests).
uint16_t SizeClass(uint64_t size);

// In place of a size class, of kCounted: objects that were added, with a guessed size.
inline constexpr uint16_t kGuessedSize = 1;

struct SeriesKey {
  uint32_t node = 0;
  uint32_t type = 0;
  uint16_t attributes = 0;  // heap kind, source and size class, see Make()
  uint16_t labels = 0;      // of the process's LabelTable

  static SeriesKey Make(uint32_t node, uint32_t type, HeapKind kind, Source source,
                        uint16_t size_class, uint16_t labels = 0) {
    return {node, type,
            static_cast<uint16_t>(static_cast<uint32_t>(kind) | static_cast<uint32_t>(source) << 2 |
                                  static_cast<uint32_t>(size_class) << 6),
            labels};
  }
  HeapKind kind() const { return static_cast<HeapKind>(attributes & 3); }
  Source source() const { return static_cast<Source>((attributes >> 2) & 15); }
  uint16_t size_class() const { return static_cast<uint16_t>(attributes >> 6); }
  bool operator==(const SeriesKey&) const = default;
};

// Sums of one series over a span of time.
//   samples     events
//   amount      of what the events show: bytes of sampled objects, nanoseconds waited, rethrows
//   stands_for  what the events say they stand for: bytes (AllocationTick), things (every source
//               that is exact), nothing (AllocationSampled)
struct Sums {
  uint64_t samples = 0, amount = 0, stands_for = 0;
  Sums& operator+=(const Sums& o) {
    samples += o.samples;
    amount += o.amount;
    stands_for += o.stands_for;
    return *this;
  }
};
Estimate EstimateOf(const SeriesKey& key, const Sums& sums);

// Dense ids for series in order of arrival, up to a cap.
class SeriesTable {
 public:
  static constexpr uint32_t kDefaultMax = 1'500'000;
  explicit SeriesTable(uint32_t max = kDefaultMax) : max_(max), slots_(1 << 6) {}

  // Returns the id of `key`, adding it when it is new. Past the cap, new keys are counted under the
  // node `other_node`, so that only their stack is lost.
  // `nominal_size`: of the first sample; what later samples' sizes are stored against.
  uint32_t Find(const SeriesKey& key, uint64_t nominal_size, uint32_t other_node, bool* capped);
  const std::vector<SeriesKey>& keys() const { return keys_; }
  const std::vector<uint64_t>& nominal_sizes() const { return nominal_sizes_; }
  void Restore(SeriesKey key, uint64_t nominal_size) {
    keys_.push_back(key);
    nominal_sizes_.push_back(nominal_size);
  }

 private:
  static uint64_t Hash(const SeriesKey& k) {
    uint64_t h = (uint64_t{k.node} << 32 | k.type) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    h = (h + (uint32_t{k.labels} << 16 | k.attributes)) * 0xD6E8FEB86659FD93u;
    return h ^ (h >> 32);
  }
  struct Slot {
    SeriesKey key;
    uint32_t id_plus_one = 0;  // 0 = empty
  };
  void Grow();

  uint32_t max_;
  std::vector<SeriesKey> keys_;
  std::vector<uint64_t> nominal_sizes_;
  LargeVector<Slot> slots_;  // with the key, so that a hit touches one cache line
};

}  // namespace clrscope::profile
