// SPDX-License-Identifier: Apache-2.0
// One process that is being recorded: its sessions, its fold, and how it ended.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/process_fold.h"
#include "capture/clock.h"
#include "capture/gc_threads.h"
#include "capture/providers.h"
#include "capture/runtime_link.h"
#include "capture/stream_decoder.h"
#include "capture/stream_keeper.h"
#include "capture/tick_watch.h"
#include "capture/worker_pool.h"
#include "ipc/dotnet_process.h"

namespace clrscope::capture {

struct TargetOptions {
  Sampling sampling = Sampling::kAuto;
  // An agent in the process tells what is allocated: no session samples.
  bool agent = false;
  profile::CountMode types = profile::CountMode::kUnknown;  // launched runtimes only
  uint32_t buffer_mb = 256;
  // Where raw streams are kept, for the main session with a rundown of its own at its stop; null:
  // nowhere. Outlives the target.
  StreamKeeper* keeper = nullptr;
  analysis::FoldOptions fold;
};

// The sessions of a process that has been asked for them and is not yet a target: what arrives
// waits in the rings. Streams that nobody takes over are dropped.
struct OpenedTarget {
  // kRundown and kSettings are stopped early, for what their stop brings.
  enum class Kind : uint8_t { kMain, kCounts, kEntryPoints, kRundown, kSettings };
  struct Stream {
    OpenedStream opened;
    Kind kind = Kind::kMain;
  };

  OpenedTarget() = default;
  OpenedTarget(OpenedTarget&&) = default;
  OpenedTarget& operator=(OpenedTarget&&) = default;
  ~OpenedTarget();

  ipc::DotnetProcess process;
  std::shared_ptr<RuntimeLink> link;
  profile::Source source = profile::Source::kTick;
  std::vector<Stream> streams;
  std::vector<std::string> notes;
  bool rundown_failed = false;
  bool fresh = false;
};

// Opens the sessions; waits for the runtime, and may run on any thread. `fresh`: the runtime is
// suspended at its start, so there is nothing to run down yet.
Result<OpenedTarget> OpenTarget(const ipc::DotnetProcess& process,
                                std::shared_ptr<RuntimeLink> link, const TargetOptions& options,
                                bool fresh);

class Target {
 public:
  enum class State : uint8_t { kRecording, kStopping, kEnded };

  // Everything must outlive the target.
  struct Home {
    profile::Recording* recording;
    profile::SliceSink* sink;
    RecordingClock* clock;
    WorkerPool* workers;                      // for calls that wait for a runtime
    WorkerPool* rundowns;                     // for those that make it name all of its code
    std::shared_ptr<const RingPool> waiting;  // what is not decoded yet; null: nothing ever
  };
  Target(OpenedTarget opened, const Home& home, const TargetOptions& options);

  // Decodes what has arrived, of one process only so much at a time that others get their turn.
  // Returns whether there was anything.
  bool Pump();
  // Asks the runtime to end the sessions; Pump() until state() is kEnded.
  void BeginStop();
  // A final short session for code that nothing has named yet; Pump() until state() is kEnded. Only
  // while the target lives.
  void BeginFinalRundown();
  // Gives up on an answer: closes the sockets, which ends the sessions with the target's next
  // event.
  void Abandon(std::string_view why);
  // Opens the sessions again after a stop (Ctrl-Z and fg).
  Status Reopen();
  // Some times a second: keeps no more of the streams than is needed.
  void Rest();
  // Once a second: time passes without events, losses so far are noted, and ticks that another
  // tool's session has silenced are asked for again.
  void Tick(int64_t now_ns);
  // Goes on in another recording, which begins `shift_ns` after the one so far. What is known of
  // code and types goes with it; stacks and series begin anew.
  void MoveTo(const Home& home, int64_t shift_ns);

  State state() const { return state_; }
  bool rundown_pending() const;
  // Whether one has ended since the last call.
  bool TakeRundownEnded() { return std::exchange(rundown_ended_, false); }
  const ipc::DotnetProcess& process() const { return process_; }
  // Of its tables in the recording.
  uint32_t index() const { return index_; }
  profile::ProcessTables& tables() { return *tables_; }
  const profile::ProcessTables& tables() const { return *tables_; }
  analysis::ProcessFold& fold() { return *fold_; }
  profile::Source source() const { return source_; }
  // Since the process was joined, rotations included.
  uint64_t events() const;
  uint64_t samples() const {
    return earlier_.samples + tables_->source_samples[static_cast<size_t>(source_)];
  }
  uint64_t gcs() const { return earlier_.gcs + tables_->info.gc.started; }
  uint64_t allocation_gcs() const {
    return earlier_.allocation_gcs + tables_->info.gc.caused_by_allocation;
  }
  uint64_t dropped() const { return earlier_.dropped + tables_->losses[Loss::kEventsDropped]; }
  bool lost() const { return lost_; }        // it ended before it was asked to
  bool cut_off() const { return cut_off_; }  // … and without closing its session
  bool abandoned() const { return abandoned_; }
  // Sentences for people that came up since the last call.
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }
  // Roughly.
  size_t TableBytes() const;
  // Addresses that nothing has named yet.
  size_t UnresolvedAddresses() const;
  // Reads /proc/PID/maps for addresses outside of any method; Tick() does so less and less often.
  // Harmless when the process is gone.
  void ReadMappings();
  // Everything is decoded (and the keeper has finished): closes the last slice and notes losses.
  // Call once.
  void Close();

 private:
  using Kind = OpenedTarget::Kind;
  struct Live {
    uint64_t id = 0;
    Kind kind = Kind::kMain;
    std::shared_ptr<StreamRing> ring;
    std::unique_ptr<StreamDecoder> decoder;
    LossCounters noted;  // of the decoder's losses
  };
  struct Totals {
    uint64_t samples = 0, gcs = 0, dropped = 0, allocation_gcs = 0;
  };

  void MakeTables();
  void Take(OpenedTarget opened);
  void TakeCounts(const OpenedTarget& opened);
  void TakeRundowns();
  void AddSession(OpenedStream opened, Kind kind);
  std::shared_ptr<StreamKeeper::File> Keep(Kind kind);
  template <class Work>
  void InBackground(WorkerPool& pool, Work work);
  void StopInBackground(std::vector<uint64_t> ids);
  void RunDownInBackground(std::vector<uint64_t> ids);
  void NoteLosses(Live& live);
  void Settle();
  void WatchTicks(int64_t now_ns);
  void RepairTicks();

  ipc::DotnetProcess process_;
  std::shared_ptr<RuntimeLink> link_;
  Home home_;
  TargetOptions options_;
  uint32_t index_ = 0;
  profile::ProcessTables* tables_ = nullptr;  // owned by the recording
  std::unique_ptr<analysis::ProcessFold> fold_;
  profile::Source source_ = profile::Source::kTick;
  std::vector<Live> sessions_;
  std::vector<std::shared_ptr<StreamKeeper::File>> kept_;
  TickWatch tick_watch_;
  GcThreads gc_threads_;
  // Shared with the worker threads, which may outlive the target.
  struct Background {
    std::atomic<int> stops{0};  // calls that end sessions
    std::atomic<bool> repairing{false};
    std::mutex mutex;
    std::vector<Result<OpenedStream>> rundowns;  // guarded by mutex
  };
  std::shared_ptr<Background> background_ = std::make_shared<Background>();
  State state_ = State::kEnded;
  bool lost_ = false, cut_off_ = false;
  bool abandoned_ = false;
  bool rundown_ended_ = false;
  uint64_t finished_events_ = 0;
  std::optional<uint64_t> settings_;  // the session that is to be stopped once the GC is there
  Totals earlier_;                    // in recordings before this one
  int64_t mappings_every_ns_ = 200'000'000, next_mappings_ns_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace clrscope::capture
