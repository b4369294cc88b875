// SPDX-License-Identifier: Apache-2.0
#include "import/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

namespace clrscope::import {
namespace {

class FoldSink final : public nettrace::EventSink {
 public:
  explicit FoldSink(analysis::TraceFold* fold) : fold_(fold) {}
  void OnStream(const nettrace::StreamInfo& info) override {
    analysis::UniversalClock clock{.ticks_per_second = info.ticks_per_second};
    if (info.sampling_ns > 0) clock.period_ns = info.sampling_ns;
    fold_->OnStream(info.pid, info.pointer_size, info.sync_unix_ns, clock);
  }
  bool Wants(const clr::EventKind& kind) override { return fold_->Wants(kind); }
  void OnEvent(const clr::RawEvent& event) override { fold_->OnEvent(event); }
  void OnSkippedUntil(int64_t time_ns) override { fold_->OnSkippedUntil(time_ns); }
  void OnGap(int64_t after_ns, int64_t before_ns) override { fold_->OnGap(after_ns, before_ns); }

 private:
  analysis::TraceFold* fold_;
};

}  // namespace

Result<TraceSummary> PumpTrace(const std::string& path, nettrace::Reader* reader) {
  Fd file;
  if (path != "-") {
    file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid())
      return Error{errno == ENOENT   ? ErrorCode::kNotFound
                   : errno == EACCES ? ErrorCode::kPermission
                                     : ErrorCode::kIo,
                   fmt::format("cannot open {}: {}", path, strerror(errno))};
  }
  const int fd = path == "-" ? STDIN_FILENO : file.get();
  TraceSummary summary;
  for (;;) {
    const std::span<std::byte> room = reader->Prepare();
    const ssize_t n = ::read(fd, room.data(), room.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return Error{ErrorCode::kIo, fmt::format("cannot read {}: {}", path, strerror(errno))};
    if (n == 0) break;
    summary.bytes += static_cast<uint64_t>(n);
    if (Status status = reader->Commit(static_cast<size_t>(n)); !status.ok()) {
      summary.damage = status.error();
      break;
    }
  }
  // Nothing of it was a nettrace: that is another file, not a damaged one.
  if (summary.damage && reader->info().version == 0)
    return Error::At(summary.damage->code, summary.damage->offset,
                     fmt::format("{}: {}", path, summary.damage->message));
  if (summary.bytes == 0) return Error{ErrorCode::kTruncated, fmt::format("{} is empty", path)};
  reader->Finish();
  summary.info = reader->info();
  summary.losses = reader->losses();
  summary.events = reader->events();
  return summary;
}

Result<TraceSummary> ReadTrace(const std::string& path, profile::Recording* recording,
                               profile::SliceSink* sink, const analysis::FoldOptions& options) {
  analysis::TraceFold fold(recording, sink, options);
  FoldSink fold_sink(&fold);
  nettrace::Reader reader(&fold_sink);
  ASSIGN_OR_RETURN(TraceSummary summary, PumpTrace(path, &reader));
  recording->origin = path;
  recording->losses.Merge(summary.losses);
  if (summary.damage) recording->losses.Add(Loss::kTruncatedInput);
  fold.Finish(!summary.damage && reader.ended());
  return summary;
}

}  // namespace clrscope::import
