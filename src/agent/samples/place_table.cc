// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/place_table.h"

namespace clrscope::agent {

void PlaceTable::Bind(uint32_t frame, uint64_t address, uint32_t method, bool may_unload,
                      int64_t seen_ns) {
  uint32_t place = at_.Find(address);
  if (place == FlatMap::kNone || may_unload || methods_[place - 1] != method) {
    if (places_.size() >= kMost) return;
    places_.push_back({address, seen_ns});
    methods_.push_back(method);
    place = static_cast<uint32_t>(places_.size());
    at_.Set(address, place);
  }
  if (frame >= of_frame_.size()) of_frame_.resize(frame + size_t{1});
  of_frame_[frame] = place;
}

void PlaceTable::UnbindAll() { of_frame_.clear(); }

std::vector<uint32_t> PlaceTable::Renumber(const std::vector<bool>& keep) {
  std::vector<uint32_t> numbers(places_.size() + 1);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < places_.size(); ++i) {
    if (!keep[i + 1]) continue;
    places_[kept] = places_[i];
    numbers[i + 1] = ++kept;
  }
  places_.resize(kept);
  places_.shrink_to_fit();
  // Methods are numbered anew, too: what comes again gets a place of its own.
  methods_.assign(kept, 0);
  at_ = FlatMap();
  for (uint32_t& place : of_frame_) place = numbers[place];
  return numbers;
}

size_t PlaceTable::memory_bytes() const {
  return places_.capacity() * sizeof(profile::IntervalPlace) +
         (methods_.capacity() + of_frame_.capacity()) * sizeof(uint32_t) + at_.size() * 24;
}

}  // namespace clrscope::agent
