// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/control_path.h"
#include "capture/agents/agent_image.h"
#include "capture/agents/agent_libc.h"
#include "capture/agents/agent_permission.h"
#include "capture/kernel/trace_right.h"
#include "capture/proc/program_file.h"
#include "capture/record/note_groups.h"
#include "capture/record/recorder.h"
#include "capture/record/unheard.h"
#include "capture/sessions/settling.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/processes/process_facts.h"
#include "ipc/processes/process_finder.h"
#include "ipc/processes/release.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kProgressEvery = 250ms;
constexpr int kRoundsPerJoin = 16;
constexpr auto kRunDownPatience = 20000ms;
constexpr auto kRuntimePatience = 30s;
// After the command, for what it started to end, or to begin and be recorded.
constexpr auto kLeftPatience = 3s;
// One that was started while its parent ended is missed by one look, and found by the next.
constexpr int kLooksForNobody = 2;
// Long enough for a program to have started.
constexpr auto kLookAfterEnd = 2s;
constexpr auto kLeftEvery = 500ms;
constexpr auto kReleaseEvery = 1000ms, kReleasePatience = 1000ms, kReleasePatienceAgain = 100ms;
// From then on a runtime may have compiled what nobody has told of.
constexpr auto kLate = 50ms;
constexpr int kBearsEarlyRundowns = 9;  // SettingsSession in open_target.cc
constexpr auto kEndPatience = 100ms;    // between a process's sockets' end and its own
constexpr std::string_view kCaptureEnding = ".clrscope";

pid_t PidOf(const ipc::ReverseRuntime& runtime) {
  return runtime.pid != 0 ? runtime.pid : runtime.inner_pid;
}

// "MSBuild (processes 1, 2), VBCSCompiler (process 3)"
std::string NameEach(std::vector<std::pair<std::string, pid_t>> processes) {
  std::sort(processes.begin(), processes.end());
  std::map<std::string, std::vector<pid_t>> by_name;
  for (const auto& [name, pid] : processes) by_name[name].push_back(pid);
  std::vector<std::string> words;
  for (const auto& [name, pids] : by_name)
    words.push_back(fmt::format("{} ({})", name, NamePids(pids)));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::Start(RecordOptions options) {
  std::unique_ptr<Recorder> r(new Recorder);
  r->options_ = std::move(options);
  ASSIGN_OR_RETURN(Signals signals, Signals::Take());
  r->signals_ = std::make_unique<Signals>(std::move(signals));
  if (r->options_.agent) r->LimitAgent();
  if (r->options_.target.sampler == profile::CpuSampler::kRuntime)
    r->summary_.notes.emplace_back(
        "the runtime's sampler stops the program 1,000 times a second, and tells managed code "
        "alone");
  EngineOptions engine;
  engine.target = r->options_.target;
  engine.discover = engine.start_now = r->options_.all;
  engine.wanted = r->options_.wanted;
  ASSIGN_OR_RETURN(r->engine_, SessionEngine::Start(std::move(engine)));
  r->engine_->AddObserver(r.get());
  r->start_ = SteadyClock::now();
  if (!r->options_.command.empty()) {
    Launch::Variables environment;
    RETURN_IF_ERROR(r->CheckEnvironment());
    if (r->options_.agent) RETURN_IF_ERROR(r->PlaceForLaunch(environment));
    ASSIGN_OR_RETURN(
        r->launch_,
        Launch::Start(
            r->options_.command, [&r](pid_t pid) { return r->CreateOutput(pid); }, environment));
    r->launch_->AtItsEnd([recorder = r.get()] {
      for (const auto& target : recorder->engine_->targets())
        if (target->process().pid == recorder->launch_->pid()) target->NoteEnd();
    });
    return r;
  }
  RETURN_IF_ERROR(
      r->CreateOutput(r->options_.all ? ::getpid() : r->options_.processes.front().pid));
  for (const ipc::DotnetProcess& p : r->options_.processes) {
    if (const Status status = r->Join(p); !status.ok()) {
      const std::string path = r->output_->path();
      const bool file = !r->output_->to_standard_output();
      r->output_.reset();
      if (file) ::unlink(path.c_str());
      if (r->keeper_)
        for (const std::string& kept : r->keeper_->Paths()) ::unlink(kept.c_str());
      return status.error();
    }
    // Its rundown need not wait for the others, nor take memory meanwhile.
    for (int round = 0; round < kRoundsPerJoin && r->engine_->Work(); ++round) {
    }
  }
  r->engine_->PassNotes();
  return r;
}

// Its part of the limit, which it keeps by itself: the sessions of the recording have what it
// leaves.
void Recorder::LimitAgent() {
  const TargetOptions& target = options_.target;
  if (target.max_overhead <= 0) return;
  constexpr double kMost = 2.0 / 3, kLess = 1.0 / 3;
  const double part = target.agent ? kMost : kLess;
  *options_.agent += fmt::format(",max_overhead={:.6f}", 100 * part * target.max_overhead);
}

Status Recorder::Join(const ipc::DotnetProcess& process) {
  // A counter takes the place of a session that costs too much, which goes on until it may come.
  if (options_.target.exceptions || options_.target.max_overhead > 0)
    std::this_thread::sleep_for(UntilSettled(process));
  std::unique_ptr<AgentFeed> agent;
  if (options_.agent) {
    ASSIGN_OR_RETURN(agent, AgentFeed::Load(process.pid, *options_.agent));
  } else {
    LetAgentAllowSamples(process);
  }
  RETURN_IF_ERROR(engine_->Join(process));
  if (agent != nullptr) Follow(std::move(agent), engine_->targets().back()->index());
  return OkStatus();
}

// What may lack is no reason to load an agent.
void Recorder::LetAgentAllowSamples(const ipc::DotnetProcess& process) {
  if (options_.target.cpu_may_lack || !OnlyAgentAllowsSampling(process, options_.target)) return;
  // One may be there.
  AskForTraceRight(process.pid);
  if (MayTrace(process.pid).ok()) return;
  // What is still refused after that says why.
  const Status allowed = LoadAgentForTraceRight(process.pid);
  summary_.notes.push_back(
      allowed.ok()
          ? fmt::format("the agent was loaded into process {} for a moment, to allow "
                        "samples of CPU time (kernel.yama.ptrace_scope is 1)",
                        process.pid)
          : fmt::format("the agent cannot allow samples of CPU time: {}", allowed.error().message));
}

void Recorder::Follow(std::unique_ptr<AgentFeed> agent, uint32_t index) {
  profile::IntervalSink* sink = output_->intervals();
  if (options_.target.requests)
    for (const auto& target : engine_->targets())
      if (target->index() == index && target->fold().requests().on())
        sink = target->fold().requests().FollowLive(sink);
  // What is allocated is told by a session then.
  agent->Follow(&engine_->recording(), index, sink, /*counts=*/!options_.target.requests);
  for (const auto& target : engine_->targets()) {
    if (target->index() != index) continue;
    // A feed ends before its target.
    agent->FollowOverhead(
        [t = target.get()](const profile::Overhead& o) { t->NoteAgentOverhead(o); });
  }
  engine_->Add(index, std::move(agent));
}

Status Recorder::CreateOutput(pid_t pid) {
  ASSIGN_OR_RETURN(output_, CaptureOutput::Create(options_.output(pid), &engine_->recording()));
  engine_->AddObserver(output_.get());
  if (options_.agent) engine_->StartClock();
  if (options_.keep_nettrace) {
    std::string base = output_->path();
    if (base.ends_with(kCaptureEnding)) base.resize(base.size() - kCaptureEnding.size());
    keeper_ = std::make_unique<StreamKeeper>(std::move(base), options_.replace);
    engine_->KeepStreams(keeper_.get());
  }
  return OkStatus();
}

// Whether the command is a .NET program, which takes the environment as it is. Anything else may
// change it before it starts a runtime.
bool Recorder::TakesEnvironment() const {
  return IsDotnetHost(options_.command.front()) && !IsSdkCommand(options_.command);
}

// What the environment that the command inherits rules out.
Status Recorder::CheckEnvironment() {
  std::vector<std::string> variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
    variables.emplace_back(*entry);
  const std::string& program = options_.command.front();
  off_by_ = ipc::SwitchedOffBy(variables, ipc::kIpc);
  std::string what = "nothing";
  std::string by = off_by_;
  // .NET before 8 does not know these, and connects all the same.
  const bool certain = !by.starts_with(fmt::format("DOTNET_EnableDiagnostics_{}=", ipc::kIpc)) &&
                       !by.starts_with(fmt::format("COMPlus_EnableDiagnostics_{}=", ipc::kIpc));
  std::string what_else;
  if (by.empty() && options_.agent) {
    by = ipc::SwitchedOffBy(variables, ipc::kProfilers);
    what = "nothing that needs the agent (live objects, exact counts)";
    what_else =
        ", or record without what needs the agent; a runtime that has started takes the agent "
        "all the same (`clrscope record --live -p PID`)";
  }
  if (by.empty()) return OkStatus();
  if (certain && TakesEnvironment())
    return Error{
        ErrorCode::kRefused,
        fmt::format("{} stands in the environment: with it {} can be recorded of {}; start "
                    "it without that variable{}",
                    by, what, program, what_else)};
  summary_.notes.push_back(
      fmt::format("{} stands in the environment: {} can be recorded of a .NET program that {} "
                  "{}{}",
                  by, what, program, IsDotnetHost(program) ? "runs" : "starts with it",
                  certain ? "" : " (.NET 8 and later)"));
  return OkStatus();
}

// The runtimes of a launched program load the agent themselves.
Status Recorder::PlaceForLaunch(Launch::Variables& environment) {
  ASSIGN_OR_RETURN(const ipc::ProcessFacts self, ipc::GatherSocketFacts(::getpid()));
  std::string no_place;
  if (::access(self.tmp_dir.c_str(), W_OK) != 0)
    no_place = fmt::format("the agent's socket would lie in {}: {}; name another folder by TMPDIR",
                           self.tmp_dir, strerror(errno));
  else if (!AgentSocketFits(self))
    no_place = fmt::format(
        "the agent's socket would lie in {}, and its path would have more than {} bytes; name a "
        "shorter folder by TMPDIR",
        self.tmp_dir, kMostControlPath);
  if (!no_place.empty() && TakesEnvironment()) return Error{ErrorCode::kRefused, no_place};
  if (!no_place.empty()) summary_.notes.push_back(no_place);
  const std::string& program = options_.command.front();
  const Libc libc = LibcOfProgram(program);
  if (!HasAgentFor(libc))
    return Error{ErrorCode::kRefused,
                 fmt::format("{} runs on musl, and {}", program, kNoAgentForMusl)};
  RemoveDeadSockets(self);
  ASSIGN_OR_RETURN(PlacedAgent placed, PlaceAgent(self, libc));
  placed_agent_ = std::make_unique<PlacedAgent>(std::move(placed));
  environment = {
      {"CORECLR_ENABLE_PROFILING", "1"},
      {"CORECLR_PROFILER", kAgentClsidText},
      {"CORECLR_PROFILER_PATH", placed_agent_->path()},
      {"CLRSCOPE_OPTS", options_.agent->empty() ? "owned=1" : "owned=1," + *options_.agent}};
  // These go before it where they are set.
  for (const char* name : {"CORECLR_PROFILER_PATH_64", "CORECLR_PROFILER_PATH_ARM64"})
    if (::getenv(name) != nullptr) environment.emplace_back(name, placed_agent_->path());
  if (const auto other = ipc::FindVariable(self.environ, "CORECLR_PROFILER");
      other && *other != kAgentClsidText &&
      ipc::FindVariable(self.environ, "CORECLR_ENABLE_PROFILING") == "1")
    summary_.notes.push_back(
        fmt::format("the program runs without the profiler that its environment names "
                    "(CORECLR_PROFILER={}): a runtime takes one, and here that is the agent",
                    *other));
  return OkStatus();
}

void Recorder::OnJoined(const Target& target) {
  ++summary_.processes;
  if (options_.agent && launch_ != nullptr)
    Follow(AgentFeed::Expect(target.process().pid), target.index());
}

void Recorder::OnEnded(const Target& target) {
  if (target.cut_off())
    died_.push_back(target.process().pid);
  else if (target.lost() && !launch_ && !options_.all)
    summary_.notes.push_back(
        fmt::format("process {} ended while it was recorded; what it had sent is in the capture",
                    target.process().pid));
}

void Recorder::OnSkipped(const ipc::DotnetProcess& process, const Error& error) {
  skipped_[error.message].push_back(process.pid);
}

void Recorder::NoteSkipped() {
  for (const auto& [due, runtime] : settling_) {
    if (runtime.pid != 0 && ipc::IsEnding(runtime.pid, 0ms))
      ++missed_;
    else
      skipped_["the recording was over within a second of the start"].push_back(PidOf(runtime));
  }
  // A sentence often begins with the process's number: the same reason is told once.
  std::map<std::string, std::vector<pid_t>> by_reason;
  for (const auto& [message, pids] : skipped_) {
    std::string reason = message;
    for (const pid_t pid : pids)
      if (const std::string prefix = fmt::format("process {} ", pid); reason.starts_with(prefix))
        reason.erase(0, prefix.size());
    std::vector<pid_t>& all = by_reason[reason];
    all.insert(all.end(), pids.begin(), pids.end());
  }
  for (const auto& [reason, pids] : by_reason) {
    summary_.notes.push_back(fmt::format("not recorded: {}: {}", NamePids(pids), reason));
  }
  if (!died_.empty())
    summary_.notes.push_back(
        fmt::format("{} died; what {} did last (as a rule 0.1 s, of what the agent reports 1 s) "
                    "is missing",
                    NamePids(died_), died_.size() == 1 ? "it" : "they"));
  summary_.notes = GroupNotes(std::move(summary_.notes));
  if (const size_t missed = engine_->counts().missed + missed_; missed != 0)
    summary_.notes.push_back(fmt::format("{} process{} ended before {} could be joined", missed,
                                         missed == 1 ? "" : "es", missed == 1 ? "it" : "they"));
}

void Recorder::AcceptRuntimes() {
  for (const ipc::ReverseRuntime& runtime : launch_->server().Pump()) AddRuntime(runtime);
}

void Recorder::AddRuntime(const ipc::ReverseRuntime& runtime) {
  const std::optional<bool> told = ipc::WaitsAt(runtime.pid, launch_->server().path());
  const bool waits = told.value_or(launch_->waits() && runtime.pid == launch_->pid());
  if (waits) JoinRuntime(runtime, Beginning::kWaits);
  if (waits || !told) {
    waiting_.push_back(runtime);
    ReleaseWaiting(kReleasePatience);
  }
  if (waits) return;
  if (options_.target.event_sources()) {
    settling_.emplace_back(SteadyClock::now() + kSettleTime, runtime);
  } else {
    JoinRuntime(runtime, Beginning::kGoesOn);
  }
}

// Who cannot be released now is tried again.
void Recorder::ReleaseWaiting(std::chrono::milliseconds patience) {
  Status error = OkStatus();
  for (const ipc::ReverseRuntime& runtime :
       ipc::ReleaseAll(launch_->server(), waiting_, &error, patience))
    if (runtime.pid == launch_->pid()) launch_->Released();
  next_release_ = SteadyClock::now() + kReleaseEvery;
  if (!error.ok() && !std::exchange(release_failed_, true))
    summary_.notes.push_back(error.error().message);
}

void Recorder::JoinSettled() {
  if (over_ || stop_requests_ != 0) return;
  const auto now = SteadyClock::now();
  const auto due = std::partition(settling_.begin(), settling_.end(),
                                  [now](const auto& settling) { return settling.first > now; });
  for (auto it = due; it != settling_.end(); ++it) JoinRuntime(it->second, Beginning::kSettled);
  settling_.erase(due, settling_.end());
}

void Recorder::JoinRuntime(const ipc::ReverseRuntime& runtime, Beginning beginning) {
  if (over_ || stop_requests_ != 0 || output_->error()) return;
  if (runtime.pid != 0 && ipc::IsEnding(runtime.pid, 0ms)) {
    ++missed_;
    return;
  }
  ipc::DotnetProcess process;
  if (Result<ipc::DotnetProcess> found = ipc::FindProcess(runtime.pid, {false, 0ms}); found.ok())
    process = found.Take();
  process.pid = PidOf(runtime);
  if (options_.target.types != profile::CountMode::kUnknown && beginning != Beginning::kWaits) {
    skipped_["a runtime can only be told at its start to count by type, and it did not wait there"]
        .push_back(process.pid);
    return;
  }
  auto transport = std::make_unique<ipc::ReverseTransport>(launch_->server(), runtime);
  ipc::Client client(*transport);
  if (Result<ipc::ProcessInfo> info = client.GetProcessInfo(ipc::Deadline::After(5000ms));
      info.ok()) {
    process.clr_version = info->clr_version;
    process.entry_assembly = info->entry_assembly;
    process.arch = info->arch;
    // Before main runs the runtime knows its own command line only in part; /proc knows it all.
    if (process.command_line.empty()) process.command_line = info->command_line;
  }
  const std::shared_ptr<IpcLink> link = engine_->LinkThrough(std::move(transport));
  if (beginning == Beginning::kGoesOn) link->SettlesIn(kSettleTime);
  const bool late = beginning == Beginning::kGoesOn &&
                    SteadyClock::now() - runtime.dialled > kLate &&
                    ipc::MajorVersion(process.clr_version) >= kBearsEarlyRundowns;
  const Status joined = engine_->Join(process, link, beginning != Beginning::kSettled && !late);
  if (beginning == Beginning::kWaits) link->SettlesIn(kSettleTime);  // from now on
  if (joined.ok()) return;
  if (ipc::IsEnding(process.pid, kEndPatience))
    ++missed_;
  else
    summary_.notes.push_back(
        fmt::format("process {} runs unrecorded: {}", process.pid, joined.error().message));
}

void Recorder::KeepPort() {
  const Status kept = launch_->server().KeepPath();
  if (!kept.ok() && !port_lost_ && !over_)
    summary_.notes.push_back(fmt::format(
        "the port that programs dial was removed, and programs that start now are not recorded: {}",
        kept.error().message));
  port_lost_ = !kept.ok();
}

void Recorder::Wait(std::chrono::milliseconds timeout) {
  std::vector<pollfd> fds = {{signals_->fd(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
  if (launch_) {
    KeepPort();
    fds[1].fd = launch_->server().fd();
    if (!launch_->ExitCode()) fds[2].fd = launch_->exit_fd();
  }
  // A closed engine has no ticks to wait for.
  if (closed_)
    (void)::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  else
    engine_->Wait(timeout, fds);
  if (fds[0].revents != 0) OnSignals();
  if (fds[1].revents != 0) AcceptRuntimes();
  JoinSettled();
  if (!waiting_.empty() && SteadyClock::now() >= next_release_)
    ReleaseWaiting(kReleasePatienceAgain);
}

void Recorder::OnSignals() {
  signals_->ForEach([this](int signal) {
    switch (signal) {
      case SIGINT:
        ++stop_requests_;
        break;  // the terminal sends it to the program too
      case SIGTERM:
      case SIGHUP:
        ++stop_requests_;
        if (launch_) launch_->Signal(signal);
        break;
      case SIGTSTP:
        suspended_ = true;
        break;
      default:
        break;
    }
  });
}

bool Recorder::KeepWaiting() {
  OnSignals();
  if (launch_) AcceptRuntimes();
  output_->CommitIfLarge(engine_->clock().now_ns());
  return stop_requests_ < 2;
}

void Recorder::Suspend() {
  // A stopped clrscope drains nothing, and a target whose session nobody drains cannot exit: so the
  // sessions end first.
  suspended_ = false;
  (void)engine_->StopAll(kPausePatience, [] { return true; });
  output_->OnTick(engine_->clock().now_ns());
  summary_.notes.emplace_back(
      "recording was suspended (Ctrl-Z): nothing was recorded while clrscope was stopped");
  ::raise(SIGSTOP);
  for (const std::string& note : engine_->ReopenAll()) summary_.notes.push_back(note);
}

bool Recorder::Over(SteadyClock::time_point now) {
  if (stop_requests_ > 0 || output_->error()) return true;
  if (options_.duration && now - start_ >= *options_.duration) return true;
  if (options_.all) return false;
  if (!launch_) return !engine_->any_recording();
  if (!launch_->ExitCode()) return false;
  if (!command_ended_) {
    command_ended_ = now;
    next_look_ = std::chrono::floor<std::chrono::seconds>(now - start_) + kLookAfterEnd;
  }
  const bool late = now - *command_ended_ >= kLeftPatience;
  if (late && !options_.wait_all) {
    unwaited_ = StillRecorded();
    return true;
  }
  if (!engine_->any_recording() && !AnyoneLeft(now)) return true;
  if (late) SayWhoIsWaitedFor();
  return false;
}

// Once of recorded ones, and once of others, when these are all that is left.
void Recorder::SayWhoIsWaitedFor() {
  const std::vector<Named> recorded = StillRecorded();
  if (recorded.empty() && left_.empty()) return;
  bool& told = recorded.empty() ? others_told_ : recorded_told_;
  if (std::exchange(told, true)) return;
  options_.on_note(
      fmt::format("the command has ended; the recording goes on until these have, too: {}",
                  recorded.empty() ? NamePids(left_) : NameEach(recorded)));
}

// Whether anything runs that the command has started, .NET or not. Each look for further ones reads
// a file of every process.
bool Recorder::AnyoneLeft(SteadyClock::time_point now) {
  if (nobody_ < kLooksForNobody && now >= next_left_) {
    const std::string& port = launch_->server().path();
    std::erase_if(left_, [&port](pid_t pid) { return !MayInherit(pid, port); });
    if (left_.empty()) left_ = Inheritors(port);
    nobody_ = left_.empty() ? nobody_ + 1 : 0;
    if (!left_.empty()) next_left_ = now + kLeftEvery;
  }
  // A process whose environment cannot be read may have dialled.
  return nobody_ < kLooksForNobody ||
         std::any_of(settling_.begin(), settling_.end(), [](const auto& settling) {
           return settling.second.pid == 0 || !ipc::IsEnding(settling.second.pid, 0ms);
         });
}

std::vector<Recorder::Named> Recorder::StillRecorded() const {
  std::vector<Named> names;
  for (const auto& target : engine_->targets())
    if (!target->ended())
      names.emplace_back(engine_->recording().strings.Get(target->tables().info.name),
                         target->process().pid);
  return names;
}

// Each look reads a file of every process.
void Recorder::LookForUnheard(SteadyClock::time_point now) {
  if (!unheard_.empty() || now - start_ < next_look_) return;
  next_look_ *= 2;
  if (!launch_->server().Runtimes().empty()) return;
  // Its number may be another's by now.
  const pid_t program = launch_->ExitCode() ? 0 : launch_->pid();
  unheard_ = WhyUnheard(program, launch_->server().path());
  if (!unheard_.empty()) options_.on_note(unheard_);
}

Error Recorder::WhyNothing() const {
  const std::string& program = options_.command.front();
  if (!launch_->server().Runtimes().empty())
    return {ErrorCode::kEmpty, "nothing was recorded: no .NET process could be joined"};
  const auto because = [](const std::string& why) {
    return Error{
        ErrorCode::kRefused,
        fmt::format("nothing was recorded, as no .NET runtime connected to clrscope: {}", why)};
  };
  if (!unheard_.empty()) return because(unheard_);
  const std::string off =
      off_by_.empty() ? std::string() : fmt::format("{} stands in the environment", off_by_);
  if (IsDotnetHost(program)) {
    if (!off.empty()) return because(off);
    return {
        ErrorCode::kEmpty,
        launch_->ExitCode()
            ? fmt::format("nothing was recorded: {} ended before a .NET runtime of it had started",
                          program)
            : fmt::format("nothing was recorded: no .NET runtime of {} had started", program)};
  }
  if (ipc::KindOfExecutable(FindProgram(program)) == ipc::RuntimeKind::kNativeAot)
    return because(
        fmt::format("{} was compiled with NativeAOT, and connects only if it was published with "
                    "<EventSourceSupport>true</EventSourceSupport>{}",
                    program, off.empty() ? "" : "; " + off));
  return {
      ErrorCode::kEmpty,
      fmt::format("nothing was recorded, as no .NET runtime connected to clrscope: {} is no .NET "
                  "program, or "
                  "starts one where clrscope's port does not reach (env -i, sudo, a container); "
                  "`clrscope record -p PID` records such a one while it runs{}{}",
                  program, off.empty() ? "" : "; " + off,
                  left_.empty() || options_.wait_all
                      ? ""
                      : fmt::format("; {} of it had not ended, for which --wait-all waits",
                                    NamePids(left_)))};
}

Result<RecordSummary> Recorder::Run(const std::function<void(const Progress&)>& on_progress) {
  auto next_progress = start_ + kProgressEvery;
  bool silence_told = false;
  // Each time costs a switch or two; what comes wakes it up.
  const auto idle = options_.target.max_overhead > 0 && !launch_ ? 100ms : 50ms;
  for (auto now = SteadyClock::now(); !Over(now); now = SteadyClock::now()) {
    if (suspended_) Suspend();
    const bool more = engine_->Work();
    output_->CommitIfLarge(engine_->clock().now_ns());
    Wait(more ? 0ms : idle);
    if (now >= next_progress) {
      on_progress(Snapshot(false));
      next_progress = now + kProgressEvery;
    }
    if (launch_ && summary_.processes == 0) LookForUnheard(now);
    if (launch_ && summary_.processes == 0 && unheard_.empty() && now - start_ > kRuntimePatience &&
        !silence_told) {
      options_.on_note("no .NET runtime has started in 30 s: is this a .NET program?");
      silence_told = true;
    }
  }
  over_ = true;
  on_progress(Snapshot(true));
  const auto keep_waiting = [this] { return KeepWaiting(); };
  engine_->StopFeeds(kRunDownPatience, keep_waiting);
  (void)engine_->StopAll(kRunDownPatience, keep_waiting);
  if (stop_requests_ < 2) engine_->RunDownWhatIsUnnamed(kRunDownPatience, keep_waiting);
  summary_.interrupted_twice = stop_requests_ > 1;
  if (keeper_) {
    keeper_->Finish();
    summary_.kept = keeper_->Paths();
  }
  engine_->Close();
  closed_ = true;
  std::erase_if(unwaited_, [](const Named& p) { return ipc::IsEnding(p.second, 0ms); });
  summary_.left = NameEach(unwaited_);
  NoteSkipped();
  summary_.samples = engine_->counts().samples;
  summary_.happenings = engine_->counts().happenings;
  summary_.duration_ns = engine_->end_ns();
  for (const auto& p : engine_->recording().processes) summary_.overhead += p->info.overhead;
  output_->Finish(summary_.duration_ns);
  summary_.write_error = output_->error();
  if (launch_ && summary_.processes == 0) summary_.nothing = WhyNothing();
  if (launch_ && !launch_->ExitCode() && options_.on_waiting) {
    if (summary_.nothing) options_.on_note(summary_.nothing->message);
    options_.on_waiting(!summary_.nothing);
  }
  // The program goes on without us: its later children are let go, its exit code is ours.
  while (launch_ && !launch_->ExitCode() && stop_requests_ < 2) Wait(200ms);
  if (launch_) summary_.exit_code = launch_->ExitCode();
  return summary_;
}

Progress Recorder::Snapshot(bool stopping) const {
  const EngineCounts counts = engine_->counts();
  Progress p;
  p.elapsed = SteadyClock::now() - start_;
  p.stopping = stopping;
  p.bytes = output_->bytes();
  p.recording = counts.recording;
  p.ended = counts.ended;
  p.events = counts.events;
  p.happenings = counts.happenings;
  p.samples = counts.samples;
  p.dropped = counts.dropped;
  p.gcs = counts.gcs;
  return p;
}

}  // namespace clrscope::capture
