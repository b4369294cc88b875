// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

#include "capture/recorder.h"
#include "ipc/process_finder.h"
#include "ipc/release.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kCommitEvery = 1000ms;
constexpr auto kProgressEvery = 250ms;
constexpr auto kStopPatience = 20000ms;
constexpr auto kPausePatience = 3000ms;
constexpr std::string_view kCaptureEnding = ".clrscope";
constexpr size_t kCommitBytes = 8 << 20;

// Signals come through a descriptor, so that nothing happens in a handler.
Result<Fd> TakeSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCHLD}) sigaddset(&set, s);
  ::signal(SIGPIPE, SIG_IGN);
  if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0)
    return Error{ErrorCode::kFailed, "cannot block signals"};
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid())
    return Error{ErrorCode::kFailed, fmt::format("cannot watch signals: {}", strerror(errno))};
  return fd;
}

}  // namespace

void Recorder::Tally::OnSlice(profile::Slice&& slice) {
  const auto& keys = recorder_->recording_.processes[slice.process]->series.keys();
  for (const profile::SliceRow& r : slice.rows) bytes += EstimateOf(keys[r.series], r.sums).bytes;
  recorder_->writer_->OnSlice(std::move(slice));
}

Result<std::unique_ptr<Recorder>> Recorder::Start(RecordOptions options) {
  std::unique_ptr<Recorder> r(new Recorder);
  r->options_ = std::move(options);
  r->tally_ = std::make_unique<Tally>(r.get());
  ASSIGN_OR_RETURN(r->signals_, TakeSignals());
  ASSIGN_OR_RETURN(r->drain_, Drain::Start());
  r->start_ = Clock::now();
  r->next_commit_ = r->start_ + kCommitEvery;
  r->next_mappings_ = r->start_ + r->mappings_every_;
  if (!r->options_.command.empty()) {
    ASSIGN_OR_RETURN(r->launch_, Launch::Start(r->options_.command,
                                               [&r](pid_t pid) { return r->CreateOutput(pid); }));
    return r;
  }
  RETURN_IF_ERROR(r->CreateOutput(r->options_.processes.front().pid));
  for (const ipc::DotnetProcess& p : r->options_.processes) {
    if (Status status = r->Attach(p); !status.ok()) {
      r->writer_.reset();
      ::unlink(r->output_.c_str());
      if (r->keeper_)
        for (const std::string& path : r->keeper_->Paths()) ::unlink(path.c_str());
      return status.error();
    }
  }
  return r;
}

Status Recorder::CreateOutput(pid_t pid) {
  output_ = options_.output(pid);
  ASSIGN_OR_RETURN(writer_, store::CaptureWriter::Create(output_, &recording_));
  if (options_.keep_nettrace) {
    std::string base = output_;
    if (base.ends_with(kCaptureEnding)) base.resize(base.size() - kCaptureEnding.size());
    keeper_ = std::make_unique<StreamKeeper>(std::move(base), options_.replace);
    options_.target.keeper = keeper_.get();
  }
  return OkStatus();
}

Recorder::~Recorder() {
  drain_.reset();  // closes what is still open, which also frees StopTracing calls that wait
}

Status Recorder::Attach(const ipc::DotnetProcess& process) {
  ASSIGN_OR_RETURN(std::unique_ptr<ipc::Transport> transport, ipc::OpenTransport(process));
  auto target = std::make_unique<Target>(process, std::move(transport), &recording_, tally_.get(),
                                         &clock_, drain_.get(), options_.target);
  RETURN_IF_ERROR(target->Open(false));
  targets_.push_back(std::move(target));
  return OkStatus();
}

void Recorder::AcceptRuntimes() {
  for (const ipc::ReverseRuntime& runtime : launch_->server().Pump()) AddRuntime(runtime);
}

void Recorder::AddRuntime(const ipc::ReverseRuntime& runtime) {
  auto transport = std::make_unique<ipc::ReverseTransport>(launch_->server(), runtime);
  ipc::Client client(*transport);
  const bool record = stop_requests_ == 0 && summary_.write_error == std::nullopt;
  if (record) {
    ipc::DotnetProcess process;
    if (Result<ipc::DotnetProcess> found = ipc::FindProcess(runtime.pid, {false, 0ms}); found.ok())
      process = found.Take();
    process.pid = runtime.pid != 0 ? runtime.pid : runtime.inner_pid;
    if (Result<ipc::ProcessInfo> info = client.GetProcessInfo(ipc::Deadline::After(5000ms));
        info.ok()) {
      process.clr_version = info->clr_version;
      process.entry_assembly = info->entry_assembly;
      process.arch = info->arch;
      // Before main runs the runtime knows its own command line only in part; /proc knows it all.
      if (process.command_line.empty()) process.command_line = info->command_line;
    }
    auto target = std::make_unique<Target>(process, std::move(transport), &recording_, tally_.get(),
                                           &clock_, drain_.get(), options_.target);
    if (Status s = target->Open(true); s.ok()) {
      targets_.push_back(std::move(target));
    } else {
      summary_.notes.push_back(
          fmt::format("process {} runs unrecorded: {}", process.pid, s.error().message));
      recording_.processes.back()->info.complete = false;
    }
  }
  ipc::ReverseTransport again(launch_->server(), runtime);
  ipc::Client resume(again);
  if (Status s = ipc::Release(resume, launch_->server(), ipc::Deadline::After(10000ms)); !s.ok())
    summary_.notes.push_back(s.error().message);
}

bool Recorder::PumpAll() {
  bool any = false;
  for (const auto& t : targets_)
    if (t->state() != Target::State::kEnded) any |= t->Pump();
  return any;
}

void Recorder::WaitForWork(int timeout_ms) {
  pollfd fds[4] = {{drain_->ready_fd(), POLLIN, 0},
                   {signals_.get(), POLLIN, 0},
                   {-1, POLLIN, 0},
                   {-1, POLLIN, 0}};
  if (launch_) {
    fds[2].fd = launch_->server().fd();
    if (!launch_->ExitCode()) fds[3].fd = launch_->exit_fd();
  }
  (void)::poll(fds, 4, timeout_ms);
  uint64_t count;
  if (fds[0].revents != 0) (void)!::read(drain_->ready_fd(), &count, sizeof(count));
  if (fds[1].revents != 0) OnSignals();
  if (fds[2].revents != 0) AcceptRuntimes();
}

void Recorder::OnSignals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    switch (static_cast<int>(info.ssi_signo)) {
      case SIGINT:
        ++stop_requests_;
        break;  // the terminal sends it to the program too
      case SIGTERM:
      case SIGHUP:
        ++stop_requests_;
        if (launch_) launch_->Signal(static_cast<int>(info.ssi_signo));
        break;
      case SIGTSTP:
        suspended_ = true;
        break;
      default:
        break;
    }
  }
}

void Recorder::Suspend() {
  // A stopped clrscope drains nothing, and a target whose session nobody drains cannot exit: so the
  // sessions end first.
  suspended_ = false;
  std::vector<Target*> live;
  for (const auto& t : targets_)
    if (t->state() == Target::State::kRecording) live.push_back(t.get());
  for (Target* t : live) t->BeginStop();
  const auto deadline = Clock::now() + kPausePatience;
  while (Clock::now() < deadline && std::any_of(live.begin(), live.end(), [](Target* t) {
           return t->state() != Target::State::kEnded;
         }))
    if (!PumpAll()) WaitForWork(20);
  Commit(true);
  // Closing the sockets frees the others as well.
  for (Target* t : live)
    if (t->state() != Target::State::kEnded) t->Abandon("did not end its session in time");
  summary_.notes.emplace_back(
      "recording was suspended (Ctrl-Z): nothing was recorded while clrscope was stopped");
  ::raise(SIGSTOP);
  for (Target* t : live) {
    if (t->lost()) continue;
    if (::kill(t->process().pid, 0) != 0) {
      summary_.notes.push_back(
          fmt::format("process {} ended while clrscope was suspended", t->process().pid));
    } else if (Status s = t->Reopen(); !s.ok()) {
      summary_.notes.push_back(fmt::format("process {} is recorded up to the suspension only: {}",
                                           t->process().pid, s.error().message));
    }
  }
}

bool Recorder::AnyRecording() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const auto& t) { return t->state() != Target::State::kEnded; });
}

int64_t Recorder::EndNs() const {
  int64_t end = 0;
  for (const auto& t : targets_) end = std::max(end, t->fold().last_ns());
  return end;
}

Result<RecordSummary> Recorder::Run(const std::function<void(const Progress&)>& on_progress) {
  auto next_progress = start_ + kProgressEvery;
  const auto runtime_wait = start_ + 30s;
  while (stop_requests_ == 0 && !summary_.write_error) {
    const auto now = Clock::now();
    if (options_.duration && now - start_ >= *options_.duration) break;
    if (suspended_) Suspend();
    if (!PumpAll()) WaitForWork(50);
    Commit(false);
    MaybeReadMappings(now);
    if (now >= next_progress) {
      on_progress(Snapshot(false));
      next_progress = now + kProgressEvery;
    }
    if (launch_) {
      AcceptRuntimes();
      if (launch_->ExitCode() && !AnyRecording()) break;
      if (targets_.empty() && now > runtime_wait && now < runtime_wait + 60ms)
        summary_.notes.emplace_back("no .NET runtime has started in 30 s: is this a .NET program?");
    } else if (!AnyRecording()) {
      break;
    }
  }
  on_progress(Snapshot(true));
  (void)StopAll(kStopPatience);
  if (stop_requests_ < 2) RunDownWhatIsUnnamed();
  summary_.interrupted_twice = stop_requests_ > 1;
  if (keeper_) {
    keeper_->Finish();
    summary_.kept = keeper_->Paths();
  }
  for (const auto& t : targets_) {
    if (!t->lost()) t->ReadMappings();
    t->Close();
    summary_.samples += t->samples();
    for (const std::string& n : t->notes()) summary_.notes.push_back(n);
    if (t->lost() && !launch_)
      summary_.notes.push_back(
          fmt::format("process {} ended while it was recorded; what it had sent is in the capture",
                      t->process().pid));
  }
  recording_.end_ns = summary_.duration_ns = EndNs();
  if (!summary_.write_error)
    if (Status s = writer_->Finish(true); !s.ok()) summary_.write_error = s.error();
  // The program goes on without us: its later children are let go, its exit code is ours.
  while (launch_ && !launch_->ExitCode() && stop_requests_ < 2) {
    WaitForWork(200);
    AcceptRuntimes();
  }
  if (launch_) summary_.exit_code = launch_->ExitCode();
  return summary_;
}

bool Recorder::StopAll(std::chrono::milliseconds patience) {
  for (const auto& t : targets_) t->BeginStop();
  const auto deadline = Clock::now() + patience;
  while (AnyRecording() && Clock::now() < deadline && stop_requests_ < 2) {
    if (!PumpAll()) WaitForWork(20);
    Commit(false);
  }
  const bool answered = !AnyRecording();
  for (const auto& t : targets_)
    if (t->state() != Target::State::kEnded) t->Abandon("did not end its session in time");
  return answered;
}

void Recorder::RunDownWhatIsUnnamed() {
  if (!drain_) return;
  bool any = false;
  for (const auto& t : targets_) {
    if (t->lost() || t->UnresolvedAddresses() == 0) continue;
    t->BeginFinalRundown();
    any = true;
  }
  if (any) (void)StopAll(kStopPatience);
}

void Recorder::Commit(bool force) {
  const auto now = Clock::now();
  if (!force && now < next_commit_ && writer_->pending_bytes() < kCommitBytes) return;
  next_commit_ = now + kCommitEvery;
  if (summary_.write_error || !clock_.started()) return;
  recording_.start_unix_ns = clock_.start_unix_ns();
  for (const auto& t : targets_) t->tables().info.end_ns = t->fold().last_ns();
  if (Status s = writer_->Commit(EndNs()); !s.ok()) summary_.write_error = s.error();
}

void Recorder::MaybeReadMappings(Clock::time_point now) {
  // Only while the process lives can addresses outside of any method be told by their file.
  if (now < next_mappings_) return;
  next_mappings_ = now + mappings_every_;
  mappings_every_ = std::min<std::chrono::milliseconds>(mappings_every_ * 2, 30s);
  for (const auto& t : targets_)
    if (t->state() == Target::State::kRecording) t->ReadMappings();
}

Progress Recorder::Snapshot(bool stopping) const {
  Progress p;
  p.elapsed = Clock::now() - start_;
  p.stopping = stopping;
  p.bytes = tally_->bytes;
  for (const auto& t : targets_) {
    ++(t->state() == Target::State::kEnded ? p.ended : p.recording);
    p.events += t->events();
    p.samples += t->samples();
  }
  for (const auto& tables : recording_.processes) {
    p.dropped += tables->losses[Loss::kEventsDropped];
    p.gcs += tables->gc_count;
  }
  return p;
}

}  // namespace clrscope::capture
