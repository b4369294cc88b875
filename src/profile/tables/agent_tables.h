// SPDX-License-Identifier: Apache-2.0
// What the agent told of one process: its dictionaries, and what an interval of it is in a
// recording.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/interval/interval_frame.h"

namespace clrscope::profile {

// Ids of several agents, one after the other in the same process, are one sequence.
struct AgentTables {
  std::vector<IntervalMethod> methods;
  std::vector<IntervalType> types = {IntervalType{}};  // type 0 is the unknown type
  std::vector<IntervalNode> nodes = {IntervalNode{}};  // node 0 is the root
  Source source = Source::kSampled;
  bool used = false;  // any interval arrived
};

// `frame`: ids are those of AgentTables, its dictionaries and GCs are empty; times are the agent's
// own, which stand `shift_ns` before those of the recording.
struct AgentInterval {
  uint32_t process = 0;
  int64_t shift_ns = 0;
  IntervalFrame frame;

  int64_t start_ns() const { return shift_ns + frame.start_ns; }
  int64_t end_ns() const { return shift_ns + frame.end_ns; }
};

// Takes intervals, oldest first per process.
class IntervalSink {
 public:
  virtual ~IntervalSink() = default;
  virtual void OnInterval(AgentInterval&& interval) = 0;
};

// Adds `next` to `into`, which comes before it and is of the same agent: flows, turnover and events
// add up, what lives is that of `next`.
void MergeInterval(AgentInterval& into, AgentInterval&& next);

}  // namespace clrscope::profile
