// SPDX-License-Identifier: Apache-2.0
// One process that is being recorded: its sessions, its fold, and how it ended.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/process_fold.h"
#include "capture/drain.h"
#include "capture/providers.h"
#include "capture/stream_decoder.h"
#include "capture/stream_keeper.h"
#include "ipc/client.h"
#include "ipc/dotnet_process.h"
#include "ipc/transport.h"

namespace clrscope::capture {

struct TargetOptions {
  Sampling sampling = Sampling::kAuto;
  uint32_t buffer_mb = 256;
  // Where raw streams are kept, for the main session with a rundown of its own at its stop; null:
  // nowhere. Outlives the target.
  StreamKeeper* keeper = nullptr;
  analysis::FoldOptions fold;
};

class Target {
 public:
  enum class State : uint8_t { kRecording, kStopping, kEnded };

  // `transport` leads to the runtime; recording and sink must outlive the target. `fresh`: the
  // runtime is suspended at its start, so there is nothing to run down yet.
  Target(ipc::DotnetProcess process, std::unique_ptr<ipc::Transport> transport,
         profile::Recording* recording, profile::SliceSink* sink, RecordingClock* clock,
         Drain* drain, const TargetOptions& options);
  ~Target();

  // Opens the sessions. For a process that runs already, the rundown of its code is under way when
  // this returns.
  Status Open(bool fresh);
  // Decodes what has arrived. Returns whether there was anything.
  bool Pump();
  // Asks the runtime to end the sessions; Pump() until state() is kEnded.
  void BeginStop();
  // A final short session for code that nothing has named yet. Only while the target lives.
  void BeginFinalRundown();
  // Gives up on an answer: closes the sockets, which ends the sessions with the target's next
  // event.
  void Abandon(std::string_view why);
  // Opens the sessions again after a stop (Ctrl-Z and fg).
  Status Reopen() { return Open(false); }

  State state() const { return state_; }
  bool rundown_pending() const;
  const ipc::DotnetProcess& process() const { return process_; }
  profile::ProcessTables& tables() { return *tables_; }
  analysis::ProcessFold& fold() { return *fold_; }
  profile::Source source() const { return source_; }
  uint64_t events() const;
  uint64_t samples() const { return tables_->source_samples[static_cast<size_t>(source_)]; }
  bool lost() const { return lost_; }  // it ended before it was asked to
  const std::vector<std::string>& notes() const { return notes_; }
  // Addresses that nothing has named yet.
  size_t UnresolvedAddresses() const;
  // Reads /proc/PID/maps for addresses outside of any method; harmless when the process is gone.
  void ReadMappings();
  // Everything is decoded (and the keeper has finished): closes the last slice and notes losses.
  // Call once.
  void Close();

 private:
  enum class Kind : uint8_t { kMain, kEntryPoints, kRundown };
  struct Live {
    uint64_t id = 0;
    Kind kind = Kind::kMain;
    std::shared_ptr<StreamRing> ring;
    std::unique_ptr<StreamDecoder> decoder;
  };

  Result<uint64_t> OpenSession(const ipc::SessionConfig& config, Kind kind);
  std::shared_ptr<StreamKeeper::File> Keep(Kind kind);
  void StopInBackground(std::vector<uint64_t> ids);
  void BeginRundown();
  void Settle();

  ipc::DotnetProcess process_;
  std::unique_ptr<ipc::Transport> transport_;
  ipc::Client client_;
  profile::Recording* recording_;
  RecordingClock* clock_;
  Drain* drain_;
  TargetOptions options_;
  profile::ProcessTables* tables_;  // owned by the recording
  std::unique_ptr<analysis::ProcessFold> fold_;
  profile::Source source_ = profile::Source::kTick;
  std::vector<Live> sessions_;
  std::vector<std::shared_ptr<StreamKeeper::File>> kept_;
  std::vector<std::thread> stoppers_;
  std::shared_ptr<std::atomic<int>> stops_running_ = std::make_shared<std::atomic<int>>(0);
  State state_ = State::kEnded;
  bool lost_ = false;
  bool cut_ = false;  // in the middle of its stream
  bool abandoned_ = false;
  uint64_t finished_events_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace clrscope::capture
