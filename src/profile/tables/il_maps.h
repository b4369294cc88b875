// SPDX-License-Identifier: Apache-2.0
// Native code → IL of the methods that a process compiled, as its runtime tells of them. Each
// version of a method's code (tier, OSR, ReJIT) has a map of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mix_bits.h"
#include "base/varint_writer.h"

namespace clrscope::profile {

struct IlMapPoint {
  uint32_t native_offset = 0;
  int32_t il_offset = 0;  // negative: no IL of its own (prolog, epilog)
  bool operator==(const IlMapPoint&) const = default;
};

class IlMaps {
 public:
  // Some 30 bytes each, of the largest program that was seen 60,000.
  static constexpr size_t kMost = 500'000;

  // The code at `start` is this version of its method; a process says so before or after the map.
  void NoteVersion(uint64_t start, uint64_t method_id, uint64_t version);
  // Returns false where there is no room. What is known already stays.
  bool Add(uint64_t method_id, uint64_t version, const std::vector<IlMapPoint>& points);
  // Of the code at `start`; nothing: it was not told.
  std::optional<std::vector<IlMapPoint>> Find(uint64_t start, uint64_t method_id) const;
  size_t size() const { return places_.size(); }

 private:
  struct Key {
    uint64_t first = 0, method_id = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const { return MixBits(MixBits(k.first) ^ k.method_id); }
  };
  std::unordered_map<Key, uint32_t, Hash> places_;    // by version and method: in bytes_
  std::unordered_map<Key, uint64_t, Hash> versions_;  // by start and method; others have 0
  VarintWriter bytes_;                                // of each map: count, then differences
};

}  // namespace clrscope::profile
