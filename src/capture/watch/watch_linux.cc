// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "base/units.h"
#include "capture/watch/watch.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kStopPatience = 10000ms;
// How long to wait before a disk that took nothing is tried again.
constexpr int64_t kRetryOutputNs = 10 * kSecond;
// A recording that has grown by so much in memory is closed early: the next one begins with nothing
// but the code of the processes that live.
constexpr size_t kMaxTableGrowth = size_t{96} << 20;
constexpr int64_t kShortestNs = 60 * kSecond;

std::string Who(const ipc::DotnetProcess& p) {
  return p.name.empty() ? fmt::format("process {}", p.pid) : fmt::format("{} ({})", p.name, p.pid);
}

std::string Size(uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

Result<std::unique_ptr<Watch>> Watch::Start(WatchOptions options, WatchLog* log) {
  ASSIGN_OR_RETURN(Signals signals, Signals::Take());
  std::unique_ptr<Watch> watch(new Watch);
  watch->options_ = std::move(options);
  watch->log_ = log;
  watch->clock_ = &Clock::System();
  watch->signals_ = std::move(signals);
  ASSIGN_OR_RETURN(watch->folder_, WatchFolder::Open(watch->options_.folder));
  watch->options_.engine.discover = watch->options_.engine.start_now = true;
  ASSIGN_OR_RETURN(watch->engine_, SessionEngine::Start(watch->options_.engine));
  watch->Begin();
  return watch;
}

Result<std::unique_ptr<Watch>> Watch::Start(WatchOptions options, WatchLog* log, const Clock* clock,
                                            std::unique_ptr<ProcessSource> feed) {
  std::unique_ptr<Watch> watch(new Watch);
  watch->options_ = std::move(options);
  watch->log_ = log;
  watch->clock_ = clock;
  ASSIGN_OR_RETURN(watch->folder_, WatchFolder::Open(watch->options_.folder));
  watch->options_.engine.discover = watch->options_.engine.start_now = true;
  watch->engine_ = std::make_unique<SessionEngine>(watch->options_.engine, clock, std::move(feed));
  watch->Begin();
  return watch;
}

Watch::~Watch() = default;

void Watch::Begin() {
  if (options_.rotate_bytes == 0) options_.rotate_bytes = options_.max_bytes / 8;
  for (const std::string& words : folder_->TakeStock()) log_->Write(LogLevel::kWarning, words);
  engine_->AddObserver(this);
  Rotate();
}

void Watch::OnJoined(const Target& target) {
  if (rotating_) return;  // it goes on
  const ipc::DotnetProcess& p = target.process();
  log_->Write(LogLevel::kInfo, fmt::format("recording {}{}{}", Who(p),
                                           p.clr_version.empty() ? "" : ", .NET ", p.clr_version));
}

void Watch::OnSlice(const profile::Slice& slice) {
  if (output_) output_->OnSlice(slice);
}

void Watch::OnEnded(const Target& target) {
  if (output_) output_->OnEnded(target);
  log_->Write(LogLevel::kInfo, fmt::format("{} {}: {} samples", Who(target.process()),
                                           !target.lost()     ? "is let go"
                                           : target.cut_off() ? "ended without closing its session"
                                                              : "ended",
                                           target.samples()));
}

void Watch::OnNote(const Target& target, const std::string& note) {
  log_->Write(LogLevel::kWarning, fmt::format("{}: {}", Who(target.process()), note));
}

void Watch::OnSkipped(const ipc::DotnetProcess& process, const Error& error) {
  log_->Write(LogLevel::kNotice, fmt::format("not recorded: {}: {}", Who(process), error.message));
}

void Watch::OnTick(int64_t now_ns) {
  if (output_) output_->OnTick(now_ns);
  ticked_ = true;
}

const char* Watch::Due() const {
  const int64_t unix_now = clock_->unix_ns();
  if (!output_) return clock_->monotonic_ns() >= retry_output_ns_ ? "" : nullptr;
  if (output_->error()) return "it cannot be written";
  // The second half is for a clock that was set back.
  if (unix_now >= next_rotation_unix_ns_ || next_rotation_unix_ns_ - unix_now > options_.rotate_ns)
    return "its time is over";
  std::error_code error;  // of the file alone: the log beside it comes and goes
  const auto size = std::filesystem::file_size(output_->path(), error);
  if (!error && size >= options_.rotate_bytes) return "it has its size";
  if (engine_->crowded()) return "many processes have come and gone";
  if (engine_->clock().now_ns() >= kShortestNs &&
      engine_->TableBytes() > table_bytes_at_start_ + kMaxTableGrowth)
    return "it takes much memory";
  return nullptr;
}

void Watch::CloseOutput(profile::Recording* recording) {
  if (!output_) return;
  const int64_t end_ns = recording->end_ns;
  output_->Finish(end_ns);
  const std::optional<Error> error = output_->error();
  const std::string path = output_->path();
  output_.reset();
  folder_->Add(path, recording->start_unix_ns, recording->start_unix_ns + end_ns);
  if (error) {
    log_->Write(LogLevel::kError, fmt::format("{} ends early: {}", path, error->message));
    retry_output_ns_ = clock_->monotonic_ns() + kRetryOutputNs;
    return;
  }
  log_->Write(LogLevel::kNotice,
              fmt::format("wrote {} ({}): {} s, {} processes", path,
                          Size(folder_->files().empty() ? 0 : WatchFolder::BytesOf(path)),
                          end_ns / kSecond, recording->processes.size()));
}

void Watch::Rotate() {
  rotating_ = true;
  const bool failed = output_ && output_->error();
  const std::unique_ptr<profile::Recording> old = engine_->Rotate();
  rotating_ = false;
  CloseOutput(old.get());
  const int64_t unix_now = clock_->unix_ns();
  next_rotation_unix_ns_ = (unix_now / options_.rotate_ns + 1) * options_.rotate_ns;
  table_bytes_at_start_ = engine_->TableBytes();
  (void)::malloc_trim(0);  // what the old tables took
  KeepHouse();
  if (failed) return;  // the disk is full: later
  Result<std::unique_ptr<CaptureOutput>> output =
      CaptureOutput::Create(folder_->PathFor(unix_now), &engine_->recording());
  if (output.ok()) {
    output_ = output.Take();
  } else {
    log_->Write(LogLevel::kError,
                fmt::format("nothing is written for now: {}", output.error().message));
    retry_output_ns_ = clock_->monotonic_ns() + kRetryOutputNs;
  }
}

void Watch::KeepHouse() {
  const uint64_t open = output_ ? WatchFolder::BytesOf(output_->path()) : 0;
  // Room for what the next seconds write, its log included.
  const uint64_t reserve = std::min(options_.max_bytes / 4, (uint64_t{24} << 20));
  for (const std::string& words :
       folder_->Prune(clock_->unix_ns() - options_.keep_ns, options_.max_bytes, open + reserve))
    log_->Write(LogLevel::kNotice, words);
}

bool Watch::Step() {
  const bool more = engine_->Work();
  if (output_) output_->CommitIfLarge(engine_->clock().now_ns());
  if (std::exchange(ticked_, false)) {
    if (Due() != nullptr) Rotate();
    KeepHouse();
  }
  return more;
}

void Watch::End(const std::function<bool()>& keep_waiting) {
  (void)engine_->StopAll(kStopPatience, keep_waiting);
  engine_->RunDownWhatIsUnnamed(kStopPatience, keep_waiting);
  engine_->Close();
  engine_->recording().end_ns = engine_->end_ns();
  CloseOutput(&engine_->recording());
}

void Watch::Suspend() {
  // As in Recorder: a stopped clrscope drains nothing.
  suspended_ = false;
  (void)engine_->StopAll(kPausePatience, [] { return true; });
  log_->Write(LogLevel::kNotice, "suspended (Ctrl-Z): nothing is recorded");
  ::raise(SIGSTOP);
  for (const std::string& note : engine_->ReopenAll()) log_->Write(LogLevel::kNotice, note);
}

void Watch::Run() {
  const auto on_signals = [this] {
    signals_->ForEach([this](int signal) {
      if (signal == SIGTSTP)
        suspended_ = true;
      else if (signal != SIGCHLD)
        ++stop_requests_;
    });
  };
  while (stop_requests_ == 0) {
    const bool more = Step();
    pollfd fds[] = {{signals_->fd(), POLLIN, 0}};
    engine_->Wait(more ? 0ms : 500ms, fds);
    if (fds[0].revents != 0) on_signals();
    if (suspended_) Suspend();
  }
  log_->Write(LogLevel::kNotice, "ending");
  End([&] {
    on_signals();
    return stop_requests_ < 2;
  });
}

}  // namespace clrscope::capture
