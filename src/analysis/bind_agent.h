// SPDX-License-Identifier: Apache-2.0
// What the agent told of one process, into a profile: lives, CPU times, and, where no session told
// them, its flows and events.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/bind_events.h"
#include "analysis/families/live/agent_windows.h"
#include "analysis/profile_tree.h"

namespace clrscope::analysis {

// What the process's binding knows of addresses in its tree of stacks.
class AddressNames {
 public:
  virtual ~AddressNames() = default;
  // Its source line in the profile; 0: none is known, or nobody looks at lines.
  virtual uint32_t LineAt(uint32_t address) = 0;
  // The function of native code, or its file, as a frame of the profile; nothing: neither is known.
  virtual std::optional<uint32_t> NativeAt(uint32_t address) = 0;
};

class AgentBinder {
 public:
  // All of them must outlive this. `process` is the profile's last one, `routes` are the names of
  // its routes.
  AgentBinder(const BindOptions& options, const profile::ProcessTables& tables, uint32_t process,
              const std::vector<StringId>& routes, AddressNames* addresses, ProfileTree* tree,
              EventBinder* events, profile::Profile* out)
      : options_(options),
        tables_(tables),
        process_(process),
        routes_(routes),
        addresses_(*addresses),
        tree_(*tree),
        events_(*events),
        out_(*out) {}

  // `same_type`: type of the profile by the runtime's id, of those that a session told.
  // `source`: the event that the process's cells rest on. `times`: what came when is kept.
  void Bind(const Aggregate::Agent& agent, std::unordered_map<uint64_t, uint32_t> same_type,
            profile::Source source, bool times);

 private:
  void BindEvents(const Aggregate::Agent& agent);
  void NoteWindows(const Aggregate::Agent& agent, const AgentWindows& windows);
  static std::vector<profile::IntervalLive> Scaled(const Aggregate::Agent& agent);
  bool TellsAllocations(profile::Source source) const;
  uint32_t Node(uint32_t node);
  uint32_t ChildOf(uint32_t parent, const profile::IntervalNode& node);
  uint32_t Frame(uint32_t method);
  uint32_t Type(uint32_t index);
  uint32_t LabelsOf(const profile::IntervalLive& live);

  const BindOptions& options_;
  const profile::ProcessTables& tables_;
  uint32_t process_;
  const std::vector<StringId>& routes_;
  AddressNames& addresses_;
  ProfileTree& tree_;
  EventBinder& events_;
  profile::Profile& out_;
  std::unordered_map<uint64_t, uint32_t> same_type_;
  std::vector<uint32_t> frame_, node_, type_;  // by the agent's ids
  std::vector<uint32_t> path_;
};

}  // namespace clrscope::analysis
