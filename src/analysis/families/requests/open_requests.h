// SPDX-License-Identifier: Apache-2.0
// The requests that go on, and those that ended a moment ago, by the path of their activity.
// Bounded: the one that began first makes room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/families/requests/activity_path.h"

namespace clrscope::analysis {

// From paths to slots; erases, so that requests come and go without end.
class PathIndex {
 public:
  static constexpr uint32_t kNone = ~0u;
  PathIndex() : slots_(256) {}

  uint32_t Find(const ActivityPath& path) const {
    for (size_t i = Home(path);; i = Next(i)) {
      if (slots_[i].value == kNone) return kNone;
      if (slots_[i].path == path) return slots_[i].value;
    }
  }
  // The value of the longest beginning of the path that has one: what it lies within, or itself.
  uint32_t FindWithin(const ActivityPath& path) const {
    if (size_ == 0) return kNone;
    for (size_t n = path.size(); n > 0; --n)
      if (const uint32_t value = Find(path.Prefix(n)); value != kNone) return value;
    return kNone;
  }
  // The path must not be there.
  void Add(const ActivityPath& path, uint32_t value) {
    if (++size_ * 2 > slots_.size()) Grow();
    Put(path, value);
  }
  void Erase(const ActivityPath& path) {
    size_t i = Home(path);
    for (; slots_[i].path != path || slots_[i].value == kNone; i = Next(i))
      if (slots_[i].value == kNone) return;
    --size_;
    // What comes behind it moves up, unless it lies at or behind its own place already.
    for (size_t j = Next(i);; j = Next(j)) {
      if (slots_[j].value == kNone) break;
      const size_t home = Home(slots_[j].path);
      if (((j - home) & Mask()) < ((j - i) & Mask())) continue;
      slots_[i] = slots_[j];
      i = j;
    }
    slots_[i] = {};
  }
  size_t size() const { return size_; }

 private:
  struct Slot {
    ActivityPath path;
    uint32_t value = kNone;
  };
  size_t Mask() const { return slots_.size() - 1; }
  size_t Home(const ActivityPath& path) const { return path.Hash() & Mask(); }
  size_t Next(size_t i) const { return (i + 1) & Mask(); }
  void Put(const ActivityPath& path, uint32_t value) {
    size_t i = Home(path);
    while (slots_[i].value != kNone) i = Next(i);
    slots_[i] = {path, value};
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.value != kNone) Put(s.path, s.value);
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace clrscope::analysis
