// SPDX-License-Identifier: Apache-2.0
// One recording from start to stop: who is recorded, time limits, signals, and the capture file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/agents/agent_feed.h"
#include "capture/agents/agent_place.h"
#include "capture/record/capture_output.h"
#include "capture/record/launch.h"
#include "capture/record/signals.h"
#include "capture/sessions/session_engine.h"

namespace clrscope::capture {

struct RecordOptions {
  // One of three: processes to attach to, a program to launch, or everyone.
  std::vector<ipc::DotnetProcess> processes;
  std::vector<std::string> command;
  bool all = false;
  // Of everyone; null = all of them.
  std::function<bool(const ipc::DotnetProcess&)> wanted;
  std::optional<std::chrono::nanoseconds> duration;
  // Record until all that the command started has ended, not only the command.
  bool wait_all = false;
  // Names the capture file, which must not exist. The pid is the launched program's, the first
  // process's, or our own.
  std::function<std::string(pid_t)> output;
  // Keep the raw streams as .nettrace files beside the capture. Not of everyone.
  bool keep_nettrace = false;
  bool replace = false;  // those that exist already
  TargetOptions target;
  // Load the agent: its options, without "owned"; not of everyone.
  std::optional<std::string> agent;
  // Called when the recording is over and the launched program goes on, which is waited for.
  // Whether anything was recorded; if not, a note says why before.
  std::function<void(bool recorded)> on_waiting;
  // A note that is of no use at the end.
  std::function<void(const std::string&)> on_note = [](const std::string&) {};
};

// What a progress display needs; valid during the call.
struct Progress {
  std::chrono::nanoseconds elapsed{0};
  size_t recording = 0, ended = 0;  // processes
  uint64_t events = 0, samples = 0, happenings = 0, dropped = 0, gcs = 0;
  double bytes = 0;  // estimated so far
  bool stopping = false;
};

struct RecordSummary {
  std::optional<int> exit_code;  // of the launched program
  bool interrupted_twice = false;
  std::optional<Error> write_error;  // the file ends at the last commit before it
  std::vector<std::string> notes;    // one sentence each, for people
  uint64_t samples = 0;              // of allocations
  uint64_t happenings = 0;           // throws and waits
  profile::Overhead overhead;        // of all processes together
  size_t processes = 0;
  // Recorded processes that went on after the command, and were not waited for; "" if there are
  // none.
  std::string left;
  std::optional<Error> nothing;  // why nothing was recorded of a program that was launched
  int64_t duration_ns = 0;
  std::vector<std::string> kept;  // files of raw streams
};

class Recorder final : private SessionObserver {
 public:
  // errors before anything was recorded: the output cannot be created, the program cannot be run, a
  // process cannot be attached to.
  static Result<std::unique_ptr<Recorder>> Start(RecordOptions options);

  // Records until the time is over, every target or the command has ended, or a signal asks to
  // stop.
  //   on_progress: called a few times per second
  Result<RecordSummary> Run(const std::function<void(const Progress&)>& on_progress);

  const profile::Recording& recording() const { return engine_->recording(); }
  const std::string& output() const { return output_->path(); }
  // Of a capture that went to standard output.
  size_t written_bytes() const { return output_->written_bytes(); }
  // What is to be said already; the summary does not repeat it.
  std::vector<std::string> TakeNotes() { return std::exchange(summary_.notes, {}); }

 private:
  using SteadyClock = std::chrono::steady_clock;
  using Named = std::pair<std::string, pid_t>;

  Recorder() = default;
  void OnJoined(const Target& target) override;
  void OnEnded(const Target& target) override;
  void OnNote(const Target&, const std::string& note) override { summary_.notes.push_back(note); }
  void OnSkipped(const ipc::DotnetProcess& process, const Error& error) override;

  void LetAgentAllowSamples(const ipc::DotnetProcess& process);
  void LimitAgent();
  Status CreateOutput(pid_t pid);
  Status Join(const ipc::DotnetProcess& process);
  void Follow(std::unique_ptr<AgentFeed> agent, uint32_t index);
  void AcceptRuntimes();
  void AddRuntime(const ipc::ReverseRuntime& runtime);
  enum class Beginning : uint8_t { kWaits, kGoesOn, kSettled };
  void JoinRuntime(const ipc::ReverseRuntime& runtime, Beginning beginning);
  void JoinSettled();
  void ReleaseWaiting(std::chrono::milliseconds patience);
  void KeepPort();
  void Wait(std::chrono::milliseconds timeout);
  void OnSignals();
  void Suspend();
  bool KeepWaiting();
  bool Over(SteadyClock::time_point now);
  void SayWhoIsWaitedFor();
  bool AnyoneLeft(SteadyClock::time_point now);
  std::vector<Named> StillRecorded() const;
  bool TakesEnvironment() const;
  Status CheckEnvironment();
  Status PlaceForLaunch(Launch::Variables& environment);
  void LookForUnheard(SteadyClock::time_point now);
  Error WhyNothing() const;
  void NoteSkipped();
  Progress Snapshot(bool stopping) const;

  RecordOptions options_;
  std::unique_ptr<CaptureOutput> output_;  // of the engine's recording
  std::unique_ptr<StreamKeeper> keeper_;
  std::unique_ptr<PlacedAgent> placed_agent_;  // for a program that is launched
  std::unique_ptr<Launch> launch_;
  std::unique_ptr<SessionEngine> engine_;
  std::unique_ptr<Signals> signals_;
  int stop_requests_ = 0;
  bool suspended_ = false;
  bool port_lost_ = false, release_failed_ = false;
  bool over_ = false;    // nobody is joined any more
  bool closed_ = false;  // the engine is
  SteadyClock::time_point start_;
  std::string off_by_;                 // what in our environment keeps runtimes from dialling
  std::string unheard_;                // why one that runs below the program has not
  std::chrono::seconds next_look_{1};  // for such a one, after the start
  std::optional<SteadyClock::time_point> command_ended_;
  std::vector<pid_t> left_;      // by the command, as AnyoneLeft() saw them last
  int nobody_ = 0;               // looks in a row that found none
  std::vector<Named> unwaited_;  // who was recorded when the command had ended for long enough
  SteadyClock::time_point next_left_;
  bool recorded_told_ = false, others_told_ = false;
  std::vector<ipc::ReverseRuntime> waiting_;  // at their start
  SteadyClock::time_point next_release_;
  // Of processes that have to settle: when they have.
  std::vector<std::pair<SteadyClock::time_point, ipc::ReverseRuntime>> settling_;
  size_t missed_ = 0;        // that ended before
  std::vector<pid_t> died_;  // without closing their sessions
  // By reason: processes that are not recorded.
  std::map<std::string, std::vector<pid_t>> skipped_;
  RecordSummary summary_;
};

}  // namespace clrscope::capture
