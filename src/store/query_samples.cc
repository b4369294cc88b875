// SPDX-License-Identifier: Apache-2.0
// The rows of samples and all_samples, decoded slice by slice.
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Estimate;
using profile::Profile;

// One row per series of each slice. `all`: of every event, else of the one that reports rest on.
class SampleCursor final : public TableCursor {
 public:
  SampleCursor(const Catalog& catalog, bool all) : catalog_(catalog), all_(all) {}

  Result<bool> Next() override {
    if (!stream_) {
      ASSIGN_OR_RETURN(stream_, catalog_.Slices());
    }
    for (;;) {
      if (slice_ == nullptr || row_ + 1 >= slice_->rows.size()) {
        ASSIGN_OR_RETURN(slice_, stream_->Next());
        if (slice_ == nullptr) return false;
        row_ = 0;
        if (slice_->rows.empty()) continue;
      } else {
        ++row_;
      }
      const profile::SliceRow& row = slice_->rows[row_];
      key_ = catalog_.recording().processes[slice_->process]->series.keys()[row.series];
      if (!all_ && key_.source() != catalog_.profile().source) continue;
      place_ = catalog_.PlaceOf(slice_->process, row.series);
      value_ = profile::EstimateOf(key_, row.sums);
      return true;
    }
  }

  void Column(int column, sqlite3_context* out) const override {
    const Profile& p = catalog_.profile();
    const profile::Type& type = p.types[place_.type];
    const profile::Frame& site = p.frames[catalog_.SiteOf(place_.node)];
    const profile::Frame& leaf = p.frames[p.nodes[place_.node].frame];
    switch (column) {
      case 0:
        return PutSeconds(out, slice_->start_ns);
      case 1:
        return PutSeconds(out, slice_->end_ns);
      case 2:
        return PutProcess(out, p, slice_->process);
      case 3:
        return Put(out, p.processes[slice_->process].pid);
      case 4:
        return Put(out, p.str(type.name));
      case 5:
        return Put(out, KindName(key_.kind(), key_.source()));
      case 6:
        return Put(out, p.str(site.method));
      case 7:
        return PutKnown(out, p.str(site.module));
      case 8:
        return Put(out, p.str(leaf.method));
      case 9:
        return Put(out, value_.samples);
      case 10:
        return Put(out, value_.bytes);
      case 11: {
        const bool known = key_.source() != profile::Source::kTick ||
                           !catalog_.recording().processes[slice_->process]->sizes_unknown;
        return known ? Put(out, value_.objects) : void();
      }
      case 12:
        return Put(out, EventName(key_.source()));
      case 13:
        return Put(out, place_.node);
      case 14:
        return Put(out, place_.type);
      default:
        return Put(out, slice_->process);
    }
  }

 private:
  const Catalog& catalog_;
  bool all_;
  std::unique_ptr<SliceStream> stream_;
  const profile::Slice* slice_ = nullptr;
  size_t row_ = 0;
  profile::SeriesKey key_;
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
