// SPDX-License-Identifier: Apache-2.0
// What is old becomes wider slices, so that a long recording stays small.
#include "base/units.h"
#include "store/capture_writer.h"
#include "store/column_codec.h"
#include "store/slice_codec.h"

namespace clrscope::store {
namespace {

constexpr int64_t kFineNs = 600 * kSecond;     // 1 s slices for the last 10 minutes
constexpr int64_t kMediumNs = 7200 * kSecond;  // 10 s slices for the last 2 hours

}  // namespace

Status CaptureWriter::Compact(int64_t end_ns) {
  RETURN_IF_ERROR(CompactGcs());
  RETURN_IF_ERROR(CompactTo(10 * kSecond, end_ns - kFineNs));
  RETURN_IF_ERROR(CompactTo(60 * kSecond, end_ns - kMediumNs));
  RETURN_IF_ERROR(CompactMemoryTo(10 * kSecond, end_ns - kFineNs));
  RETURN_IF_ERROR(CompactMemoryTo(60 * kSecond, end_ns - kMediumNs));
  RETURN_IF_ERROR(CompactIntervalsTo(60 * kSecond, end_ns - kFineNs));
  return CompactIntervalsTo(600 * kSecond, end_ns - kMediumNs);
}

Status CaptureWriter::CompactTo(int64_t width_ns, int64_t before_ns) {
  before_ns = before_ns / width_ns * width_ns;  // whole spans only
  if (before_ns <= 0) return OkStatus();
  ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare(
          "select id,process,start_ns,end_ns,data from slice where end_ns<=? and end_ns-start_ns<? "
          "order by process,start_ns"));
  ASSIGN_OR_RETURN(Statement remove, db_.Prepare("delete from slice where id=?"));
  find.Bind(0, before_ns).Bind(1, width_ns);
  std::vector<Encoded> merged;
  std::vector<int64_t> ids;
  std::optional<profile::Slice> open;
  std::optional<profile::SeriesTable> retired_series;
  uint32_t retired_process = 0;
  const auto series_of = [&](uint32_t process) -> Result<const profile::SeriesTable*> {
    if (!progress_[process].retired) return &recording_->processes[process]->series;
    if (!retired_series || retired_process != process) {
      ASSIGN_OR_RETURN(retired_series, ReadSeries(process));
      retired_process = process;
    }
    return &*retired_series;
  };
  const profile::SeriesTable* series = nullptr;  // of `open`
  const auto close = [&] {
    Encoded e{open->process, open->start_ns, open->end_ns, open->rows.size(), 0, {}};
    for (const profile::SliceRow& r : open->rows) e.samples += r.sums.samples;
    e.data = EncodeSlice(*open, *series);
    merged.push_back(std::move(e));
    open.reset();
  };
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) break;
    ids.push_back(find.Int(0));
    profile::Slice slice;
    slice.process = static_cast<uint32_t>(find.Int(1));
    const int64_t start = find.Int(2) / width_ns * width_ns;
    if (open && (open->process != slice.process || open->start_ns != start)) close();
    ASSIGN_OR_RETURN(series, series_of(slice.process));
    RETURN_IF_ERROR(DecodeSlice(find.Blob(4), *series, slice));
    slice.start_ns = start;
    slice.end_ns = start + width_ns;
    if (open) {
      profile::MergeSlice(*open, slice);
    } else {
      open = std::move(slice);
    }
  }
  if (open) close();
  for (const int64_t id : ids) {
    remove.Bind(0, id);
    RETURN_IF_ERROR(remove.Run());
  }
  for (const Encoded& e : merged) RETURN_IF_ERROR(WriteSlice(e));
  return OkStatus();
}

// Of each span the first reading stays.
Status CaptureWriter::CompactMemoryTo(int64_t width_ns, int64_t before_ns) {
  ASSIGN_OR_RETURN(
      Statement remove,
      db_.Prepare("delete from memory where at_ns<?1 and exists(select 1 from memory m "
                  "where m.process=memory.process and m.at_ns<memory.at_ns and "
                  "m.at_ns>=memory.at_ns/?2*?2)"));
  remove.Bind(0, before_ns).Bind(1, width_ns);
  return remove.Run();
}

Result<profile::SeriesTable> CaptureWriter::ReadSeries(uint32_t process) {
  ASSIGN_OR_RETURN(Statement q, db_.Prepare("select count,data from dictionary where process=? and "
                                            "kind='series' order by first"));
  q.Bind(0, int64_t{process});
  profile::SeriesTable out;
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return out;
    RETURN_IF_ERROR(DecodeSeries(q.Blob(1), static_cast<uint64_t>(q.Int(0)), out));
  }
}

}  // namespace clrscope::store
