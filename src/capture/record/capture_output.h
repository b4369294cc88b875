// SPDX-License-Identifier: Apache-2.0
// Writes what an engine records into a capture file, once a second.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "capture/sessions/session_engine.h"
#include "store/capture_writer.h"

namespace clrscope::capture {

class CaptureOutput final : public SessionObserver {
 public:
  // A path that stands for standard output: the capture is kept in memory and written at the end.
  static constexpr std::string_view kStandardOutput = "-";

  // Creates `path`, which must not exist. `recording` must outlive the output.
  static Result<std::unique_ptr<CaptureOutput>> Create(const std::string& path,
                                                       profile::Recording* recording);

  void OnSlice(const profile::Slice& slice) override;
  void OnEnded(const Target& target) override { writer_->Retire(target.index()); }
  void OnTick(int64_t now_ns) override;

  // Between ticks, after work was done: keeps what waits to be written small.
  void CommitIfLarge(int64_t now_ns);
  // Ends the file, or writes it to standard output. `end_ns`: how long the recording is.
  void Finish(int64_t end_ns);

  // Where the agents' intervals go.
  profile::IntervalSink* intervals() { return writer_.get(); }

  // Writing failed: the file ends at the last commit before it, and nothing is written any more.
  const std::optional<Error>& error() const { return error_; }
  const std::string& path() const { return path_; }
  bool to_standard_output() const { return path_ == kStandardOutput; }
  double bytes() const { return bytes_; }                  // allocated, as estimated so far
  size_t written_bytes() const { return written_bytes_; }  // to standard output

 private:
  CaptureOutput() = default;
  double AllocatedIn(const profile::Slice& slice) const;

  std::string path_;
  profile::Recording* recording_ = nullptr;
  std::unique_ptr<store::CaptureWriter> writer_;
  std::optional<Error> error_;
  double bytes_ = 0;
  size_t written_bytes_ = 0;
};

}  // namespace clrscope::capture
