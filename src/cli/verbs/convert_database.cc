// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/convert_database.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/terminal/output.h"
#include "import/trace_file.h"
#include "report/input/damage.h"
#include "report/input/load_catalog.h"
#include "report/input/pprof_input.h"
#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/explode.h"

namespace clrscope::cli {
namespace {

// Commits as a recording does: a long trace needs little memory.
class StreamingWriter final : public profile::SliceSink {
 public:
  explicit StreamingWriter(store::CaptureWriter* writer) : writer_(writer) {}
  void OnSlice(profile::Slice&& slice) override {
    const int64_t end_ns = slice.end_ns;
    writer_->OnSlice(std::move(slice));
    if (!status_.ok() ||
        (writer_->pending_bytes() < kMostBytes && end_ns - committed_ns_ < kMostNs))
      return;
    status_ = writer_->Commit(end_ns);
    committed_ns_ = end_ns;
  }
  const Status& status() const { return status_; }

 private:
  static constexpr size_t kMostBytes = 4 << 20;
  static constexpr int64_t kMostNs = 10'000'000'000;
  store::CaptureWriter* writer_;
  Status status_ = OkStatus();
  int64_t committed_ns_ = 0;
};

Result<std::optional<Error>> WritePprofs(const std::string& input, const std::string& path) {
  profile::Recording recording;
  ASSIGN_OR_RETURN(std::vector<profile::AgentInterval> intervals,
                   report::ReadPprofs(input, recording));
  ASSIGN_OR_RETURN(const auto writer,
                   store::CaptureWriter::Create(path, &recording, store::Readable::kWhenFinished));
  for (profile::AgentInterval& interval : intervals) writer->OnInterval(std::move(interval));
  RETURN_IF_ERROR(writer->Finish(true));
  return std::optional<Error>();
}

Result<std::optional<Error>> WriteCapture(const std::string& input, const std::string& path) {
  if (input != "-" && report::LooksLikePprof(input)) return WritePprofs(input, path);
  profile::Recording recording;
  ASSIGN_OR_RETURN(const auto writer,
                   store::CaptureWriter::Create(path, &recording, store::Readable::kWhenFinished));
  StreamingWriter sink(writer.get());
  ASSIGN_OR_RETURN(const import::TraceSummary trace, import::ReadTrace(input, &recording, &sink));
  RETURN_IF_ERROR(sink.status());
  RETURN_IF_ERROR(writer->Finish(recording.complete));
  return report::DamageOf(trace, input, recording.complete);
}

Result<std::optional<Error>> WriteRows(const std::string& input, const std::string& path,
                                       const report::SymbolOptions& symbols) {
  ASSIGN_OR_RETURN(report::LoadedCatalog loaded, report::LoadCatalog(input, symbols));
  WarnAll(loaded.notes);
  RETURN_IF_ERROR(store::Explode(*loaded.catalog, path));
  return loaded.damage;
}

void RemoveDatabase(const std::string& path) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    (void)::unlink((path + suffix).c_str());
}

}  // namespace

Result<std::optional<Error>> WriteDatabase(const std::string& input, const std::string& output,
                                           DatabaseFormat format, bool force,
                                           const report::SymbolOptions& symbols) {
  if (output == "-") return Error{ErrorCode::kUsage, "a database needs a file: give -o FILE"};
  if (format == DatabaseFormat::kCapture && input != "-" && store::LooksLikeCapture(input))
    return Error{ErrorCode::kUsage, fmt::format("{} is a capture already: copy it", input)};
  struct stat s {};
  const bool exists = ::stat(output.c_str(), &s) == 0;
  if (exists && !S_ISREG(s.st_mode))
    return Error{ErrorCode::kUsage, fmt::format("{} is no regular file", output)};
  if (exists && !force)
    return Error{ErrorCode::kUsage,
                 fmt::format("{} exists already: give another name, or -f to replace it", output)};
  const std::string temporary = fmt::format("{}.tmp-{}", output, ::getpid());
  RemoveDatabase(temporary);
  Result<std::optional<Error>> damage = format == DatabaseFormat::kCapture
                                            ? WriteCapture(input, temporary)
                                            : WriteRows(input, temporary, symbols);
  if (damage.ok() && std::rename(temporary.c_str(), output.c_str()) != 0)
    damage = Error{ErrorCode::kIo, fmt::format("cannot rename {} to {}: {}", temporary, output,
                                               std::strerror(errno))};
  if (!damage.ok()) RemoveDatabase(temporary);
  return damage;
}

}  // namespace clrscope::cli
