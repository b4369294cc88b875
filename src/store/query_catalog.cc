// SPDX-License-Identifier: Apache-2.0
#include "store/query_catalog.h"

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

}  // namespace

Result<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path) {
  std::unique_ptr<Catalog> catalog(new Catalog());
  ASSIGN_OR_RETURN(catalog->reader_, CaptureReader::Open(path));
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

Status Catalog::Bind() {
  analysis::Aggregate aggregate(&recording());
  ASSIGN_OR_RETURN(const auto slices, Slices());
  for (;;) {
    ASSIGN_OR_RETURN(const profile::Slice* slice, slices->Next());
    if (slice == nullptr) break;
    aggregate.Add(*slice);
  }
  analysis::BindOptions options;
  options.places = &places_;
  profile_ = analysis::Bind(recording(), aggregate, options);
  sites_ = profile::SiteFrames(profile_, /*raw_leaf=*/false);
  return OkStatus();
}

}  // namespace clrscope::store
