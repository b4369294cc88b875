// SPDX-License-Identifier: Apache-2.0
// What SQL over a recording reads from: the bound profile, and the slices one after another.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/bind.h"
#include "profile/profile.h"
#include "profile/tables/slice.h"
#include "store/capture_reader.h"

namespace clrscope::store {

// Slices by process and time, as they are asked for.
class SliceStream {
 public:
  virtual ~SliceStream() = default;
  // The next one, valid until the next call; null at the end.
  virtual Result<const profile::Slice*> Next() = 0;
};

class Catalog {
 public:
  // A capture; it stays open. errors: as CaptureReader::Open
  // `prepare`: adds to the recording, before its addresses get their names.
  static Result<std::unique_ptr<Catalog>> Open(
      const std::string& path, const std::function<Status(profile::Recording&)>& prepare = {});
  // A recording in memory, with its slices by process and time.
  static std::unique_ptr<Catalog> Of(std::unique_ptr<profile::Recording> recording,
                                     std::vector<profile::Slice> slices);

  const profile::Recording& recording() const {
    return reader_ ? reader_->recording() : *recording_;
  }
  // Frames, types, stacks; cells of the event that reports rest on.
  const profile::Profile& profile() const { return profile_; }
  const analysis::SeriesPlace& PlaceOf(uint32_t process, uint32_t series) const {
    return places_[process][series];
  }
  // By the address's index in the process's tree; nothing: it is on no stack that was bound.
  std::optional<uint32_t> FrameOfAddress(uint32_t process, uint32_t address) const;
  // By node: the frame that is its site, see profile::SiteFrames.
  uint32_t SiteOf(uint32_t node) const { return sites_[node]; }
  // Whether anything that an agent told ends in this node.
  bool IsAgentStack(uint32_t node) const { return agent_stacks_[node]; }
  // A type of which nothing was allocated: it was thrown, or stands where events have no type.
  bool IsOnlyOfEvents(uint32_t type) const { return event_types_[type]; }
  // By the agent's ids of a process, see analysis::AgentPlaces.
  const analysis::AgentPlaces& AgentPlacesOf(uint32_t process) const {
    return agent_places_[process];
  }
  Result<std::unique_ptr<SliceStream>> Slices() const;
  // None of a recording in memory: traces know no agent.
  Result<std::optional<IntervalStream>> Intervals() const;
  // The capture's own connection; null for a recording in memory.
  Database* database() const { return reader_ ? &reader_->database() : nullptr; }

 private:
  Catalog() = default;
  Status Bind();
  void FindEventTypes();

  std::unique_ptr<CaptureReader> reader_;
  std::unique_ptr<profile::Recording> recording_;
  std::vector<profile::Slice> slices_;
  profile::Profile profile_;
  std::vector<std::vector<analysis::SeriesPlace>> places_;
  std::vector<analysis::AgentPlaces> agent_places_;
  std::vector<std::vector<uint32_t>> frames_of_addresses_;
  std::vector<bool> agent_stacks_;  // by node
  std::vector<bool> event_types_;   // by type
  std::vector<uint32_t> sites_;
};

}  // namespace clrscope::store
