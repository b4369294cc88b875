// SPDX-License-Identifier: Apache-2.0
#include "capture/record/capture_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "analysis/families/allocations/allocation_windows.h"

namespace clrscope::capture {
namespace {
constexpr size_t kLargeBytes = 8 << 20;

Status WriteToStandardOutput(Bytes left) {
  while (!left.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return Error{ErrorCode::kIo,
                   fmt::format("cannot write to standard output: {}", std::strerror(errno))};
    left = left.subspan(static_cast<size_t>(n));
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<CaptureOutput>> CaptureOutput::Create(const std::string& path,
                                                             profile::Recording* recording) {
  std::unique_ptr<CaptureOutput> output(new CaptureOutput);
  output->path_ = path;
  output->recording_ = recording;
  if (output->to_standard_output()) {
    ASSIGN_OR_RETURN(output->writer_, store::CaptureWriter::CreateInMemory(recording));
  } else {
    ASSIGN_OR_RETURN(output->writer_, store::CaptureWriter::Create(path, recording));
  }
  return output;
}

// Of windows: what the counter told of their time; where it did not, what they hold.
double CaptureOutput::AllocatedIn(const profile::Slice& slice) const {
  const profile::ProcessTables& tables = *recording_->processes[slice.process];
  double bytes = 0, counted = 0, windowed = 0;
  bool told = false;
  for (const profile::SliceRow& r : slice.rows) {
    const profile::SeriesKey& key = tables.series.keys()[r.series];
    if (profile::IsEvent(key.source())) continue;
    const uint64_t window = WindowOf(tables, key);
    if (window == 0) {
      bytes += EstimateOf(key, r.sums).amount;
    } else if (window <= profile::kWindowGroups) {
      windowed += analysis::AllocationWindows::Weighted(key, r.sums).amount;
    } else if (window == profile::kStormCounted) {
      told = true;
      counted += static_cast<double>(r.sums.stands_for);
    }
  }
  return bytes + (told ? counted : windowed);
}

void CaptureOutput::OnSlice(const profile::Slice& slice) {
  bytes_ += AllocatedIn(slice);
  if (!error_) writer_->Add(slice);
}

void CaptureOutput::OnTick(int64_t) {
  if (error_) return;
  if (Status s = writer_->Commit(recording_->end_ns); !s.ok()) error_ = s.error();
}

void CaptureOutput::CommitIfLarge(int64_t now_ns) {
  if (writer_->pending_bytes() >= kLargeBytes) OnTick(now_ns);
}

void CaptureOutput::Finish(int64_t end_ns) {
  if (error_) return;
  recording_->end_ns = end_ns;
  Status s = writer_->Finish(true);
  if (s.ok() && to_standard_output()) {
    const Bytes image = writer_->Image();
    written_bytes_ = image.size();
    s = WriteToStandardOutput(image);
  }
  if (!s.ok()) error_ = s.error();
}

}  // namespace clrscope::capture
