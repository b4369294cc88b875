// SPDX-License-Identifier: Apache-2.0
// The live core that recording, watching and every live view stand on. It finds processes as they
// start, joins them, decodes and folds what they send, and lets go of them when they end. One
// thread reads all sockets, one looks for processes, a few wait for runtimes' answers; everything
// that is seen here happens on the caller's thread, inside Work().
//
//   loop:  if (!engine->Work()) engine->Wait(50ms, fds);
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "capture/feeds/feed.h"
#include "capture/sessions/ipc_link.h"
#include "capture/sessions/process_source.h"
#include "capture/sessions/target.h"
#include "ipc/transport/transport.h"

namespace clrscope::capture {

class SessionEngine;

// For StopAll() before clrscope itself is stopped (Ctrl-Z).
inline constexpr std::chrono::milliseconds kPausePatience{3000};

// Takes part in what an engine does. Calls come inside Work(), StopAll(), Rotate() and Close().
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  // The process at this index of the engine's recording is there from now on.
  virtual void OnJoined(const Target&) {}
  // A slice of time (one second) of one process is over. Slices of one process come in order.
  virtual void OnSlice(const profile::Slice&) {}
  // It ended or was let go of, its last slice has come. Its tables are there until the next
  // OnTick() returns; afterwards only its name and its counters are.
  virtual void OnEnded(const Target&) {}
  // Once a second, after the slices of that second. `now_ns`: since the recording's start.
  virtual void OnTick(int64_t now_ns) { (void)now_ns; }
  // The owner of a nested type was found after the type was first seen.
  virtual void OnRenamed(const Target&, const RenamedType&) {}
  // Something that concerns its figures happened to a process; one sentence.
  virtual void OnNote(const Target&, const std::string&) {}
  // A process is not recorded, said once for each.
  virtual void OnSkipped(const ipc::DotnetProcess&, const Error&) {}
};

// What is counted since the engine was started, rotations and ended processes included.
struct EngineCounts {
  size_t recording = 0, ended = 0;  // processes
  size_t skipped = 0;               // cannot be recorded, see OnSkipped()
  size_t missed = 0;                // ended before they could be joined
  uint64_t events = 0, samples = 0, dropped = 0, gcs = 0;
  uint64_t happenings = 0;  // throws and waits
};

struct EngineOptions {
  TargetOptions target;
  // Join every process that appears; otherwise only those that are given to Join().
  bool discover = false;
  // Of those that appear, which ones are wanted; null = all. On any thread.
  std::function<bool(const ipc::DotnetProcess&)> wanted;
  // What is known of processes that have ended stays until the recording is over.
  bool keep_tables = false;
  // Time 0 is now; otherwise where the first stream begins.
  bool start_now = false;
  size_t max_workers = 8;
  // Processes in one recording; those that come later are skipped until the next one.
  size_t max_processes = 4000;
};

class SessionEngine {
 public:
  // Bytes of all sessions together that wait to be decoded.
  static constexpr size_t kPoolBytes = 64 << 20;

  // Of processes that come and go CPU time may lack, but not of all of them.
  // errors: of MaySampleHere(); the system refuses threads or descriptors
  static Result<std::unique_ptr<SessionEngine>> Start(EngineOptions options);
  // For tests: with other processes and another time.
  SessionEngine(EngineOptions options, const Clock* clock, std::unique_ptr<ProcessSource> source);
  // Closes what is still open.
  ~SessionEngine();

  // Must outlive the engine or be removed.
  void AddObserver(SessionObserver* observer) { observers_.push_back(observer); }

  // Raw streams of processes that are joined from now on go to `keeper` too, and none is let go
  // before Close(), which the keeper has to be finished for.
  void KeepStreams(StreamKeeper* keeper) { options_.target.keeper = keeper; }

  // Joins a process that is known; waits for its runtime.
  Status Join(const ipc::DotnetProcess& process);
  // The same through a way of its own. `fresh`: as for OpenTarget().
  Status Join(const ipc::DotnetProcess& process, std::shared_ptr<RuntimeLink> link, bool fresh);
  // What targets note is passed on within a second; this does it now.
  void PassNotes();
  // A link whose stream the engine's thread reads.
  std::shared_ptr<IpcLink> LinkThrough(std::unique_ptr<ipc::Transport> transport);

  // One more feed of the target at `index`, which ends with it. Not in an engine that rotates.
  void Add(uint32_t index, std::unique_ptr<Feed> feed) {
    feeds_.push_back({index, std::move(feed)});
  }

  // Decodes what has arrived, joins and releases processes, and ticks when a second is over.
  // Returns whether there may be more to do at once.
  bool Work();
  // Waits until there is something to do or one of `others` is ready.
  void Wait(std::chrono::milliseconds timeout, std::span<pollfd> others = {});

  // Ends what was added, and takes what comes last; before StopAll(), as the sessions name what it
  // tells. `keep_waiting`: as there. Whatever does not answer in time is abandoned.
  void StopFeeds(std::chrono::milliseconds patience, const std::function<bool()>& keep_waiting);
  // Ends all sessions and decodes what is left. `keep_waiting`: asked now and then, may say false.
  // Returns false when a process did not answer in time; its sockets are then closed.
  bool StopAll(std::chrono::milliseconds patience, const std::function<bool()>& keep_waiting);
  // After StopAll(): a last session for those with code that nothing has named.
  void RunDownWhatIsUnnamed(std::chrono::milliseconds patience,
                            const std::function<bool()>& keep_waiting);
  // After StopAll(): opens the sessions again. Returns a sentence for each that is lost.
  std::vector<std::string> ReopenAll();
  // The recording is over: every process ends, one last OnTick() comes.
  void Close();

  // Ends the recording so far and goes on in a new one, without touching a session: observers get
  // the last slices and a last OnTick() before this returns the old recording. Indexes of processes
  // change.
  std::unique_ptr<profile::Recording> Rotate();

  profile::Recording& recording() { return *recording_; }
  const RecordingClock& clock() const { return clock_; }
  // Time 0 is now, for a recording that has more sources than the streams.
  void StartClock() {
    if (!clock_.started()) clock_.Start();
    recording_->start_unix_ns = clock_.start_unix_ns();
  }
  const std::vector<std::unique_ptr<Target>>& targets() const { return targets_; }
  bool any_recording() const;
  // How far the recording goes: until now when time 0 was the engine's start, else up to the last
  // event.
  int64_t end_ns() const;
  EngineCounts counts() const;
  // Roughly, of the processes that live.
  size_t TableBytes() const;
  // Three quarters of the processes that a recording can hold have come.
  bool crowded() const { return recording_->processes.size() >= options_.max_processes * 3 / 4; }

 private:
  // A process that could not be joined for a reason that may pass.
  struct Retry {
    int64_t next_ns = 0, wait_ns = 0;  // on the machine's clock; next_ns = INT64_MAX while it runs
    bool told = false;
    bool ended = false;  // its session ended: most likely so did it
  };
  // What a worker found out about a process.
  struct Joined {
    ProcessKey key;
    ipc::DotnetProcess process;
    std::optional<Error> error;
    bool unwanted = false;
    std::chrono::milliseconds settles{0};  // it was not joined, and may be in that time
    OpenedTarget opened;
  };
  // A feed beside a target's sessions.
  struct Beside {
    uint32_t index = 0;  // of the target
    std::unique_ptr<Feed> feed;
  };
  class Fan;

  void BeginJoin(const ProcessKey& key);
  void TakeJoined();
  void Add(OpenedTarget opened);
  void OnFailure(const Joined& joined);
  void BeginRetries();
  bool full() const { return recording_->processes.size() >= options_.max_processes; }
  void Tick();
  void LetGo(Target& target);
  void PassNotes(Target& target);
  void ReleaseTables();
  bool PumpAll();
  void StopSome();
  bool PumpUntilEnded(std::chrono::milliseconds patience,
                      const std::function<bool()>& keep_waiting);
  void NameTheLast(std::chrono::milliseconds patience);
  Target::Home HomeNow();

  EngineOptions options_;
  const Clock* machine_clock_;
  RecordingClock clock_;
  std::unique_ptr<Drain> drain_;
  std::shared_ptr<RingPool> pool_;
  std::unique_ptr<ProcessSource> source_;
  std::unique_ptr<WorkerPool> workers_, rundowns_, storms_;
  std::unique_ptr<NameFinder> names_;
  std::shared_ptr<symbol_files::ModuleTypesCache> module_types_ =
      std::make_shared<symbol_files::ModuleTypesCache>();
  std::unique_ptr<profile::Recording> recording_;
  std::unique_ptr<Fan> fan_;
  std::vector<SessionObserver*> observers_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<Beside> feeds_;
  std::vector<uint32_t> released_;  // indexes whose tables go with the next tick
  std::map<ProcessKey, Retry> retries_;
  std::vector<ProcessKey> for_next_;  // the recording holds no more processes
  int64_t own_cpu_ns_ = 0;            // that targets know of
  int64_t next_tick_ns_ = 0, next_rest_ns_ = 0, next_give_back_ns_ = 0,
          next_stop_ns_ = 0;  // on the machine's clock
  bool give_back_ = true;     // much was freed, or used once, since memory was given back
  EngineCounts past_;         // of processes that were released
  bool joining_ = true;
  bool told_of_fallback_ = false;  // of samplers: once is enough

  Fd inbox_event_;
  std::mutex inbox_mutex_;
  std::vector<Joined> inbox_;  // guarded by inbox_mutex_
};

}  // namespace clrscope::capture
