// SPDX-License-Identifier: Apache-2.0
// The rows of samples and all_samples, decoded slice by slice, then interval by interval of what an
// agent told that no session did.
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Estimate;
using profile::Profile;

// One row per series of each slice, and per flow of each interval. `all`: of every event, else of
// the one that reports rest on.
class SampleCursor final : public TableCursor {
 public:
  SampleCursor(const Catalog& catalog, bool all) : catalog_(catalog), all_(all) {}

  Result<bool> Next() override {
    if (!stream_) {
      ASSIGN_OR_RETURN(stream_, catalog_.Slices());
      ASSIGN_OR_RETURN(intervals_, catalog_.Intervals());
    }
    if (!slices_end_) {
      ASSIGN_OR_RETURN(const bool found, NextOfSlices());
      if (found) return true;
      slices_end_ = true;
    }
    return NextOfIntervals();
  }

  void Column(int column, sqlite3_context* out) const override {
    const Profile& p = catalog_.profile();
    const profile::Type& type = p.types[place_.type];
    const profile::Frame& site = p.frames[catalog_.SiteOf(place_.node)];
    const profile::Frame& leaf = p.frames[p.nodes[place_.node].frame];
    switch (column) {
      case 0:
        return PutSeconds(out, start_ns_);
      case 1:
        return PutSeconds(out, end_ns_);
      case 2:
        return PutProcess(out, p, process_);
      case 3:
        return Put(out, p.processes[process_].pid);
      case 4:
        return Put(out, p.str(type.name));
      case 5:
        return Put(out, KindName(kind_, source_));
      case 6:
        return Put(out, p.str(site.method));
      case 7:
        return PutKnown(out, p.str(site.module));
      case 8:
        return Put(out, p.str(leaf.method));
      case 9:
        return Put(out, value_.samples);
      case 10:
        return Put(out, value_.amount);
      case 11: {
        const bool known = source_ != profile::Source::kTick ||
                           !catalog_.recording().processes[process_]->sizes_unknown;
        return known ? Put(out, value_.count) : void();
      }
      case 12:
        return Put(out, EventName(source_));
      case 13:
        return Put(out, place_.node);
      case 14:
        return Put(out, place_.type);
      case 15:
        return Put(out, process_);
      default:
        return PutKnown(out, p.str(place_.request));
    }
  }

 private:
  bool Wanted() const {
    if (profile::IsEvent(source_)) return false;  // these have tables of their own
    return all_ || source_ == catalog_.profile().SourceOf(process_);
  }

  Result<bool> NextOfSlices() {
    for (;;) {
      if (slice_ == nullptr || row_ + 1 >= slice_->rows.size()) {
        ASSIGN_OR_RETURN(slice_, stream_->Next());
        if (slice_ == nullptr) return false;
        process_ = slice_->process;
        start_ns_ = slice_->start_ns;
        end_ns_ = slice_->end_ns;
        row_ = 0;
        if (slice_->rows.empty()) continue;
      } else {
        ++row_;
      }
      const profile::SliceRow& row = slice_->rows[row_];
      const profile::SeriesKey key =
          catalog_.recording().processes[process_]->series.keys()[row.series];
      kind_ = key.kind();
      source_ = key.source();
      if (!Wanted()) continue;
      place_ = catalog_.PlaceOf(process_, row.series);
      value_ = profile::EstimateOf(key, row.sums);
      return true;
    }
  }

  Result<bool> NextOfIntervals() {
    while (intervals_) {
      if (interval_ == nullptr || row_ + 1 >= interval_->frame.flows.size()) {
        ASSIGN_OR_RETURN(interval_, intervals_->Next());
        if (interval_ == nullptr) return false;
        process_ = interval_->process;
        start_ns_ = interval_->start_ns();
        end_ns_ = interval_->end_ns();
        source_ = catalog_.recording().processes[process_]->agent.source;
        row_ = 0;
        if (interval_->frame.flows.empty()) continue;
      } else {
        ++row_;
      }
      if (!catalog_.profile().processes[process_].by_agent || !Wanted()) continue;
      const profile::IntervalFlow& flow = interval_->frame.flows[row_];
      const analysis::AgentPlaces& places = catalog_.AgentPlacesOf(process_);
      kind_ = flow.kind;
      place_ = {places.nodes[flow.node], places.types[flow.type], {}};
      value_ = flow.value;
      return true;
    }
    return false;
  }

  const Catalog& catalog_;
  bool all_;
  std::unique_ptr<SliceStream> stream_;
  std::optional<IntervalStream> intervals_;
  const profile::Slice* slice_ = nullptr;
  const profile::AgentInterval* interval_ = nullptr;
  bool slices_end_ = false;
  size_t row_ = 0;
  // Of the row.
  int64_t start_ns_ = 0, end_ns_ = 0;
  uint32_t process_ = 0;
  profile::HeapKind kind_ = profile::HeapKind::kSoh;
  profile::Source source_ = profile::Source::kSampled;
  analysis::SeriesPlace place_;
  Estimate value_;
};

}  // namespace

std::unique_ptr<TableCursor> Samples(const Catalog& c, std::optional<int64_t>) {
  return std::make_unique<SampleCursor>(c, false);
}
std::unique_ptr<TableCursor> AllSamples(const Catalog& c, std::optional<int64_t>) {
  return std::make_unique<SampleCursor>(c, true);
}

}  // namespace clrscope::store
