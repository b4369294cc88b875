// SPDX-License-Identifier: Apache-2.0
// What a state of the live sample cannot show: types of which objects live, but none is in the
// sample just now. When such a type is small and many, a total without it is too certain of itself;
// the states before tell how many samples of it are usually there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/estimate.h"
#include "profile/interval_frame.h"

namespace clrscope::profile {

class UnseenLive {
 public:
  // The states of one agent in order. `mean_bytes`: R of what has survived a GC.
  void Add(std::span<const IntervalLive> lives, double mean_bytes);
  // To be added to a sum over all types of the last state: variance only. A type that is not in it
  // has on average m objects in the states before, and is seen through samples that stand for w
  // each: m / w samples, of variance m w.
  Estimate Value() const;

 private:
  struct Type {
    double bytes = 0, objects = 0;                                // mean over the states
    double weight_bytes = 0, weight_objects = 0, mean_bytes = 0;  // of one sample when last seen
    uint64_t seen = 0;                                            // the last state that held it
  };
  std::vector<Type> types_;
  uint64_t states_ = 0;
  double mean_bytes_ = 0;
};

}  // namespace clrscope::profile
