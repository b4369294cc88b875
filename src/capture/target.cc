// SPDX-License-Identifier: Apache-2.0
#include "capture/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "ipc/proc_linux.h"
#include "ipc/proc_text.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

// How long a runtime may take to open a session, and to stop one (its rundown included).
constexpr auto kOpenTimeout = 5000ms;
constexpr auto kStopTimeout = 15000ms;
constexpr int kItemsPerPump = 16;

// Stopped by a signal or a debugger.
bool IsStopped(pid_t pid) {
  const Result<std::string> text = ipc::ReadFile(fmt::format("/proc/{}/stat", pid));
  if (!text.ok()) return false;
  const auto stat = ipc::ParseProcStat(*text);
  return stat.ok() && (stat->state == 'T' || stat->state == 't');
}

}  // namespace

Target::Target(ipc::DotnetProcess process, std::unique_ptr<ipc::Transport> transport,
               profile::Recording* recording, profile::SliceSink* sink, RecordingClock* clock,
               Drain* drain, const TargetOptions& options)
    : process_(std::move(process)),
      transport_(std::move(transport)),
      client_(*transport_),
      recording_(recording),
      clock_(clock),
      drain_(drain),
      options_(options) {
  auto tables =
      std::make_unique<profile::ProcessTables>(options.fold.max_nodes, options.fold.max_series);
  tables_ = tables.get();
  StringPool& s = recording->strings;
  tables->info.pid = static_cast<uint32_t>(process_.pid);
  tables->info.name = s.Intern(process_.name);
  tables->info.command_line = s.Intern(process_.command_line);
  tables->info.arch = s.Intern(process_.arch);
  if (!process_.clr_version.empty())
    tables->info.runtime = s.Intern(".NET " + process_.clr_version);
  const auto index = static_cast<uint32_t>(recording->processes.size());
  fold_ = std::make_unique<analysis::ProcessFold>(&s, tables_, index, sink, options.fold);
  recording->processes.push_back(std::move(tables));
}

Target::~Target() {
  for (std::thread& t : stoppers_) t.join();
}

std::shared_ptr<StreamKeeper::File> Target::Keep(Kind kind) {
  if (options_.keeper == nullptr) return nullptr;
  // The first process is the one that was asked for: its name is the capture's.
  std::string suffix;
  if (tables_ != recording_->processes.front().get()) suffix = fmt::format(".{}", process_.pid);
  if (kind == Kind::kEntryPoints) suffix += ".entry-points";
  if (kind == Kind::kRundown) suffix += ".rundown";
  Result<std::shared_ptr<StreamKeeper::File>> file = options_.keeper->Create(suffix);
  if (!file.ok()) {
    notes_.push_back("a raw stream is not kept: " + file.error().message);
    return nullptr;
  }
  kept_.push_back(*file);
  return file.Take();
}

Result<uint64_t> Target::OpenSession(const ipc::SessionConfig& config, Kind kind) {
  ASSIGN_OR_RETURN(ipc::Session session,
                   client_.CollectTracing(config, ipc::Deadline::After(kOpenTimeout)));
  auto ring = std::make_shared<StreamRing>();
  RETURN_IF_ERROR(drain_->Add(std::move(session.stream), ring));
  sessions_.push_back({session.id, kind, ring,
                       std::make_unique<StreamDecoder>(ring, fold_.get(), clock_, Keep(kind))});
  return session.id;
}

Status Target::Open(bool fresh) {
  ASSIGN_OR_RETURN(source_, ChooseSource(options_.sampling, process_.clr_version));
  // Live events first, then the rundown: the other order leaves a gap between them.
  const bool own_rundown = options_.keeper != nullptr;
  RETURN_IF_ERROR(
      OpenSession(AllocationSession(source_, options_.buffer_mb, own_rundown), Kind::kMain));
  state_ = State::kRecording;
  lost_ = cut_ = abandoned_ = false;
  if (Result<uint64_t> r = OpenSession(EntryPointSession(), Kind::kEntryPoints); !r.ok())
    notes_.push_back("precompiled methods are named by rundowns only: " + r.error().message);
  if (!fresh) BeginRundown();
  return OkStatus();
}

void Target::BeginRundown() {
  Result<uint64_t> id = OpenSession(RundownSession(), Kind::kRundown);
  if (!id.ok()) {
    tables_->losses.Add(Loss::kRundownIncomplete);
    notes_.push_back("methods that were compiled before cannot be named: " + id.error().message);
    return;
  }
  StopInBackground({*id});
}

void Target::StopInBackground(std::vector<uint64_t> ids) {
  // StopTracing answers after its rundown was written, and that only goes on while we read.
  ++*stops_running_;
  stoppers_.emplace_back([this, ids = std::move(ids), running = stops_running_] {
    // Whether it worked shows in the stream: it ends with its tag or without.
    for (const uint64_t id : ids) (void)client_.StopTracing(id, ipc::Deadline::After(kStopTimeout));
    --*running;
  });
}

bool Target::rundown_pending() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const Live& s) { return s.kind == Kind::kRundown; });
}

bool Target::Pump() {
  bool any = false;
  for (Live& s : sessions_) any |= s.decoder->Pump(kItemsPerPump);
  if (!any) Settle();
  return any;
}

void Target::Settle() {
  bool main_ended = false;
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    StreamDecoder& d = *it->decoder;
    if (!d.finished()) {
      ++it;
      continue;
    }
    LossCounters losses = d.losses();
    // A live session that ends without its tag belongs to a process that ended: that is one loss of
    // its own name, not a damaged file.
    if (losses[Loss::kTruncatedInput] != 0) {
      losses.Set(Loss::kTruncatedInput, 0);
      losses.Set(Loss::kTruncatedBytes, 0);
      if (it->kind == Kind::kRundown) losses.Add(Loss::kRundownIncomplete);
    }
    if (d.damage())
      notes_.push_back(fmt::format("a session's stream was damaged at byte {}: {}",
                                   d.damage()->offset, d.damage()->message));
    tables_->losses.Merge(losses);
    if (it->kind != Kind::kRundown && state_ == State::kRecording) {
      main_ended = true;
      cut_ |= !d.complete();  // a program that exits by itself ends its stream with the tag
    }
    finished_events_ += d.events();
    it = sessions_.erase(it);
  }
  if (main_ended) lost_ = true;
  if (sessions_.empty() && *stops_running_ == 0 && state_ != State::kEnded) state_ = State::kEnded;
}

void Target::BeginStop() {
  if (state_ != State::kRecording) return;
  state_ = State::kStopping;
  // A process that is stopped (SIGSTOP, a debugger) answers nobody.
  if (IsStopped(process_.pid)) return Abandon("is stopped");
  std::vector<uint64_t> ids;
  for (const Live& s : sessions_)
    if (s.kind != Kind::kRundown) ids.push_back(s.id);
  if (!ids.empty()) StopInBackground(std::move(ids));
}

void Target::BeginFinalRundown() {
  if (lost_ || abandoned_) return;
  state_ = State::kStopping;
  BeginRundown();
}

void Target::Abandon(std::string_view why) {
  for (const Live& s : sessions_) drain_->Remove(s.ring);
  while (Pump()) {
  }
  if (!sessions_.empty()) Settle();
  abandoned_ = true;
  state_ = State::kEnded;
  notes_.push_back(
      fmt::format("process {} {}: its sockets were closed, and the session ends with the next "
                  "event that it writes",
                  process_.pid, why));
}

uint64_t Target::events() const {
  uint64_t n = finished_events_;
  for (const Live& s : sessions_) n += s.decoder->events();
  return n;
}

size_t Target::UnresolvedAddresses() const {
  const auto& addresses = tables_->stacks.addresses();
  return static_cast<size_t>(
      std::count_if(addresses.begin(), addresses.end(), [this](const profile::CodeAddress& a) {
        return tables_->code.Find(a.address, a.first_ns).method == nullptr;
      }));
}

void Target::ReadMappings() {
  std::FILE* maps = std::fopen(fmt::format("/proc/{}/maps", process_.pid).c_str(), "re");
  if (maps == nullptr) return;
  char line[4096];
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long long start = 0, end = 0, offset = 0;
    char permissions[5] = {};
    int path_at = 0;
    if (std::sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, permissions, &offset,
                    &path_at) < 4)
      continue;
    if (permissions[2] != 'x' || line[path_at] != '/') continue;
    std::string_view path(line + path_at);
    while (path.ends_with('\n')) path.remove_suffix(1);
    const bool known = std::any_of(tables_->mappings.begin(), tables_->mappings.end(),
                                   [&](const profile::Mapping& m) { return m.start == start; });
    if (!known) tables_->mappings.push_back({start, end, offset, recording_->strings.Intern(path)});
  }
  std::fclose(maps);
}

void Target::Close() {
  for (const Live& s : sessions_) tables_->losses.Merge(s.decoder->losses());
  fold_->Flush();
  for (const auto& file : kept_) {
    if (file->bytes_lost() != 0) tables_->losses.Add(Loss::kRawBytesNotKept, file->bytes_lost());
    if (file->error())
      notes_.push_back(fmt::format("{}; it holds the first {} bytes of its stream",
                                   file->error()->message, file->bytes_written()));
  }
  if (lost_ && cut_) tables_->losses.Add(Loss::kTargetLost);
  tables_->info.end_ns = fold_->last_ns();
  tables_->info.complete = !abandoned_;
}

}  // namespace clrscope::capture
