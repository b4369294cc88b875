// SPDX-License-Identifier: Apache-2.0
#include "report/input/pprof_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analysis/families/live/interval_fold.h"
#include "import/gunzip.h"
#include "import/other_kind.h"
#include "import/pprof_frames.h"

namespace clrscope::report {
namespace {

namespace fs = std::filesystem;

bool NamedLikePprof(const std::string& name) {
  return name.ends_with(".pb") || name.ends_with(".pb.gz") || name.ends_with(".pprof") ||
         name.ends_with(".pprof.gz");
}

struct File {
  std::string path, message;
  import::PprofProfile profile;  // its texts are of `message`
};

bool IsOfCpu(const import::PprofProfile& p) {
  return p.sample_types.size() == 1 && p.sample_types[0].type == "cpu";
}

Error Named(const std::string& path, Error e) {
  if (e.message.find(path) == std::string::npos) e.message = fmt::format("{}: {}", path, e.message);
  if (e.offset != Error::kNoOffset && e.message.find("offset") == std::string::npos)
    e.message += fmt::format(" (at offset {})", e.offset);
  if (e.code == ErrorCode::kCorrupt || e.code == ErrorCode::kTruncated) e.code = ErrorCode::kFailed;
  return e;
}

Result<std::vector<std::string>> PathsOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (NamedLikePprof(entry.path().string())) paths.push_back(entry.path().string());
  if (error) return Error{ErrorCode::kIo, fmt::format("{}: {}", path, error.message())};
  if (paths.empty())
    return Error{ErrorCode::kEmpty,
                 fmt::format("{} holds no pprof file (*.pb, *.pb.gz, *.pprof)", path)};
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Keep final : profile::IntervalSink {
  void OnInterval(profile::AgentInterval&& i) override { intervals.push_back(std::move(i)); }
  std::vector<profile::AgentInterval> intervals;
};

}  // namespace

bool LooksLikePprof(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return true;
  // What is read of a pipe is gone.
  if (!fs::is_regular_file(path, error)) return fs::exists(path, error) && NamedLikePprof(path);
  Result<import::ByteSource> source = import::OpenSource(path);
  if (!source.ok()) return NamedLikePprof(path);
  import::MaybeGzipped bytes(source.Take());
  constexpr std::string_view kNettrace = "Nettrace";
  const bool trace = import::ReadHead(bytes, kNettrace.size()) == kNettrace;
  return !trace && (bytes.gzipped() || NamedLikePprof(path));
}

Result<std::vector<profile::AgentInterval>> ReadPprofs(const std::string& path,
                                                       profile::Recording& recording) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, PathsOf(path));
  std::vector<std::unique_ptr<File>> files;
  for (const std::string& name : paths) {
    auto file = std::make_unique<File>();
    file->path = name;
    ASSIGN_OR_RETURN(import::ByteSource source, import::OpenSource(name));
    import::MaybeGzipped bytes(std::move(source));
    Result<std::string> message = import::ReadAll(bytes);
    if (!message.ok()) return Named(name, message.error());
    file->message = message.Take();
    Result<import::PprofProfile> parsed = import::ParsePprof(file->message);
    if (!parsed.ok()) {
      // One may have been taken for a profile because it is gzipped.
      Error otherwise = Named(name, parsed.error());
      if (!NamedLikePprof(name))
        otherwise = {ErrorCode::kFailed,
                     fmt::format("{} is gzipped, and what it holds is neither a nettrace nor a "
                                 "whole pprof profile",
                                 name)};
      return import::OtherKind(name, AsBytes(file->message.data(), file->message.size()),
                               bytes.gzipped(), std::move(otherwise));
    }
    file->profile = parsed.Take();
    files.push_back(std::move(file));
  }
  // The agent writes the collector's share of the CPU beside its profiles.
  const auto others = std::stable_partition(files.begin(), files.end(),
                                            [](const auto& f) { return !IsOfCpu(f->profile); });
  if (others != files.begin()) files.erase(others, files.end());
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a->profile.time_ns + a->profile.duration_ns <
           b->profile.time_ns + b->profile.duration_ns;
  });

  recording.origin = path;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  profile::ProcessTables& process = *recording.processes[0];
  process.info.name = recording.strings.Intern(
      fs::path(std::string(files[0]->profile.main_module)).filename().string());
  process.info.complete = true;
  Keep keep;
  analysis::IntervalFold fold(&recording, 0, &keep, false);
  import::PprofFrames frames;
  for (const auto& file : files) {
    Result<profile::IntervalFrame> frame = frames.Next(file->profile);
    if (!frame.ok()) return Named(file->path, frame.error());
    if (frame->sequence == 0) recording.start_unix_ns = frame->start_unix_ns;
    const bool since_begin = file->profile.duration_ns <= 0;
    if (since_begin)
      for (profile::AgentInterval& earlier : keep.intervals) {
        earlier.frame.flows.clear();
        earlier.frame.events.clear();
      }
    const Status status = fold.OnFrame(frame.Take());
    if (!status.ok()) return Named(file->path, status.error());
  }
  for (const profile::AgentInterval& i : keep.intervals)
    recording.end_ns = std::max(recording.end_ns, i.end_ns());
  process.info.end_ns = recording.end_ns;
  return std::move(keep.intervals);
}

}  // namespace clrscope::report
