// SPDX-License-Identifier: Apache-2.0
// Folds the events of one process into its tables and slices as they arrive; no event is kept.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/families/allocations/type_counter.h"
#include "analysis/families/code/code_fold.h"
#include "analysis/families/cpu/cpu_fold.h"
#include "analysis/families/exceptions/exception_messages.h"
#include "analysis/families/exceptions/exception_types.h"
#include "analysis/families/exceptions/storm_fold.h"
#include "analysis/families/gc/gc_timeline.h"
#include "analysis/families/locks/lock_holders.h"
#include "analysis/families/locks/wait_pairs.h"
#include "analysis/families/requests/request_fold.h"
#include "analysis/families/types/type_index.h"
#include "analysis/families/wall/thread_samples.h"
#include "analysis/families/wall/universal_fold.h"
#include "analysis/families/wall/wall_fold.h"
#include "analysis/families/windows/window_fold.h"
#include "base/string_pool.h"
#include "clr/raw_event.h"
#include "profile/tables/process_tables.h"
#include "profile/tables/slice.h"

namespace clrscope::analysis {

struct FoldOptions {
  int64_t slice_ns = 1'000'000'000;
  uint32_t max_nodes = profile::StackTree::kDefaultMaxNodes;
  uint32_t max_series = profile::SeriesTable::kDefaultMax;
  profile::CountMode count_mode = profile::CountMode::kUnknown;  // what the runtime was asked for
  bool messages = false;                                         // of exceptions are kept
  bool requests = false;  // are asked for: a histogram is to tell their routes
  bool lines = false;     // maps of code to IL are kept
  bool gc_marks = true;   // how long marking took and what it found, by kind of root
};

class ProcessFold {
 public:
  // Everything must outlive the fold. `index`: of the process in its recording.
  ProcessFold(StringPool* strings, profile::ProcessTables* tables, uint32_t index,
              profile::SliceSink* sink, const FoldOptions& options);

  // `offset_ns` is added to the event's time: streams of one recording start at different times.
  void OnEvent(const clr::RawEvent& event, int64_t offset_ns = 0);
  // Whether it makes anything of such events but to note their time.
  static bool Uses(const clr::EventKind& kind, const FoldOptions& options) {
    switch (kind.tag) {
      case clr::EventTag::kUnknown:
      case clr::EventTag::kGcRestartEeBegin:
      case clr::EventTag::kUniversalExit:
        return false;
      case clr::EventTag::kGcMarkWithType:
        return options.gc_marks;
      case clr::EventTag::kIlToNativeMap:
        return options.lines;
      default:
        return true;
    }
  }
  void NoteTime(int64_t time_ns);
  // Time passes without events: closes the slice when it is over.
  void Advance(int64_t now_ns);
  // Closes the open slice.
  void Flush();
  // Nothing more comes; what waits until now goes on waiting. `goes_on`: in another recording.
  void Finish(bool goes_on = false);
  // Events were lost between two times.
  void OnGap(int64_t after_ns, int64_t before_ns) { gcs_.OnGap(after_ns, before_ns); }

  // Whose names may lack their owners. Whoever finds these out tells it.
  const TypeIndex& types() const { return types_; }
  void SetOwners(std::span<const TypeIndex::Owner> owners) {
    types_.SetOwners(owners, *strings_, *tables_);
  }

  // What was mapped there is gone: the same addresses mean something else from now on.
  void Retire(uint64_t start, uint64_t size) {
    if (tables_->stacks.Retire(start, size)) OutdateMemos();
  }

  // Goes on in another recording, with later times; after Finish(). The new tables get the types
  // that are named; `old` may go away afterwards.
  void MoveTo(const profile::ProcessTables& old, const StringPool& old_strings, StringPool* strings,
              profile::ProcessTables* tables, uint32_t index, profile::SliceSink* sink);

  profile::ProcessTables& tables() { return *tables_; }
  const profile::ProcessTables& tables() const { return *tables_; }
  int64_t last_ns() const { return last_ns_; }
  // The events that follow are of the session that requested the pool's counters.
  void SetReadingPool(bool pool) { reading_pool_ = pool; }
  // The capture tells it when a storm of exceptions is recorded in windows.
  StormFold& storm() { return storm_; }
  // … and of allocations, where they have a session apart from collections.
  WindowFold& allocations() { return allocations_; }
  // What comes next is of such a session: nothing else of it counts.
  void SetReadingAllocations(bool allocations) { reading_allocations_ = allocations; }
  // … of the session whose counter tells how much is allocated.
  void SetReadingAllocated(bool counter) { reading_allocated_ = counter; }
  // Events so far, by what they took the process.
  struct Events {
    uint64_t allocations = 0, exceptions = 0, waits = 0;
    uint64_t allocation_frames = 0, exception_frames = 0;  // of their stacks
  };
  const Events& events() const { return events_; }
  RequestFold& requests() { return requests_; }
  CpuFold& cpu() { return cpu_; }
  // It must outlive this.
  void TellCode(CodeListener* listener) { code_.TellTo(listener); }
  // As StackTree::Retire(), for samples that come later than events.
  void RetireCode(uint64_t start, uint64_t size) {
    if (tables_->stacks.Retire(start, size)) OutdateMemos();
  }
  WallFold& wall() { return wall_; }
  ThreadSamples& thread_samples() { return thread_samples_; }
  UniversalFold& universal() { return universal_; }

 private:
  [[gnu::noinline]] void Dispatch(const clr::RawEvent& event);
  void OnTick(const clr::RawEvent& event);
  void OnSampled(const clr::RawEvent& event);
  void OnCounted(const clr::RawEvent& event);
  // `note`: of the event's stack; `key`: type and whether it is a large object.
  [[gnu::noinline]] uint32_t CountedSeries(const clr::RawEvent& event, uint32_t node, uint32_t note,
                                           uint64_t key, uint64_t type_id, uint64_t bytes);
  void AddLeftOut(uint64_t thread, uint32_t type, uint64_t bytes);
  void UpdateCounting();
  void OnBulkType(const clr::RawEvent& event);
  void OnException(const clr::RawEvent& event);
  void OnEventCounter(const clr::RawEvent& event);
  void OnThreadSample(const clr::RawEvent& event);
  void OnWaitStart(const clr::RawEvent& event, profile::Source source);
  void OnWaitStop(const clr::RawEvent& event, profile::Source source);
  void CountWait(uint64_t thread, const OpenWait& wait, double duration_ns, bool finished);
  void SettleWaits();
  void AddWait(const EndedWait& wait, uint32_t holding);
  // A sample of an allocation, that stands for so much.
  void CountSample(const clr::RawEvent& event, profile::SeriesKey key, const profile::Sums& sums,
                   double bytes, double objects);
  // Of an event: no size, no heap, and its thread as a label. To the open slice, or to its request.
  void AddEvent(profile::Source source, uint32_t node, uint32_t type, uint16_t label,
                const profile::Sums& sums, const ActivityPath& activity, int64_t time_ns);
  void OnGcTriggered(const clr::RawEvent& event);
  void OnGcSettings(const clr::RawEvent& event);

  void CloseSlice();
  void LogGcs();
  void OutdateMemos();
  // `note`: of the stack, see StackTree::Fold(); unchanged when the event's memo knows its node.
  // `limit`: of who wrote its stack.
  uint32_t NodeOf(const clr::RawEvent& event, uint32_t* note = nullptr,
                  uint32_t limit = profile::StackTree::kRuntimeLimit);
  uint32_t TypeOf(uint64_t id, Utf16View name);
  static Utf16View NameIn(const clr::RawEvent& event, Utf16View name);
  // Return the index of the series. `nominal_size`: see SeriesTable::Find().
  uint32_t Count(const clr::RawEvent& event, profile::SeriesKey key, const profile::Sums& sums);
  // Allocations are what the next GC comes from.
  void NoteCause(uint32_t series, double bytes) {
    const profile::SeriesKey& key = tables_->series.keys()[series];
    gcs_.OnSample(series, key.type, key.node, bytes);
  }
  uint32_t Count(uint64_t thread, profile::SeriesKey key, uint64_t nominal_size,
                 const profile::Sums& sums);
  uint32_t SeriesFor(profile::SeriesKey key, uint64_t nominal_size, uint64_t samples);
  void CountSeries(uint64_t thread, uint32_t series, const profile::Sums& sums);
  void AddToSlice(uint64_t thread, uint32_t series, const profile::Sums& sums);
  void CountObjects(uint64_t thread, uint32_t series, profile::HeapKind kind,
                    const profile::Sums& sums) {
    if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
    slice_.Add(series, sums);
    slice_.AddCountedThread(thread, kind, sums);
    ++tables_->source_samples[static_cast<size_t>(profile::Source::kCounted)];
  }

  StringPool* strings_;
  profile::ProcessTables* tables_;
  uint32_t index_;
  profile::SliceSink* sink_;
  FoldOptions options_;
  profile::SliceBuilder slice_;
  GcTimeline gcs_;
  TypeIndex types_;
  int64_t now_ns_ = 0;  // of the event that is being folded
  int64_t last_ns_ = 0;
  int64_t slice_end_ns_ = 0;
  // Of this fold alone: processes of one trace may share a stack, but not their nodes.
  uint32_t memo_generation_;
  CodeFold code_;
  TypeCounter type_counter_;
  ExceptionTypes exception_types_;
  ExceptionMessages exception_messages_;
  StormFold storm_;
  RequestFold requests_;
  CpuFold cpu_;
  WallFold wall_;  // after cpu_
  ThreadSamples thread_samples_;
  UniversalFold universal_;
  WindowFold allocations_;
  Events events_;
  int64_t pool_ns_ = 0;  // of the pool's last counter
  bool reading_pool_ = false, reading_allocations_ = false, reading_allocated_ = false;
  WaitPairs waits_;
  LockHolders holders_;
};

}  // namespace clrscope::analysis
