// SPDX-License-Identifier: Apache-2.0
// The figures of events (exceptions, locks, waits) of a profile: a cell for each stack, type and
// set of labels, with what came when.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/families/exceptions/storm_estimate.h"
#include "analysis/families/requests/reexecution.h"
#include "analysis/families/requests/window_estimate.h"
#include "analysis/profile_tree.h"
#include "profile/profile.h"

namespace clrscope::analysis {

class EventBinder {
 public:
  // Both must outlive this.
  // `one_second`: BindOptions::one_second.
  EventBinder(profile::Profile* profile, ProfileTree* tree, bool one_second)
      : out_(*profile), tree_(*tree), one_second_(one_second), windows_(!one_second) {}

  // A figure for each measure that is recorded of any process, or seen.
  void MakeFigures(const profile::Recording& recording, const Aggregate& aggregate);
  // Whether the runtime's sampler told which threads of a process ran.
  bool ModesTold(uint32_t process) const { return modes_told_[process]; }
  // One series of one process; `node` and `type` are the profile's, its frames are named.
  void Add(profile::Source source, uint32_t process, uint32_t node, uint32_t type,
           const profile::LabelSet& labels, std::span<const Aggregate::Moment> moments);
  // A route of a process. `name`: the profile's; `of`: the template's name, of an action; texts of
  // `route` are in `strings`.
  void NoteRoute(uint32_t process, StringId name, const profile::RequestRoute& route, StringId of,
                 const StringPool& strings);
  // Call this after the last Add() and before cells are sorted: storms refer to cells by number.
  // `whole`: of the whole recording.
  void FinishWindows(const profile::Recording& recording, bool whole);
  // Call this last: it sums up the cells.
  void Finish();

 private:
  bool HasSamples(const profile::Recording& recording, size_t process, profile::Source) const;
  void FinishStorms(profile::Figure& figure);
  void FinishReexecuted(bool whole);
  profile::RouteFacts& FactsOf(uint32_t process, uint64_t route);
  static profile::IdleFacts::Of& IdleOf(profile::IdleFacts& idle, const profile::LabelSet& labels);
  void AddFacts(uint32_t process, const profile::LabelSet& labels,
                std::span<const Aggregate::Moment> moments);
  uint32_t CellAt(profile::Figure& figure, uint32_t process, uint32_t node, uint32_t type,
                  const profile::LabelSet& labels);

  profile::Profile& out_;
  ProfileTree& tree_;
  bool one_second_;
  std::vector<bool> modes_told_;  // by process
  StormEstimate storms_;
  WindowEstimate windows_;
  Reexecution reexecution_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> facts_;  // by process and route
  std::map<std::tuple<profile::Measure, uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> cells_;
};

}  // namespace clrscope::analysis
