// SPDX-License-Identifier: Apache-2.0
// One recording from start to stop: targets, time limits, signals, and the capture file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/launch.h"
#include "capture/target.h"
#include "store/capture_writer.h"

namespace clrscope::capture {

struct RecordOptions {
  std::vector<ipc::DotnetProcess> processes;  // to attach to
  std::vector<std::string> command;           // or to launch
  std::optional<std::chrono::nanoseconds> duration;
  // Names the capture file, which must not exist. The pid is the launched program's, or the first
  // process's.
  std::function<std::string(pid_t)> output;
  // Keep the raw streams as .nettrace files beside the capture.
  bool keep_nettrace = false;
  bool replace = false;  // those that exist already
  TargetOptions target;
};

// What a progress display needs; valid during the call.
struct Progress {
  std::chrono::nanoseconds elapsed{0};
  size_t recording = 0, ended = 0;  // processes
  uint64_t events = 0, samples = 0, dropped = 0, gcs = 0;
  double bytes = 0;  // estimated so far
  bool stopping = false;
};

struct RecordSummary {
  std::optional<int> exit_code;  // of the launched program
  bool interrupted_twice = false;
  std::optional<Error> write_error;  // the file ends at the last commit before it
  std::vector<std::string> notes;    // one sentence each, for people
  uint64_t samples = 0;
  int64_t duration_ns = 0;
  std::vector<std::string> kept;  // files of raw streams
};

class Recorder {
 public:
  // errors before anything was recorded: the output cannot be created, the program cannot be run, a
  // process cannot be attached to.
  static Result<std::unique_ptr<Recorder>> Start(RecordOptions options);
  ~Recorder();

  // Records until the time is over, every target has ended, or a signal asks to stop.
  //   on_progress: called a few times per second
  Result<RecordSummary> Run(const std::function<void(const Progress&)>& on_progress);

  const profile::Recording& recording() const { return recording_; }
  const std::string& output() const { return output_; }

 private:
  // Adds up what was recorded, for the progress display, and passes slices on.
  class Tally final : public profile::SliceSink {
   public:
    explicit Tally(Recorder* recorder) : recorder_(recorder) {}
    void OnSlice(profile::Slice&& slice) override;
    double bytes = 0;

   private:
    Recorder* recorder_;
  };
  using Clock = std::chrono::steady_clock;

  Recorder() = default;
  Status Attach(const ipc::DotnetProcess& process);
  void AcceptRuntimes();
  void AddRuntime(const ipc::ReverseRuntime& runtime);
  bool PumpAll();
  void WaitForWork(int timeout_ms);
  void OnSignals();
  void Suspend();
  // Ends all sessions and decodes what is left; false when a target did not answer in time.
  bool StopAll(std::chrono::milliseconds patience);
  void RunDownWhatIsUnnamed();
  void Commit(bool force);
  void MaybeReadMappings(Clock::time_point now);
  Progress Snapshot(bool stopping) const;
  bool AnyRecording() const;
  int64_t EndNs() const;

  Status CreateOutput(pid_t pid);

  RecordOptions options_;
  std::string output_;
  profile::Recording recording_;
  RecordingClock clock_;
  std::unique_ptr<store::CaptureWriter> writer_;
  std::unique_ptr<Tally> tally_;
  std::unique_ptr<StreamKeeper> keeper_;
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<Launch> launch_;
  std::vector<std::unique_ptr<Target>> targets_;
  Fd signals_;
  int stop_requests_ = 0;
  bool suspended_ = false;
  Clock::time_point start_, next_commit_, next_mappings_;
  std::chrono::milliseconds mappings_every_{200};
  RecordSummary summary_;
};

}  // namespace clrscope::capture
