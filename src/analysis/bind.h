// SPDX-License-Identifier: Apache-2.0
// From what was recorded to what people read: addresses become methods, per-process stacks one
// canonical tree, runtime types C# names.
#pragma once

#include <optional>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/framework_rule.h"
#include "profile/profile.h"

namespace clrscope::analysis {

// Where a series went: indexes into the profile's nodes and types.
struct SeriesPlace {
  uint32_t node = 0, type = 0;
  StringId request{};  // its route's name; 0: it belongs to none
};

// Where the agent's nodes and types of one process went: indexes into the profile's, by the ids of
// its AgentTables. Empty where no agent was.
struct AgentPlaces {
  std::vector<uint32_t> nodes, types;
  std::vector<StringId> routes{};  // the names of the process's routes, by their index
};

struct BindOptions {
  FrameworkRule framework;
  // Without a value: Sampled when there is any, else Tick, else Counted.
  std::optional<profile::Source> source;
  // The recording is bound a second or so at a time, and figures are added up: each window of time
  // stands for its own period, and the histogram of requests tells of the second before.
  bool one_second = false;
  // When set: every series of every event is bound, and its place noted here by process index and
  // series id. The cells still hold the chosen event only.
  std::vector<std::vector<SeriesPlace>>* places = nullptr;
  // Frames at different lines of a method are different nodes.
  bool lines = false;
  // When set: everything that an agent told is bound, and its place noted here by process index.
  std::vector<AgentPlaces>* agent_places = nullptr;
  // When set: the frame of each address of a stack that is bound, by process index and the
  // address's in its tree; FlatMap::kNone: none was.
  std::vector<std::vector<uint32_t>>* frames_of_addresses = nullptr;
};

// `recording` is read; its strings are copied as far as they are needed.
profile::Profile Bind(const profile::Recording& recording, const Aggregate& aggregate,
                      const BindOptions& options = {});
// The same of a recording that is not needed afterwards: its collections move into the profile.
profile::Profile BindAndTake(profile::Recording& recording, const Aggregate& aggregate,
                             const BindOptions& options = {});

}  // namespace clrscope::analysis
