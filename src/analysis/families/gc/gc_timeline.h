// SPDX-License-Identifier: Apache-2.0
// Puts the GC events of one process together: one record per collection, with its pauses.
//
// How the runtime orders them (dotnet/runtime src/coreclr/gc/gc.cpp, vm/threadsuspend.cpp):
// - Blocking: SuspendEEBegin, SuspendEEEnd, GCStart, histories, GCEnd, GCHeapStats, RestartEEEnd.
// - Background: the same until GCStart, then RestartEEEnd; later a second suspension (reason 6) of
//   the background thread; in the end GCEnd and GCHeapStats, histories before them (workstation) or
//   after them (server). Foreground GCs, with suspensions of their own, run in between.
// - An ephemeral GC may run first in the suspension of a background one, and a full GC after the
//   gen1 GC that called for it (provisional mode): both without a suspension of their own.
// - A GC that TryStartNoGCRegion begins with, where it needs none: a suspension alone. It has a
//   number all the same (update_collection_counts_for_no_gc).
// - Suspension begin, end and restart come from one thread; GCStart of server GC from any.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/families/gc/collecting_threads.h"
#include "analysis/families/gc/gc_allocations.h"
#include "analysis/families/gc/pause_log.h"
#include "base/flat_map.h"
#include "base/loss.h"
#include "base/string_pool.h"
#include "clr/raw_event.h"
#include "profile/gc/gc_records.h"

namespace clrscope::analysis {

class GcTimeline {
 public:
  // Everything must outlive this. Records go to `out` when nothing more can be added to them: a
  // background GC after the foreground ones inside of it. `process` is noted in each.
  GcTimeline(StringPool* strings, profile::GcRecords* out, profile::GcFacts* facts,
             LossCounters* losses, uint32_t process);

  // An event of the GC's family at `now_ns`; others are ignored. `node`: of a GCTriggered's stack.
  void OnEvent(const clr::RawEvent& event, int64_t now_ns, uint32_t node = 0);
  // One of the many: a kind of roots is marked.
  void OnMark(const clr::RawEvent& event, int64_t now_ns);
  // An AllocationTick; `kind`: 0 SOH, 1 LOH, 2 POH.
  void OnTick(uint32_t kind, uint64_t bytes);
  // A sample of an allocation, AllocationTick's too, and the bytes that it stands for.
  void OnSample(uint32_t series, uint32_t type, uint32_t node, double bytes) {
    allocations_.Add(series, type, node, bytes);
  }
  // Events were lost between two times.
  void OnGap(int64_t after_ns, int64_t before_ns);
  // Nothing more comes: hands out what is open, incomplete, and sorts `out` by time.
  void Finish();
  // How many heaps the last collection used; 0: not known.
  int32_t heaps() const { return heaps_; }
  // Pauses are noted there, too; it must outlive this.
  void LogPauses(PauseLog* log) { pause_log_ = log; }
  // The same of threads.
  void LogThreads(CollectingThreads* log) { thread_log_ = log; }

 private:
  struct Suspension {
    uint64_t thread = 0;
    uint32_t reason = 0;
    int64_t begin_ns = -1, end_ns = -1;
    uint64_t gc = 0;  // serial of the last GC that started in it; 0 = none
  };
  struct HeapMarks {
    uint32_t heap = 0;
    int64_t last_ns = -1;
    std::array<int64_t, profile::kGcRootKinds> kind_ns{};
  };
  struct OpenGc {
    profile::GcRecord record;
    uint64_t serial = 0;
    int64_t pause_from_ns = -1;  // of the pause that lasts; -1 = it runs beside the program
    std::vector<HeapMarks> marks;
    std::unique_ptr<FlatMap> pinned;  // addresses of pinned objects

    bool ended() const { return record.end_ns >= 0; }
    bool background() const { return record.ran_in_background(); }
  };

  void OnSuspendBegin(const clr::RawEvent& event, int64_t now_ns);
  void OnSuspendEnd(const clr::RawEvent& event, int64_t now_ns);
  void OnRestartEnd(const clr::RawEvent& event, int64_t now_ns);
  void OnStart(const clr::RawEvent& event, int64_t now_ns);
  void OnEnd(const clr::RawEvent& event, int64_t now_ns);
  void OnHeapStats(const clr::RawEvent& event, int64_t now_ns);
  void OnGlobalHistory(const clr::RawEvent& event);
  void OnPerHeapHistory(const clr::RawEvent& event);
  void OnDynamic(const clr::RawEvent& event);
  void OnPinned(const clr::RawEvent& event);
  void OnFinalizeObject(const clr::RawEvent& event);
  void OnSettings(const clr::RawEvent& event);

  Suspension* SuspensionOf(uint64_t thread);
  Suspension* GcSuspension();  // the one that a GC would start in
  OpenGc* Find(uint64_t serial);
  OpenGc* Background();  // that runs, or whose histories may still come
  // That the events of a collection belong to: mostly there is but one.
  OpenGc* Current() {
    if (open_.size() == 1 && !open_[0].ended()) return &open_[0];
    return CurrentOfMany();
  }
  OpenGc* CurrentOfMany();
  void NotePause(int64_t begin_ns, int64_t end_ns);
  void SetAside(const Suspension* suspension, bool background);
  void CloseSuspension(uint64_t thread, int64_t now_ns);
  void Emit(size_t index);
  void EmitIfSettled(uint64_t serial);
  bool TouchedByGap(const profile::GcBrief& gc) const;
  bool LostBetween(int64_t from_ns, int64_t to_ns) const;
  void NoteNumbers(profile::GcRecord& r, bool beside_background);

  StringPool* strings_;
  profile::GcRecords* out_;
  profile::GcFacts* facts_;
  LossCounters* losses_;
  uint32_t process_;

  std::vector<Suspension> suspensions_;
  std::vector<OpenGc> open_;  // in order of their start
  // Memory of the GC that was handed out last, for the next one.
  std::vector<HeapMarks> spare_marks_;
  std::vector<profile::GcHeap> spare_heaps_;
  uint64_t last_serial_ = 0;
  uint32_t last_number_ = 0;
  int64_t last_start_ns_ = -1;
  uint32_t without_gc_ = 0;  // suspensions for a GC since then in which none began
  // Numbers that were taken for GCs that did not run; events may turn out to be lost there.
  struct Counted {
    int64_t from_ns, to_ns;
    uint32_t numbers, before;  // how many, and the number of the GC after them
  };
  std::deque<Counted> counted_;
  int64_t last_restart_ns_ = -1;
  PauseLog* pause_log_ = nullptr;
  CollectingThreads* thread_log_ = nullptr;
  uint64_t stats_for_ = 0;  // serial of the GC that ended last, until its GCHeapStats
  bool stats_orphaned_ = false;
  int32_t heaps_ = 0;
  uint64_t history_for_ = 0;  // serial of the GC that the last GCGlobalHeapHistory was of
  uint64_t history_thread_ = 0;
  struct {
    int64_t time_ns = -1;
    int32_t reason = -1;
    uint32_t node = 0;
  } trigger_;
  bool ticks_seen_ = false;
  std::array<int64_t, 3> ticked_{};
  GcAllocations allocations_;
  std::vector<std::pair<int64_t, int64_t>> gaps_;
  FlatMap pinned_types_, finalized_types_;
  std::string scratch_;
};

}  // namespace clrscope::analysis
