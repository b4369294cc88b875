// SPDX-License-Identifier: Apache-2.0
// One process that is being recorded: its sessions, its fold, and how it ended. The sessions are
// its first feed; the engine may add others.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/process_fold.h"
#include "capture/feeds/feed.h"
#include "capture/kernel/kernel_sampler.h"
#include "capture/proc/gc_threads.h"
#include "capture/proc/image_reader.h"
#include "capture/proc/thread_times.h"
#include "capture/sessions/clock.h"
#include "capture/sessions/open_target.h"
#include "capture/sessions/request_watch.h"
#include "capture/sessions/runtime_link.h"
#include "capture/sessions/storm_watch.h"
#include "capture/sessions/target_options.h"
#include "capture/sessions/task_watch.h"
#include "capture/sessions/tick_watch.h"
#include "capture/sessions/worker_pool.h"
#include "capture/streams/stream_decoder.h"
#include "capture/streams/stream_keeper.h"
#include "capture/symbols/native_namer.h"
#include "capture/types/type_namer.h"
#include "ipc/processes/dotnet_process.h"
#include "profile/overhead/budget_plan.h"
#include "profile/overhead/overhead_meter.h"
#include "symbol_files/module_files.h"
#include "symbol_files/module_types.h"

namespace clrscope::capture {

class CodeRules;
class CpuStacks;
class LineBook;
class WallSampler;
struct WallSpan;

class Target final : public Feed {
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
    WorkerPool* storms = nullptr;             // for what sleeps between an open and a stop
    NameFinder* names = nullptr;              // of native code; null: it is told by its file
    // What is known of modules' types; null: types keep the names that events give them.
    std::shared_ptr<symbol_files::ModuleTypesCache> module_types = nullptr;
  };
  Target(OpenedTarget opened, const Home& home, const TargetOptions& options);
  ~Target() override;

  bool Pump() override;
  void AddPolls(std::vector<pollfd>& polls) const override;
  void BeginStop() override;
  // A final short session for code that nothing has named yet; Pump() until ended(). Only
  // while the target lives.
  void BeginFinalRundown();
  // Closes the sockets, which ends the sessions with the process's next event.
  void Abandon(std::string_view why) override;
  // Opens the sessions again after a stop (Ctrl-Z and fg).
  Status Reopen();
  // Some times a second: keeps no more of the streams than is needed.
  void Rest();
  // Once a second: time passes without events, losses so far are noted, and ticks that another
  // tool's session has silenced are asked for again.
  void Tick(int64_t now_ns);
  // clrscope's own CPU time that belongs to this process.
  void NoteOwnCpu(double ns) { meter_.Spend(profile::OverheadPart::kClrscope, ns); }
  // What the agent took it since the last time, within the limit.
  void NoteAgentOverhead(const profile::Overhead& since);
  // What the recording took the process so far, as it is metered.
  const profile::Overhead& overhead() const { return meter_.told(); }
  // It has ended, and the system still knows what it used. No more of its samples come.
  void NoteEnd();
  // All that has come so far is in the recording; more may come.
  void Finish();
  // Goes on in another recording, which begins `shift_ns` after the one so far. What is known of
  // code and types goes with it; stacks and series begin anew.
  void MoveTo(const Home& home, int64_t shift_ns);

  State state() const { return state_; }
  bool ended() const override { return state_ == State::kEnded; }
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
  // Throws and waits.
  uint64_t happenings() const;
  uint64_t samples() const override {
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
  std::vector<std::string> TakeNotes() override { return std::exchange(notes_, {}); }
  // Whose owners were found since the last call.
  std::vector<RenamedType> TakeRenamedTypes() {
    return type_namer_ == nullptr ? std::vector<RenamedType>() : type_namer_->TakeRenamed();
  }
  // Roughly.
  size_t TableBytes() const;
  // Addresses that nothing has named yet.
  size_t UnresolvedAddresses() const;
  // Looks at what is mapped for execution, for addresses outside of any method; Tick() does so less
  // and less often. Returns false when the process is gone.
  bool ReadImages();
  // All has come: asks for the names of what native code is left, some times in a row. Returns
  // whether they are there, or as long was waited for as is good.
  bool NameTheLast(int64_t now_ns);
  // Everything is decoded (and the keeper has finished): closes the last slice and notes losses.
  // Call once.
  void Close();

 private:
  using Kind = OpenedTarget::Kind;
  // A window of requests or tasks is prepared so long before it begins; its thread sleeps.
  static constexpr int64_t kWindowAheadNs = 60'000'000;
  // A window of a storm or of requests, between the thread that opens and stops it and the
  // engine's.
  struct WindowRun {
    uint64_t group = 1;
    int64_t of_ns = profile::WindowPlan::kPeriodNs;  // the time that it stands for
    int64_t length_ns = INT64_MAX;                   // as it is planned
    // On the machine's clock: when it was asked to stop, and when that was answered.
    std::atomic<int64_t> end_ns{0}, answered_ns{0};
    std::atomic<bool> over{false}, failed{false};
    bool tasks = false;                      // of requests: what threads do, too
    uint64_t requests_at = 0, tasks_at = 0;  // that were told before
    bool routing = false;                    // and what they are routed to
  };
  struct Live {
    uint64_t id = 0;
    Kind kind = Kind::kMain;
    std::shared_ptr<StreamRing> ring;
    std::unique_ptr<StreamDecoder> decoder;
    LossCounters noted;  // of the decoder's losses
    std::shared_ptr<WindowRun> window;
  };
  struct Totals {
    uint64_t samples = 0, gcs = 0, dropped = 0, allocation_gcs = 0, happenings = 0;
  };

  void MakeTables();
  void RecordMeasures();
  void Take(OpenedTarget opened);
  void TakeCounts(const OpenedTarget& opened);
  void TakeRundowns();
  void AddSession(OpenedStream opened, Kind kind);
  std::shared_ptr<StreamKeeper::File> Keep(Kind kind);
  // StopTracing answers after its rundown was written, and that only goes on while we read.
  template <class Work>
  void InBackground(WorkerPool& pool, Work work) {
    ++background_->stops;
    pool.Post([link = link_, background = background_, work = std::move(work)] {
      work(*link, *background);
      --background->stops;
    });
  }
  void StopInBackground(std::vector<uint64_t> ids);
  void RunDownInBackground(std::vector<uint64_t> ids);
  // The first session of that kind; nullptr: there is none.
  Live* Session(Kind kind);
  void SetReading(Kind kind);
  void NoteLosses(Live& live);
  void Settle();
  void LookAround(int64_t now_ns);
  void WatchTicks(int64_t now_ns);
  // Storms of exceptions: target_storms.cc
  void WatchStorm();
  void BeginStorm();
  void PlanStormWindow(const profile::WindowPlan::Window& requests);
  static profile::WindowPlan::Window WithinWindow(const profile::WindowPlan::Window& requests,
                                                  int64_t of_ns);
  void OpenWindow(int64_t now_ns);
  void EndStormWindow(const Live& live);
  void EndWindow(const Live& live, profile::OverheadPart part, analysis::WindowFold& fold,
                 double price);
  void BeginWhole();
  void EndStorm();
  void TakeStormStreams();
  void StopCounter(Kind kind, std::chrono::nanoseconds wait);
  void ResetStorm();
  static std::chrono::nanoseconds UntilCounted(int64_t counted_to_ns, int64_t now_ns);
  // Allocations under a limit: target_allocations.cc
  void ResetAllocations();
  void WatchAllocations();
  void BeginAllocationWindows();
  void OpenAllocationWindow(const profile::BudgetPlan::Window& next, int64_t now_ns);
  void EndAllocationWindow(const Live& live);
  void BeginWholeAllocations();
  void EndAllocationWindows();
  void PlanAllocationWindow(const profile::WindowPlan::Window& requests);
  void TakeAllocationStreams();
  // What recording all of it would take, ns a second.
  double AllocationDemand() const;
  double ThrowDemand() const;
  double RequestDemand() const;  // of their ids
  double TaskDemand() const;
  double AllowedOfIds() const;
  void LimitRequests();
  void RepairTicks();
  // What it takes the process: target_overhead.cc
  void MeterOverhead(int64_t now_ns);
  void MeterEvents();
  void WatchOverhead();
  // A window is over: what its session took, and what events did that were made after its end.
  void MeterWindow(profile::OverheadPart part, const WindowRun& run, int64_t start_ns,
                   double spent_ns);
  // Requests: target_requests.cc
  void ResetRequests();
  void WatchRequests();
  void JoinCounter();
  void BeginRequestWindows();
  void OpenRequestWindow(int64_t now_ns);
  void EndRequestWindow(const Live& live);
  void EndRequestWindows();
  void TakeRequestStreams();
  void RunWindow(const ipc::SessionConfig& config, Kind kind, std::shared_ptr<WindowRun> run,
                 std::chrono::nanoseconds ahead, std::chrono::nanoseconds length);
  // What threads do for them: target_tasks.cc
  void ResetTasks();
  void WatchTasks();
  void BeginTaskWindows();
  void OpenTaskWindow(int64_t now_ns);
  void EndTaskWindows();
  void BeginTasks(const Live& live);
  void EndTasks(const Live& live);
  void StopRequests();
  // Programs that have EventSource switched off: target_event_sources.cc
  static bool OfEventSources(Kind kind);
  void MissEventSources();
  bool SourcesTell();
  bool CountsMissing();
  void WatchEventSources(int64_t now_ns);
  // CPU time: target_cpu.cc
  bool samples_cpu() const { return cpu_ != nullptr || stops_ != nullptr; }
  void BeginCpu();
  bool PumpCpu();
  bool PumpKernelSamples();
  bool PumpStops();
  void NoteCpuLosses(uint64_t lost, uint64_t missed);
  void ReadCpuTimes(int64_t now_ns);
  void FollowProcessClock(int64_t now_ns);
  void EndProcessClock();
  void EndCpu();
  CodeRules* KnowCode();
  std::function<void(uint64_t, uint64_t)> RetireLater();
  // What waits for names of code.
  void FlushCpu();
  void AdvanceCpu();
  void StopCpu();
  // Where clrscope may stand still itself from now on, no thread is to wait for it.
  void StopStops();
  // Wall time: target_wall.cc
  void BeginWall();
  bool PumpWall();
  void StopWall();
  // Source lines.
  void FinishLines();
  // `maps`: what is mapped now, or was when the process ended: the text of /proc/PID/maps that
  // stacks were walked with. "": none was.
  void SeeMaps(const std::string& maps);
  void TakeImages(const std::vector<profile::Image>& mapped);
  // Which actions of MVC there are: target_routing.cc
  void ResetRouting();
  void WatchRouting();
  void EndRouting(const Live& live);

  ipc::DotnetProcess process_;
  std::shared_ptr<RuntimeLink> link_;
  Home home_;
  TargetOptions options_;
  uint32_t index_ = 0;
  profile::ProcessTables* tables_ = nullptr;  // owned by the recording
  std::unique_ptr<analysis::ProcessFold> fold_;
  profile::Source source_ = profile::Source::kTick;
  std::string request_counter_;  // the identifier of its session; "": it was not opened
  bool request_counter_joined_ = false;
  std::vector<Live> sessions_;
  std::vector<std::shared_ptr<StreamKeeper::File>> kept_;
  TickWatch tick_watch_;
  GcThreads gc_threads_;
  ImageReader image_reader_;
  std::unique_ptr<TypeNamer> type_namer_;  // null: types keep the names that events give them
  TypeNamer::Modules modules_told_ = TypeNamer::Modules::kSome;
  enum class StormPhase : uint8_t { kNone, kBeginning, kWindows, kEnding };
  StormPhase storm_phase_ = StormPhase::kNone;
  StormWatch storm_watch_;
  std::optional<StormWatch::Window> next_window_;
  std::shared_ptr<WindowRun> window_;  // under way
  int64_t storm_ends_ns_ = 0;
  size_t whole_sessions_ = 0;
  profile::BudgetPlan storm_plan_;  // under a limit
  enum class AllocationPhase : uint8_t { kWhole, kBeginning, kWindows, kEnding };
  AllocationPhase allocation_phase_ = AllocationPhase::kWhole;
  profile::BudgetPlan allocation_plan_;
  std::shared_ptr<WindowRun> allocation_window_;  // under way
  int64_t allocations_end_ns_ = 0, next_meter_ns_ = 0;
  enum class RequestPhase : uint8_t { kAll, kEnding, kWindows, kBeginning };
  RequestPhase request_phase_ = RequestPhase::kAll;
  RequestWatch request_watch_;
  std::optional<RequestWatch::Window> next_request_window_;
  std::shared_ptr<WindowRun> request_window_;  // under way
  size_t whole_requests_ = 0;
  profile::BudgetPlan request_plan_;  // under a limit
  enum class TaskPhase : uint8_t { kNone, kAll, kEnding, kWindows, kBeginning };
  TaskPhase task_phase_ = TaskPhase::kNone;
  TaskWatch task_watch_;
  std::optional<TaskWatch::Window> next_task_window_;
  std::shared_ptr<WindowRun> task_window_;  // under way
  int64_t tasks_begin_ns_ = 0, tasks_end_ns_ = 0;
  uint64_t tasks_dropped_ = 0;
  profile::OverheadMeter meter_;
  analysis::ProcessFold::Events metered_;
  uint64_t metered_requests_ = 0, metered_tasks_ = 0, metered_cpu_ = 0;
  // Of allocations and throws that were recorded, all along or in windows.
  struct Price {
    double ns = 0;
    uint64_t events = 0;
    double each(double at_first) const {
      return events == 0 ? at_first : ns / static_cast<double>(events);
    }
  };
  Price allocation_price_, throw_price_;
  uint64_t rated_allocations_ = 0;
  uint64_t rated_tasks_ = 0;
  int64_t rated_ns_ = 0;
  double whole_allocations_ = 0;  // a second, while all are recorded
  double whole_tasks_ = 0;        // … their events
  struct Silence {
    std::optional<int64_t> since_ns;
    bool told = false;  // the user knows
    // Whether there is one, for longer than anything that tells would be silent.
    bool Lasts(int64_t now_ns, bool silent);
    void Shift(int64_t shift_ns) {
      if (since_ns) *since_ns -= shift_ns;
    }
  };
  bool sources_missed_ = false;               // the user knows
  bool sources_tell_ = false;                 // an event of them came
  bool counts_asked_ = false;                 // the histogram of requests was
  Silence sources_silence_, counts_silence_;  // of them, and of the histogram of requests
  // Who samples CPU time from outside: one of the two, or none.
  std::unique_ptr<KernelSampler> cpu_;
  std::unique_ptr<StopSampler> stops_;
  std::unique_ptr<CodeRules> code_rules_;  // where stacks are walked here
  std::unique_ptr<CpuStacks> cpu_stacks_;  // of their samples
  std::unique_ptr<WallSampler> wall_;
  std::vector<WallSpan> wall_spans_;
  uint64_t wall_dropped_ = 0;
  bool wall_blind_told_ = false, stacks_blind_told_ = false, stops_refused_told_ = false;
  std::unique_ptr<LineBook> lines_;         // null: source lines are not asked for
  uint64_t cpu_lost_ = 0, cpu_missed_ = 0;  // that are noted
  std::shared_ptr<WindowRun> routing_run_;  // under way
  bool routing_wanted_ = false;             // by the next window of requests
  bool routing_told_ = false;               // the user knows
  int64_t next_routing_ns_ = 0;
  // Shared with the worker threads, which may outlive the target.
  struct Background {
    std::atomic<int> stops{0};  // calls that end sessions
    std::atomic<bool> repairing{false};
    std::atomic<bool> ending{false};        // the recording: windows are not waited for
    std::atomic<int64_t> counted_to_ns{0};  // how far the histogram of requests has told
    std::mutex mutex;
    // What follows is guarded by mutex.
    std::vector<Result<OpenedStream>> rundowns;
    struct Opened {
      Result<OpenedStream> stream;
      OpenedTarget::Kind kind;
      std::shared_ptr<WindowRun> window;
      int64_t opened_ns = 0;  // of a counter, on the machine's clock
    };
    std::vector<Opened> of_storms, of_requests, of_allocations;
  };
  std::shared_ptr<Background> background_ = std::make_shared<Background>();
  State state_ = State::kEnded;
  bool lost_ = false, cut_off_ = false;
  bool abandoned_ = false;
  bool rundown_ended_ = false;
  uint64_t finished_events_ = 0;
  std::optional<uint64_t> settings_;  // the session that is to be stopped once the GC is there
  Totals earlier_;                    // in recordings before this one
  NativeNamer native_namer_;
  int64_t names_until_ns_ = 0;  // 0: nobody waits for them
  // What the process had used when it was looked at last; ticks where samples do not tell the
  // kernel's part, and what they were at the last reading of its threads.
  struct ProcessClock {
    int64_t at_ns = 0, cpu_ns = -1;
    ProcessTicks ticks, read;
    bool ended = false;
  };
  ProcessClock process_clock_;
  int64_t sessions_ended_ns_ = 0;  // by themselves
  bool replaced_ = false;          // another program runs
  int64_t images_every_ns_ = 200'000'000, next_images_ns_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace clrscope::capture
