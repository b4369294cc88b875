// SPDX-License-Identifier: Apache-2.0
#include "capture/record/capture_output.h"

namespace clrscope::capture {
namespace {
constexpr size_t kLargeBytes = 8 << 20;
}  // namespace

Result<std::unique_ptr<CaptureOutput>> CaptureOutput::Create(const std::string& path,
                                                             profile::Recording* recording) {
  std::unique_ptr<CaptureOutput> output(new CaptureOutput);
  output->path_ = path;
  output->recording_ = recording;
  ASSIGN_OR_RETURN(output->writer_, store::CaptureWriter::Create(path, recording));
  return output;
}

void CaptureOutput::OnSlice(const profile::Slice& slice) {
  const auto& keys = recording_->processes[slice.process]->series.keys();
  for (const profile::SliceRow& r : slice.rows)
    if (!profile::IsEvent(keys[r.series].source()))
      bytes_ += EstimateOf(keys[r.series], r.sums).amount;
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
  if (Status s = writer_->Finish(true); !s.ok()) error_ = s.error();
}

}  // namespace clrscope::capture
