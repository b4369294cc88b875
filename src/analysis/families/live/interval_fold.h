// SPDX-License-Identifier: Apache-2.0
// The agent's frames → a recording: dictionaries and GCs go into the process's tables, the rest to
// a sink, with the ids and times of the recording.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "profile/tables/agent_tables.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

// One process. Frames come in order; a gap in their sequence is counted as Loss::kAgentFrames, and
// what its dictionaries held is shown as "(lost)". A new agent (sequence 0) may follow the last,
// and an agent may begin another dictionary; what both call the same is the same in the recording.
// What is beyond kMostEntries goes to "(other)" and is counted.
class IntervalFold {
 public:
  // `recording` and `sink` must outlive this. `keep_gcs`: the agent's GCs go into the tables; not
  // when a session of the recording tells them too.
  IntervalFold(profile::Recording* recording, uint32_t process, profile::IntervalSink* sink,
               bool keep_gcs);

  // errors: kCorrupt for ids that were never told. Nothing of such a frame is taken.
  Status OnFrame(profile::IntervalFrame&& frame);

  // Of one process, in each of its tables: more than any agent's own caps.
  static constexpr uint32_t kMostEntries = 4'000'000;

 private:
  void Begin(const profile::IntervalFrame& frame);
  Status Check(const profile::IntervalFrame& frame) const;
  void TakeDictionaries(profile::IntervalFrame& frame);
  uint32_t AddMethod(profile::IntervalMethod&& method);
  uint32_t AddType(profile::IntervalType&& type);
  uint32_t AddNode(uint32_t parent, uint32_t method, uint32_t place = 0);
  uint32_t AddPlace(const profile::IntervalPlace& place, int64_t shift_ns);
  uint32_t LostMethod();
  uint32_t Node(uint32_t id) const { return nodes_[id]; }
  uint32_t Type(uint32_t id) const { return types_[id]; }
  profile::AgentTables& tables() const;

  profile::Recording* recording_;
  uint32_t process_;
  profile::IntervalSink* sink_;
  bool keep_gcs_;
  bool begun_ = false;
  uint64_t next_sequence_ = 0;
  uint32_t dictionary_ = 0;
  // The recording's ids, by the agent's.
  std::vector<uint32_t> methods_, types_, nodes_, places_;
  // What the recording has already, by what it is.
  std::unordered_map<std::string, uint32_t> method_keys_, type_keys_;
  FlatMap children_;  // (parent, place, or method where there is none) → node
  // By address and time: the index of the address + 1.
  std::map<std::pair<uint64_t, int64_t>, uint32_t> place_keys_;
};

}  // namespace clrscope::analysis
