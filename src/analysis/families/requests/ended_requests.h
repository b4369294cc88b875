// SPDX-License-Identifier: Apache-2.0
// The requests that ended within the last seconds, by the path of their activity: what happened for
// them may be read later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "analysis/families/requests/open_requests.h"

namespace clrscope::analysis {

class EndedRequests {
 public:
  // The agent tells an object's activity within two seconds, and its frames wait for five at most.
  // Events wait in the process or here while their thread gets no processor.
  static constexpr int64_t kKeptNs = 10'000'000'000;
  static constexpr size_t kMost = 300'000;

  struct Ended {
    ActivityPath path;
    int64_t told_ns = 0;
    int64_t from_ns = 0;
    int64_t to_ns = 0;   // it ended, or was no longer followed
    uint32_t route = 0;  // index into the process's routes
    bool ended = true;   // what is later is after the response; else nobody knows what it is
  };

  // False: there was no room, and the oldest one was forgotten too soon.
  bool Add(const Ended& request) {
    const bool room = all_.size() < kMost;
    if (!room) DropFirst();
    if (index_.Find(request.path) != PathIndex::kNone) index_.Erase(request.path);
    index_.Add(request.path, Number(first_ + static_cast<uint32_t>(all_.size())));
    all_.push_back(request);
    return room;
  }
  const Ended* Find(const ActivityPath& path) const {
    const uint32_t number = index_.Find(path);
    return number == PathIndex::kNone ? nullptr : &all_[(number - first_) & kMask];
  }
  void ForgetUpTo(int64_t now_ns) {
    while (!all_.empty() && all_.front().told_ns < now_ns - kKeptNs) DropFirst();
  }
  void Shift(int64_t shift_ns) {
    for (Ended& e : all_) {
      e.told_ns -= shift_ns;
      e.from_ns -= shift_ns;
      e.to_ns -= shift_ns;
    }
  }
  void Clear() {
    while (!all_.empty()) DropFirst();
  }
  size_t size() const { return all_.size(); }

 private:
  static constexpr uint32_t kMask = (uint32_t{1} << 31) - 1;  // kNone is no number
  static uint32_t Number(uint32_t n) { return n & kMask; }
  void DropFirst() {
    // Its activity's id may be another one's by now.
    if (index_.Find(all_.front().path) == first_) index_.Erase(all_.front().path);
    all_.pop_front();
    first_ = Number(first_ + 1);
  }

  std::deque<Ended> all_;
  PathIndex index_;     // numbers
  uint32_t first_ = 0;  // of the first of all
};

}  // namespace clrscope::analysis
