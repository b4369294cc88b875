// SPDX-License-Identifier: Apache-2.0
// What an engine sees, as it is now: for screens and metrics, not for files.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/families/live/live_tables.h"
#include "capture/sessions/session_engine.h"
#include "profile/tables/thread_state.h"

namespace clrscope::capture {

class LiveView final : public SessionObserver {
 public:
  // By index of LiveTables::processes().
  struct ProcessState {
    uint32_t index = 0;  // in the engine's recording; meaningless once it has ended
    std::string runtime;
    std::array<profile::Estimate, 4> by_kind;  // since the start, by HeapKind
    bool biased = false;
    uint32_t measures = 0;   // profile::Process::measures
    bool modes_told = true;  // profile::Process::modes_told
    // Of events since the start, by Measure; exceptions by type too, up to kMostExceptionTypes, the
    // others as "(other)".
    std::array<profile::Estimate, profile::kMeasures> events;
    std::map<std::string, double, std::less<>> exceptions;
    // Of each route since the start, up to kMostRoutes, the others as "(other)".
    struct Route {
      double requests = 0, seconds = 0, errors = 0, bytes = 0, exceptions = 0, lock_wait_s = 0;
    };
    std::map<std::string, Route, std::less<>> routes;
    bool counted = false;  // the runtime's histogram tells how many requests there are

    bool Recorded(profile::Measure m) const {
      return (measures >> static_cast<uint32_t>(m) & 1) != 0;
    }
    // Not where the runtime's sampler does not tell it.
    bool KnowsWhatRuns() const { return Recorded(profile::Measure::kCpu) && modes_told; }
    // Of GCs that ended since the start.
    std::array<uint64_t, 3> collections{};  // by generation
    uint64_t pauses = 0;
    int64_t pause_ns = 0;
    profile::GcRecord last_gc;  // number 0: none yet
    uint64_t samples = 0, dropped = 0;
    // Of the process, by the system; since it began. -1: unknown.
    double cpu_s = -1;
    double cpu_s_before = -1;                           // a second ago
    std::array<double, profile::kFrameKinds> cpu_ns{};  // where sampled, by whose code the leaf is
    std::array<double, profile::kThreadStates + 1> wall_ns{};  // by state; idle ones aside
    double pool_threads = -1, pool_queue = -1;                 // -1: nobody asked, or told
    bool event_sources_off = false;                            // so nobody tells of requests
    // Of these, what earlier recordings counted.
    uint64_t earlier_pauses = 0, earlier_samples = 0, earlier_dropped = 0;
    int64_t earlier_pause_ns = 0;
  };

  static constexpr size_t kMostExceptionTypes = 50, kMostRoutes = 200;
  // What is kept of a recording goes after so long, so that stacks do not grow for ever; totals,
  // rates and counters go on.
  static constexpr int64_t kRotateNs = int64_t{3600} * 1'000'000'000;

  // `engine` must outlive the view, which it must have as its observer.
  explicit LiveView(SessionEngine* engine);

  // Of allocations, exceptions, locks or waits. Processes are the same in all.
  const analysis::LiveTables& tables(
      profile::Measure measure = profile::Measure::kAllocations) const {
    return tables_[static_cast<size_t>(measure)];
  }
  const std::vector<ProcessState>& processes() const { return processes_; }
  int64_t now_ns() const { return before_ns_ + now_ns_; }  // since the start
  // Everything since the start (or the last rotation) of the processes that live, bound.
  profile::Profile SinceStart(profile::Source source) const;
  // Lets the engine begin another recording when `rotate_ns` are over. Not inside Work(). Returns
  // whether it did.
  bool RotateIfDue(int64_t rotate_ns = kRotateNs);

  void OnJoined(const Target& target) override;
  void OnSlice(const profile::Slice& slice) override;
  void OnEnded(const Target& target) override;
  void OnRenamed(const Target& target, const RenamedType& renamed) override;
  void OnTick(int64_t now_ns) override;
  void OnSkipped(const ipc::DotnetProcess& process, const Error& error) override;
  void OnNote(const Target& target, const std::string& note) override;

  // Sentences about processes that are not shown, or not as a whole, since the last call.
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }

 private:
  void BeginAggregates();
  void BeginSecond();
  void BindSecond(const profile::Recording& recording);
  void CountEvents(const profile::Profile& second);
  void CountRoutes(const profile::Profile& second, bool events);
  ProcessState::Route* RouteOf(uint32_t process, std::string_view name);
  void ReadCounters(uint32_t id);

  SessionEngine* engine_;
  std::vector<analysis::LiveTables> tables_;  // by Measure
  std::vector<ProcessState> processes_;
  std::vector<uint32_t> ids_;       // by the engine's index
  std::vector<uint32_t> next_ids_;  // of the recording that is beginning
  bool rotating_ = false;
  std::unique_ptr<analysis::Aggregate> second_, since_start_;
  bool slices_ = false;
  bool requests_ = false;  // any process is asked for its requests
  int64_t now_ns_ = 0, before_ns_ = 0, ticks_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace clrscope::capture
