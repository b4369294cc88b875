// SPDX-License-Identifier: Apache-2.0
// The addresses that an interval tells with its stacks: of native code, and, where source lines
// are asked for, of methods. On the agent's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

class PlaceTable {
 public:
  // More than that between two trims have no place: they are told by their methods.
  static constexpr size_t kMost = size_t{1} << 18;

  // A frame of the code table is at this address, in a method, and was when it was looked at. Where
  // the last frame there was of the same method too, and `may_unload` is false, its place serves.
  void Bind(uint32_t frame, uint64_t address, uint32_t method, bool may_unload, int64_t seen_ns);
  void UnbindAll();
  // 0: none.
  uint32_t OfFrame(uint32_t frame) const { return frame < of_frame_.size() ? of_frame_[frame] : 0; }
  // By number - 1.
  const std::vector<profile::IntervalPlace>& all() const { return places_; }

  // Drops the places that are not kept, by number, and numbers the others anew. `frame_is_current`:
  // frames that it refuses lose theirs. Returns the new numbers, 0 for what is dropped.
  template <class IsCurrent>
  std::vector<uint32_t> Trim(std::vector<bool> keep, IsCurrent&& frame_is_current) {
    for (uint32_t frame = 0; frame < of_frame_.size(); ++frame) {
      if (of_frame_[frame] != 0 && !frame_is_current(frame)) of_frame_[frame] = 0;
      keep[of_frame_[frame]] = true;
    }
    return Renumber(keep);
  }
  size_t memory_bytes() const;

 private:
  std::vector<uint32_t> Renumber(const std::vector<bool>& keep);

  std::vector<profile::IntervalPlace> places_;
  std::vector<uint32_t> methods_;  // alike
  std::vector<uint32_t> of_frame_;
  FlatMap at_;  // address → number of the last place there
};

}  // namespace clrscope::agent
