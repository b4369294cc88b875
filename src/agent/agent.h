// SPDX-License-Identifier: Apache-2.0
// One stay of the agent in a process, from its load to its detach: owns everything, and the one
// thread on which all but the sampling happens.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "agent/code_resolver.h"
#include "agent/code_table.h"
#include "agent/collector.h"
#include "agent/com/corprof.h"
#include "agent/control.h"
#include "agent/gc_log.h"
#include "agent/gc_threads.h"
#include "agent/generations.h"
#include "agent/names.h"
#include "agent/options.h"
#include "agent/sampler.h"
#include "agent/shard_totals.h"
#include "agent/silence.h"
#include "agent/spool.h"
#include "agent/waker.h"
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
  void OnEvent(uint32_t id, uint32_t version, Bytes payload, Registers from);
  void OnObjectAllocated(ObjectId object, ClassId type, Registers from);
  void OnModuleUnload(ModuleId module);
  void OnDynamicUnload(FunctionId function);
  void OnShutdown();
  void OnGcFinished() { phase_.Finished(); }

 private:
  static constexpr uint32_t kSlice = 64;  // frames that are looked up in one go
  void OnGcEvent(const clr::RawEvent& event);
  static void* ThreadMain(void* self);
  static void WakeThread(void* self);
  static void ReleaseHandle(void* self, uint64_t handle);
  Status StartSession();
  void StopSession();
  Status Pause();
  Status Resume();
  void Run();
  void Step(int64_t now_ns);
  void TakeGcNotes();
  void ResolveInSlices();
  bool ResolveFrames(uint32_t limit);  // true: all are
  bool Drain();                        // false: a shard's owner was in it
  void ResetCode();
  bool Probe(uint64_t handle, int8_t* generation);
  void ScanHandles(int64_t now_ns);
  void Regrade();
  void EndInterval(bool last);
  void WriteSpool(const profile::IntervalFrame& frame);
  void LetGo();
  int64_t Now() const;  // since the agent's start
  // Whoever attached the agent is to stay connected, and is not there yet.
  bool owner_is_missing() const { return options_.owned && !control_.has_subscriber(); }

  // ControlHandler, on the agent's thread.
  std::string Command(std::string_view line) override;
  std::string StatusJson() const;
  void OwnerCame() override;
  void OwnerLeft() override;

  // Code or types are about to be unloaded; said on a thread of the runtime's, done on the agent's.
  struct Unload {
    bool dynamic = false;
    uintptr_t id = 0;  // FunctionId of a dynamic method, else ModuleId
  };
  enum class UnloadState : uint8_t { kNone, kAsked, kAbandoned, kDone };
  void AwaitUnload(const Unload& what);
  void ServeUnload();
  std::atomic<bool> unload_taken_{false}, unload_missed_{false};
  std::atomic<UnloadState> unload_state_{UnloadState::kNone};
  Unload unload_;
  // Dynamic methods that were looked up; may say yes for others.
  struct SeenSet {
    std::atomic<uint64_t> bits[1024] = {};
    static size_t Hash(uintptr_t id) { return (id * 0x9E3779B97F4A7C15u) >> 48; }
    void Add(uintptr_t id) { bits[Hash(id) / 64].fetch_or(uint64_t{1} << Hash(id) % 64); }
    bool Maybe(uintptr_t id) const {
      return (bits[Hash(id) / 64].load() >> Hash(id) % 64 & 1) != 0;
    }
  };
  SeenSet seen_dynamic_;

  ICorProfilerInfo* info_;
  Options options_;
  const bool attached_;
  int major_ = 0;
  std::string runtime_;
  profile::Source source_ = profile::Source::kSampled;
  int64_t start_ns_ = 0, start_unix_ns_ = 0;

  Waker waker_;
  CodeTable code_;
  std::unique_ptr<NativeMap> native_map_;
  CodeResolver resolver_;
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

  std::atomic<uint32_t> resolved_{kFirstFrame};  // frames below it were looked at
  std::vector<uint32_t> waiting_;                // … except for these, which were being written
  std::vector<uint32_t> dynamic_frames_, collectible_frames_;
  uint64_t retired_ = 0;
  uint64_t frames_dropped_ = 0;  // the subscriber did not read

  EventPipeSession session_ = 0;
  Silence silence_;
  uint64_t gcs_seen_ = 0, sessions_again_ = 0;
  std::atomic<bool> ready_{false};  // the runtime takes calls
  std::atomic<bool> sampling_{false};
  std::atomic<bool> paused_{false};  // until it is asked to go on
  std::atomic<bool> ending_{false};  // of the process
  std::atomic<bool> ended_{false};   // the thread has done its last work
  bool stop_ = false;                // let go
  std::string failure_;
  SpoolNames spool_names_;
  uint64_t spooled_ = 0, spool_failed_ = 0;  // files

  int64_t interval_start_ns_ = 0, next_interval_ns_ = 0, last_drain_ns_ = 0, last_scan_ns_ = 0;
  int64_t owner_deadline_ns_ = 0;
  uint64_t sequence_ = 0;
  profile::IntervalMeter meter_;  // of the open interval
  int64_t thread_cpu_ns_ = 0;
  ShardTotals at_start_, at_interval_;
  std::vector<std::pair<std::string, uint64_t>> lost_before_;
  std::atomic<uint64_t> unknown_events_{0};  // whose payload is not understood
};

}  // namespace clrscope::agent
