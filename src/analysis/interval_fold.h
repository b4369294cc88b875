// SPDX-License-Identifier: Apache-2.0
// The agent's frames → a recording: dictionaries and GCs go into the process's tables, the rest to
// a sink, with the ids and times of the recording.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "profile/agent_tables.h"
#include "profile/process_tables.h"

namespace clrscope::analysis {

// One process. Frames come in order; a gap in their sequence is counted as Loss::kAgentFrames, and
// what its dictionaries held is shown as "(lost)". A new agent (sequence 0) may follow the last.
class IntervalFold {
 public:
  // `recording` and `sink` must outlive this. `keep_gcs`: the agent's GCs go into the tables; not
  // when a session of the recording tells them too.
  IntervalFold(profile::Recording* recording, uint32_t process, profile::IntervalSink* sink,
               bool keep_gcs);

  // errors: kCorrupt for ids that were never told. Nothing of such a frame is taken.
  Status OnFrame(profile::IntervalFrame&& frame);

 private:
  void Begin(const profile::IntervalFrame& frame);
  Status Check(const profile::IntervalFrame& frame) const;
  void TakeDictionaries(profile::IntervalFrame& frame);
  uint32_t Node(uint32_t id) const { return id == 0 ? 0 : id + node_base_; }
  uint32_t Type(uint32_t id) const { return id == 0 ? 0 : id + type_base_; }

  profile::Recording* recording_;
  uint32_t process_;
  profile::IntervalSink* sink_;
  bool keep_gcs_;
  bool begun_ = false;
  uint64_t next_sequence_ = 0;
  // What an id of this agent is less than the recording's.
  uint32_t method_base_ = 0, type_base_ = 0, node_base_ = 0;
};

}  // namespace clrscope::analysis
