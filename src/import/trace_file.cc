// SPDX-License-Identifier: Apache-2.0
#include "import/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "import/gunzip.h"
#include "import/other_kind.h"

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
  ASSIGN_OR_RETURN(ByteSource source, OpenSource(path));
  MaybeGzipped bytes(std::move(source));
  TraceSummary summary;
  std::vector<std::byte> head;
  for (;;) {
    const std::span<std::byte> room = reader->Prepare();
    const Result<size_t> n = bytes.Read(room);
    if (!n.ok() && n.error().code == ErrorCode::kIo) return n.error();
    if (!n.ok()) {
      summary.damage = n.error();
      break;
    }
    if (*n == 0) break;
    const std::span<std::byte> added = room.first(std::min(*n, kHeadBytes - head.size()));
    head.insert(head.end(), added.begin(), added.end());
    summary.bytes += *n;
    if (Status status = reader->Commit(*n); !status.ok()) {
      summary.damage = status.error();
      summary.unpacked = bytes.gzipped();
      break;
    }
  }
  // Nothing of it was a nettrace: that is another file, not a damaged one.
  if (summary.damage && reader->info().version == 0) {
    Error error = Error::At(
        summary.damage->code, summary.damage->offset,
        fmt::format("{}: {}", path == "-" ? "standard input" : path, summary.damage->message));
    if (AsText(head).starts_with("Nettrace")) return error;
    return OtherKind(path, head, bytes.gzipped(), std::move(error));
  }
  if (!summary.damage) summary.unpacked = bytes.gzipped();
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
