// SPDX-License-Identifier: Apache-2.0
#include "store/query_catalog.h"

#include <algorithm>

#include "base/flat_map.h"
#include "profile/views/tables.h"
#include "store/slice_codec.h"

namespace clrscope::store {
namespace {

class MemoryStream final : public SliceStream {
 public:
  explicit MemoryStream(const std::vector<profile::Slice>& slices) : slices_(slices) {}
  Result<const profile::Slice*> Next() override {
    const profile::Slice* slice = next_ < slices_.size() ? &slices_[next_] : nullptr;
    ++next_;
    return slice;
  }

 private:
  const std::vector<profile::Slice>& slices_;
  size_t next_ = 0;
};

class CaptureStream final : public SliceStream {
 public:
  CaptureStream(const profile::Recording& recording, Statement rows)
      : recording_(recording), rows_(std::move(rows)) {}
  Result<const profile::Slice*> Next() override {
    ASSIGN_OR_RETURN(const bool row, rows_.Step());
    if (!row) return static_cast<const profile::Slice*>(nullptr);
    const int64_t process = rows_.Int(0);
    if (process < 0 || static_cast<size_t>(process) >= recording_.processes.size())
      return Error{ErrorCode::kCorrupt, "the capture is damaged: a slice of no process"};
    slice_.process = static_cast<uint32_t>(process);
    slice_.start_ns = rows_.Int(1);
    slice_.end_ns = rows_.Int(2);
    RETURN_IF_ERROR(
        DecodeSlice(rows_.Blob(3), recording_.processes[slice_.process]->series, slice_));
    return &slice_;
  }

 private:
  const profile::Recording& recording_;
  Statement rows_;
  profile::Slice slice_;
};

// Which nodes of each process any row of its agent is of.
class AgentNodes {
 public:
  void Add(const profile::AgentInterval& interval) {
    if (interval.process >= nodes_.size()) nodes_.resize(interval.process + 1);
    std::vector<bool>& nodes = nodes_[interval.process];
    nodes.resize(std::max<size_t>(nodes.size(), interval.frame.first_node));
    const auto mark = [&nodes](const auto& rows) {
      for (const auto& row : rows) nodes[row.node] = true;
    };
    mark(interval.frame.flows);
    mark(interval.frame.lives);
    mark(interval.frame.turnover);
  }
  std::vector<bool> In(const profile::Profile& p,
                       const std::vector<analysis::AgentPlaces>& places) const {
    std::vector<bool> used(p.nodes.size());
    for (size_t process = 0; process < nodes_.size(); ++process)
      for (size_t n = 0; n < nodes_[process].size(); ++n)
        if (nodes_[process][n]) used[places[process].nodes[n]] = true;
    return used;
  }

 private:
  std::vector<std::vector<bool>> nodes_;  // by process, then by the agent's id
};

}  // namespace

Result<std::unique_ptr<Catalog>> Catalog::Open(
    const std::string& path, const std::function<Status(profile::Recording&)>& prepare) {
  std::unique_ptr<Catalog> catalog(new Catalog());
  ASSIGN_OR_RETURN(catalog->reader_, CaptureReader::Open(path));
  if (prepare) RETURN_IF_ERROR(prepare(catalog->reader_->mutable_recording()));
  RETURN_IF_ERROR(catalog->Bind());
  return catalog;
}

std::unique_ptr<Catalog> Catalog::Of(std::unique_ptr<profile::Recording> recording,
                                     std::vector<profile::Slice> slices) {
  std::unique_ptr<Catalog> catalog(new Catalog());
  catalog->recording_ = std::move(recording);
  catalog->slices_ = std::move(slices);
  CHECK(catalog->Bind().ok());  // slices in memory cannot fail
  return catalog;
}

Result<std::unique_ptr<SliceStream>> Catalog::Slices() const {
  if (!reader_) return std::unique_ptr<SliceStream>(std::make_unique<MemoryStream>(slices_));
  ASSIGN_OR_RETURN(Statement rows, reader_->database().Prepare(
                                       "select process,start_ns,end_ns,data from main.slice "
                                       "order by process,start_ns"));
  return std::unique_ptr<SliceStream>(
      std::make_unique<CaptureStream>(reader_->recording(), std::move(rows)));
}

Result<std::optional<IntervalStream>> Catalog::Intervals() const {
  if (!reader_) return std::optional<IntervalStream>();
  ASSIGN_OR_RETURN(IntervalStream intervals, reader_->Intervals({}));
  return std::optional<IntervalStream>(std::move(intervals));
}

Status Catalog::Bind() {
  const auto& processes = recording().processes;
  const bool requests = std::any_of(processes.begin(), processes.end(),
                                    [](const auto& t) { return !t->requests.routes.empty(); });
  analysis::Aggregate aggregate(&recording(), {},
                                analysis::Aggregate::Detail{.requests = requests});
  AgentNodes used;
  ASSIGN_OR_RETURN(const auto slices, Slices());
  for (;;) {
    ASSIGN_OR_RETURN(const profile::Slice* slice, slices->Next());
    if (slice == nullptr) break;
    aggregate.Add(*slice);
  }
  ASSIGN_OR_RETURN(std::optional<IntervalStream> intervals, Intervals());
  while (intervals) {
    ASSIGN_OR_RETURN(const profile::AgentInterval* interval, intervals->Next());
    if (interval == nullptr) break;
    aggregate.Add(*interval);
    used.Add(*interval);
  }
  analysis::BindOptions options;
  options.places = &places_;
  options.agent_places = &agent_places_;
  options.frames_of_addresses = &frames_of_addresses_;
  profile_ = analysis::Bind(recording(), aggregate, options);
  agent_stacks_ = used.In(profile_, agent_places_);
  FindEventTypes();
  sites_ = profile::SiteFrames(profile_, /*raw_leaf=*/false);
  return OkStatus();
}

std::optional<uint32_t> Catalog::FrameOfAddress(uint32_t process, uint32_t address) const {
  const uint32_t frame = frames_of_addresses_[process][address];
  return frame == FlatMap::kNone ? std::nullopt : std::optional<uint32_t>(frame);
}

void Catalog::FindEventTypes() {
  std::vector<bool> others(profile_.types.size());
  event_types_.assign(profile_.types.size(), false);
  for (uint32_t process = 0; process < places_.size(); ++process) {
    const auto& keys = recording().processes[process]->series.keys();
    for (uint32_t series = 0; series < keys.size(); ++series)
      (profile::IsEvent(keys[series].source()) ? event_types_
                                               : others)[places_[process][series].type] = true;
  }
  for (const analysis::AgentPlaces& agent : agent_places_)
    for (const uint32_t type : agent.types)
      if (type < others.size()) others[type] = true;
  for (size_t type = 0; type < others.size(); ++type)
    if (others[type]) event_types_[type] = false;
}

}  // namespace clrscope::store
