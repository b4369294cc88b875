// SPDX-License-Identifier: Apache-2.0
// Collections in little room: a program collects for weeks. A record takes 1.3 KB, most of which is
// zero or unknown; packed it takes a quarter, and passes that need no more than its brief read that
// only.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/large_vector.h"
#include "profile/gc_record.h"

namespace clrscope::profile {

class PackedGc : public GcBrief {
 public:
  PackedGc(const GcRecord& record);  // NOLINT: a record goes wherever a packed one is kept
  PackedGc(const PackedGc& other);
  PackedGc(PackedGc&&) = default;
  PackedGc& operator=(const PackedGc& other);
  PackedGc& operator=(PackedGc&&) = default;

  // The whole record, its brief as it is now.
  GcRecord Unpack() const;

  // Lets `change` change each entry of `top_types`, then of `top_stacks`.
  template <class Change>
  void ChangeAllocated(Change&& change) {
    constexpr size_t kWords = sizeof(GcAllocated) / sizeof(uint32_t);
    const size_t count = words_[kTypes] + words_[kStacks];  // they come last
    uint32_t* at = words_.get() + words_[kSize] - count * kWords;
    for (size_t i = 0; i < count; ++i, at += kWords) {
      GcAllocated entry;
      std::memcpy(static_cast<void*>(&entry), at, sizeof(entry));
      change(entry);
      std::memcpy(at, &entry, sizeof(entry));
    }
  }

 private:
  enum Head : size_t { kSize, kHeaps, kTypes, kStacks, kHeadWords };
  std::unique_ptr<uint32_t[]> words_;  // of all of them the size; then how many of each there are
};

using GcRecords = LargeVector<PackedGc>;

}  // namespace clrscope::profile
