// SPDX-License-Identifier: Apache-2.0
// One stay of the agent in a process, from its load to its detach: owns everything, and the thread
// on which all but the sampling and the writing of files happens.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "agent/async/async_types.h"
#include "agent/com/corprof.h"
#include "agent/control/control.h"
#include "agent/gc/gc_log.h"
#include "agent/gc/gc_threads.h"
#include "agent/host/allocation_sessions.h"
#include "agent/host/budget.h"
#include "agent/host/event_sessions.h"
#include "agent/host/heartbeat.h"
#include "agent/host/lookup.h"
#include "agent/host/options.h"
#include "agent/host/session_thread.h"
#include "agent/host/unload_desk.h"
#include "agent/host/waker.h"
#include "agent/samples/collector.h"
#include "agent/samples/generations.h"
#include "agent/samples/sampler.h"
#include "agent/samples/shard_totals.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_thread.h"
#include "agent/stacks/code_resolver.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/names.h"
#include "agent/stacks/seen_functions.h"
#include "agent/stacks/unnamed_code.h"
#include "base/byte_reader.h"
#include "clr/raw_event.h"

namespace clrscope::agent {

class Agent : public std::enable_shared_from_this<Agent>, private ControlHandler {
 public:
  // `info` is borrowed: the runtime keeps it while a profiler is loaded.
  Agent(ICorProfilerInfo* info, Options options, bool attached);
  ~Agent() override;

  // Sets the event mask and starts the agent's thread; at a start-up load, the session too.
  // errors: kRefused with what the runtime said
  Status Start();

  // The runtime's callbacks.
  void OnAttachComplete();
  // `activity`: of the calling thread; may be null.
  void OnEvent(uint32_t id, uint32_t version, Bytes payload, const Guid* activity, Registers from);
  void OnObjectAllocated(ObjectId object, ClassId type, Registers from);
  void OnModuleUnload(ModuleId module);
  void OnDynamicUnload(FunctionId function);
  void OnShutdown();
  void OnGcFinished() {
    phase_.Finished();
    gcs_finished_.fetch_add(1, std::memory_order_relaxed);
  }

  const Heartbeat& heartbeat() const { return heartbeat_; }

 private:
  static constexpr uint32_t kSlice = 64;   // frames that are looked up in one go
  static constexpr uint64_t kDeafGcs = 4;  // three budgets of the youngest generation, or more
  bool IsToldAgain(const GcNote& note);
  bool OnRareEvent(const clr::RawEvent& event, Registers from);  // false: it is another one
  void OnGcEvent(const clr::RawEvent& event);
  static void* ThreadMain(void* self);
  static void WakeThread(void* self);
  static void ReleaseHandle(void* self, uint64_t handle);
  Status SetMask(bool counting);
  void Run();
  void Wait();
  void Step(int64_t now_ns);
  void TendShards(int64_t now_ns);
  void TakeGcNotes();
  void Listen(uint64_t samples);
  void ResolveInSlices();
  bool ResolveFrames(uint32_t limit);  // true: all are
  bool ResolveFrame(uint32_t id);      // false: a thread is about to say more of it
  void ResolveUnnamed();
  void LookUpUnnamed(int64_t now_ns);
  int64_t lookup_due_ns() const;
  void ResolveType(uint32_t id);
  void RetireNativeFrames();
  bool Drain();              // false: a shard's owner was in it
  bool Empty(Shard& shard);  // of what its owner has written up to now; false: it is in it
  void ResetCode();
  bool Probe(uint64_t handle, int8_t* generation);
  void ScanHandles(int64_t now_ns);
  void Regrade();
  void DestroyGivenUpHandles();
  HResult SuspendProgram();
  void ResumeProgram();
  void RequestDetach() noexcept;
  void EndInterval(bool last);
  size_t MemoryBytes() const;
  void AddLosses(const ShardTotals& sums, profile::IntervalFrame& frame);
  void WriteSpool(const profile::IntervalFrame& frame);
  // A limit of what it may take: agent_budget.cc
  Status BeginAllocations(bool here);
  void StepBudget(int64_t now_ns);
  template <class Tell>
  void StepWindows(WindowSteps& steps, double cost_ns, std::atomic<uint64_t>& word, Tell&& tell);
  void RestartBudget();
  void TellBudget(profile::IntervalFrame& frame);
  bool in_windows() const;  // allocations are
  void HandOnTermSignal();
  bool LetGo();  // false: it stays, stopped
  void GiveUp() noexcept;
  void StopCounting();
  Status Pause();
  Status Resume();
  Status Change(std::string_view text);
  void TendSessions(uint64_t samples, uint64_t events, uint64_t gcs, int64_t now_ns);
  EventMeasures WantedEvents() const;
  uint32_t Measures() const;  // bits of profile::Measure
  // Waits that go on are counted up to now, and their ends are not told any more.
  void TellOpenWaits();
  int64_t Now() const;  // since the agent's start
  // Whoever attached the agent is to stay connected, and is not there yet.
  bool owner_is_missing() const { return options_.owned && !control_.has_subscriber(); }
  bool counts() const { return source_ == profile::Source::kCounted; }
  // By events, not by callbacks.
  bool samples() const { return options_.allocations && !counts(); }
  // What fails now, one sentence; "" = nothing.
  std::string Trouble() const;
  int64_t TroubleSince() const;
  // The program allocates, as its GCs show, and no event tells of it.
  bool is_deaf() const { return options_.allocations && allocating_gcs_ >= kDeafGcs; }

  // ControlHandler, on the agent's thread.
  std::string Command(std::string_view line) override;
  std::string StatusJson() const;
  void OwnerCame() override;
  void OwnerLeft() override;

  // Code or types are about to be unloaded.
  void AwaitUnload(const Unload& what);
  void ServeUnload();
  bool TakeUnloaded(const Unload& what);
  void RetireUnloadable();

  ICorProfilerInfo* info_;
  Options options_;
  const bool attached_;
  const bool tells_requests_;  // read on the program's threads
  int major_ = 0;
  std::string runtime_;
  profile::Source source_ = profile::Source::kSampled;
  int64_t start_ns_ = 0, start_unix_ns_ = 0;

  Waker waker_;
  LookupGate gate_;
  Heartbeat heartbeat_;
  Lookup lookup_;
  UnloadDesk desk_;
  SeenFunctions seen_dynamic_;
  CodeTable code_;
  std::unique_ptr<NativeMap> native_map_;
  CodeResolver resolver_;
  AsyncTypes async_types_;
  Names names_;
  Collector collector_;
  std::unique_ptr<profile::LiveSample> live_;
  std::unique_ptr<Sampler> sampler_;
  GcRing gc_ring_;
  GcPhase phase_;
  Generations generations_;
  GcHistory gcs_;
  GcThreads gc_threads_;
  std::vector<profile::GcPass> passes_;
  Control control_;
  SessionThread session_thread_;
  AllocationSessions session_;
  EventSessions event_sessions_;
  std::unique_ptr<Budget> budget_;    // null: there is no limit
  profile::IntervalWindows windows_;  // of allocations, since the start
  // Where two sessions tell of collections: the one that was told last.
  std::atomic<uint64_t> last_start_{~uint64_t{0}}, last_end_{~uint64_t{0}}, last_kind_{0};
  SpoolThread spool_;

  std::atomic<uint32_t> resolved_{kFirstFrame};  // frames below it were looked at
  std::vector<uint32_t> waiting_;                // … except for these, which threads walk over
  std::atomic<size_t> waiting_count_{0};
  UnnamedCode unnamed_;
  std::atomic<uintptr_t> own_thread_{0};  // ShardPool::ThisThread() of the agent's
  int64_t unnamed_since_ns_ = 0, next_suspension_ns_ = 0;
  uint64_t suspensions_ = 0, suspended_ns_ = 0;
  std::vector<uint32_t> dynamic_frames_, collectible_frames_, native_frames_;
  uint64_t retired_ = 0;
  uint64_t unloads_taken_ = 0, native_unloads_ = 0;
  uint64_t frames_dropped_ = 0;  // the subscriber did not read

  std::atomic<uint64_t> gcs_finished_{0};
  uint64_t gcs_seen_ = 0;
  // GCs that allocation caused since the last sample came.
  uint64_t allocating_gcs_ = 0, samples_heard_ = 0;
  std::atomic<bool> ready_{false};  // the runtime takes calls
  std::atomic<bool> sampling_{false};
  std::atomic<bool> takes_events_{false};  // exceptions and waits
  std::atomic<bool> paused_{false};        // until it is asked to go on
  std::atomic<bool> ending_{false};        // of the process
  std::atomic<bool> ended_{false};         // the thread has done its last work
  bool stop_ = false;                      // let go
  std::string failure_;                    // of the control socket, or of letting go
  SpoolNames spool_names_;

  int64_t interval_start_ns_ = 0, next_interval_ns_ = 0, last_drain_ns_ = 0, last_scan_ns_ = 0,
          last_tended_ns_ = 0;
  int64_t owner_deadline_ns_ = 0;
  uint64_t sequence_ = 0;
  profile::IntervalMeter meter_;  // of the open interval
  int64_t thread_cpu_ns_ = 0;
  ShardTotals at_start_, at_interval_;
  std::vector<uint64_t> lost_before_;
  uint64_t deaf_intervals_ = 0;
  int64_t deaf_since_ns_ = 0;
  std::atomic<uint64_t> unknown_events_{0};  // whose payload is not understood
};

}  // namespace clrscope::agent
