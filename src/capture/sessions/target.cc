// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <thread>

#include "analysis/families/wall/thread_modes.h"
#include "capture/kernel/wall_sampler.h"
#include "capture/proc/memory_readings.h"
#include "capture/proc/thread_names.h"
#include "capture/sessions/cpu_stacks.h"
#include "capture/symbols/line_book.h"
#include "ipc/processes/proc_stat.h"
#include "profile/stacks/code_at.h"
#include "profile/tables/carry_over.h"

namespace clrscope::capture {
namespace {

// Pieces of 64 KB or so of one session before the next has its turn.
constexpr int kItemsPerPump = 16;
// Events come ten times a second: a slice is over when this much time has passed since its end.
constexpr int64_t kLateNs = 500'000'000;

// After a process has ended.
constexpr int64_t kNamesPatienceNs = 3'000'000'000;
constexpr int64_t kLongestImagesWait = 30'000'000'000;

// A rundown comes faster than it is decoded: the next one begins when most of the others is.
void WaitForOthers(const RingPool* waiting) {
  constexpr size_t kBacklogBytes = 512 << 10;
  constexpr std::chrono::milliseconds kLongest{500};  // others may never come to rest
  if (waiting != nullptr) waiting->WaitFor(kBacklogBytes, kLongest);
}

// Sessions that end while the process is recorded, or after the others.
bool PassesBy(OpenedTarget::Kind kind) {
  using enum OpenedTarget::Kind;
  return kind == kRundown || kind == kSettings || kind == kExceptionsEnding || kind == kWindow ||
         kind == kCounter || kind == kAllocationsEnding || kind == kAllocationWindow ||
         kind == kAllocationCounter || kind == kRequests || kind == kRequestsEnding ||
         kind == kRequestWindow || kind == kRequestCounter || kind == kTasks ||
         kind == kTasksEnding || kind == kTaskWindow || kind == kRouting;
}

}  // namespace

Target::Target(OpenedTarget opened, const Home& home, const TargetOptions& options)
    : process_(opened.process),
      home_(home),
      options_(WhatCanBeAsked(options, process_)),
      gc_threads_(process_.pid),
      image_reader_(process_.pid),
      storm_watch_(std::random_device{}()),
      storm_plan_(std::random_device{}()),
      allocation_plan_(std::random_device{}()),
      request_watch_(std::random_device{}(), std::thread::hardware_concurrency(),
                     NsPerRequest(options)),
      request_plan_(std::random_device{}()),
      task_watch_(std::random_device{}(), std::thread::hardware_concurrency()),
      meter_(options.max_overhead),
      native_namer_(process_.pid, home.names) {
  options_.sampler = opened.sampler.by;
  options_.cpu_hz = opened.sampler.hz;
  MakeTables();
  profile::Process& info = tables_->info;
  StringPool& s = home_.recording->strings;
  info.pid = static_cast<uint32_t>(process_.pid);
  info.name = s.Intern(process_.name);
  info.command_line = s.Intern(process_.command_line);
  info.arch = s.Intern(process_.arch);
  if (!process_.clr_version.empty()) info.runtime = s.Intern(".NET " + process_.clr_version);
  if (home_.clock->started()) info.start_ns = std::max<int64_t>(0, home_.clock->now_ns());
  fold_ = std::make_unique<analysis::ProcessFold>(&s, tables_, index_, home_.sink, options_.fold);
  if (process_.open_sessions != 0 && options_.allocations &&
      opened.source == profile::Source::kSampled)
    notes_.push_back(fmt::format(
        "another tool has a session open on process {}: while this recording goes on it gets no "
        "AllocationTick (--sampling tick would leave it alone)",
        process_.pid));
  if (process_.event_sources_off && options.event_sources()) MissEventSources();
  if (process_.native_aot &&
      (options_.allocations || options_.exceptions || options_.locks || options_.waits))
    notes_.push_back(fmt::format(
        "process {} was compiled with NativeAOT: its events have no stacks, and allocations no "
        "names of types; samples of CPU and wall time (--cpu, --wall) have stacks",
        process_.pid));
  if (options_.lines) lines_ = std::make_unique<LineBook>(process_.pid, options_.symbol_folders);
  if (home_.module_types != nullptr && opened.files)
    type_namer_ = std::make_unique<TypeNamer>(std::make_unique<OwnerFinder>(
        std::move(*opened.files), home_.module_types, std::make_unique<RemoteMemory>(process_.pid),
        ipc::MajorVersion(process_.clr_version)));
  RecordMeasures();
  gc_threads_.Read(info.start_ns, info.gc);
  ReadMemory(process_.pid, info.start_ns, info.memory);
  MeterOverhead(info.start_ns);
  Take(std::move(opened));
}

Target::~Target() = default;

void Target::RecordMeasures() {
  profile::Process& info = tables_->info;
  using profile::Measure;
  if (options_.allocations) info.Record(Measure::kAllocations);
  if (options_.exceptions) info.Record(Measure::kExceptions);
  if (options_.locks || options_.waits) info.Record(Measure::kLocks);
  if (options_.waits && TellsWaits(process_.clr_version)) info.Record(Measure::kWaits);
  if (options_.requests) info.Record(Measure::kRequests);
  if (options_.cpu_hz != 0) {
    info.sampler = options_.sampler;
    const bool runtime = info.sampler == profile::CpuSampler::kRuntime;
    if (runtime) info.Record(Measure::kWall);
    if (!runtime || !analysis::ThreadModesNeverTold(".NET " + process_.clr_version))
      info.Record(Measure::kCpu);
    info.sampler_hz = options_.cpu_hz;
  }
  if (options_.wall_hz != 0) info.Record(Measure::kWall);
}

void Target::MakeTables() {
  auto tables = std::make_unique<profile::ProcessTables>(
      options_.fold.max_nodes, options_.fold.max_series, home_.recording->methods);
  tables_ = tables.get();
  index_ = static_cast<uint32_t>(home_.recording->processes.size());
  home_.recording->processes.push_back(std::move(tables));
}

void Target::Take(OpenedTarget opened) {
  link_ = opened.link;
  source_ = opened.source;
  state_ = State::kRecording;
  background_->ending = false;
  modules_told_ = opened.fresh            ? TypeNamer::Modules::kAll
                  : opened.rundown_failed ? TypeNamer::Modules::kSome
                                          : TypeNamer::Modules::kComing;
  ResetStorm();
  ResetAllocations();
  ResetRequests();
  fold_->requests().EndAt(INT64_MAX);
  fold_->requests().Interrupt(fold_->last_ns());
  if (std::any_of(opened.streams.begin(), opened.streams.end(),
                  [](const auto& s) { return s.kind == Kind::kRequestCounter; }))
    fold_->requests().ExpectTemplates();
  request_counter_ = opened.request_counter;
  request_counter_joined_ = false;
  lost_ = cut_off_ = abandoned_ = false;
  notes_.insert(notes_.end(), opened.notes.begin(), opened.notes.end());
  if (opened.rundown_failed) tables_->losses.Add(Loss::kRundownIncomplete);
  if (source_ == profile::Source::kCounted) TakeCounts(opened);
  std::vector<uint64_t> rundowns;
  for (OpenedTarget::Stream& s : opened.streams) {
    if (s.kind == Kind::kRundown) rundowns.push_back(s.opened.id);
    if (s.kind == Kind::kSettings) settings_ = s.opened.id;
    AddSession(std::move(s.opened), s.kind);
  }
  opened.streams.clear();  // they are ours now
  ResetTasks();
  ResetRouting();
  cpu_ = std::move(opened.sampler.kernel);
  stops_ = std::move(opened.sampler.stops);
  if (samples_cpu()) BeginCpu();
  if (options_.wall_hz != 0) BeginWall();
  if (!rundowns.empty()) RunDownInBackground(std::move(rundowns));
}

void Target::TakeCounts(const OpenedTarget& opened) {
  profile::Counting& counting = tables_->counting;
  counting.gc_known = opened.fresh;
  counting.ended = false;
  if (!opened.fresh) ++counting.gaps;
}

void Target::AddSession(OpenedStream opened, Kind kind) {
  nettrace::Reader::Limits limits;
  limits.chunk_bytes = 64 << 10;  // a machine has many targets
  limits.remember_stacks = false;
  // Methods as they are, in any order: they need not wait for a sequence point.
  if (kind == Kind::kRundown || kind == Kind::kEntryPoints || kind == Kind::kLines)
    limits.retained_bytes = 64 << 10;
  // Some 5 KB a second, that are to be shown now.
  if (kind == Kind::kPool || kind == Kind::kCounter || kind == Kind::kAllocationCounter) {
    limits.chunk_bytes = 4 << 10;
    limits.retained_bytes = 0;
  }
  if (process_.event_sources_off && OfEventSources(kind)) MissEventSources();
  auto decoder =
      std::make_unique<StreamDecoder>(opened.ring, fold_.get(), home_.clock, limits, Keep(kind));
  sessions_.push_back({opened.id, kind, std::move(opened.ring), std::move(decoder), {}, {}});
}

std::shared_ptr<StreamKeeper::File> Target::Keep(Kind kind) {
  if (options_.keeper == nullptr || kind == Kind::kSettings || kind == Kind::kWindow ||
      kind == Kind::kCounter || kind == Kind::kRequestWindow || kind == Kind::kTaskWindow ||
      kind == Kind::kTasks || kind == Kind::kTasksEnding || kind == Kind::kRouting ||
      kind == Kind::kPool)
    return nullptr;
  // The first process is the one that was asked for: its name is the capture's.
  std::string suffix;
  if (index_ != 0) suffix = fmt::format(".{}", process_.pid);
  if (kind == Kind::kLines) suffix += ".lines";
  if (kind == Kind::kEntryPoints) suffix += ".entry-points";
  if (kind == Kind::kRundown) suffix += ".rundown";
  if (kind == Kind::kCounts) suffix += ".counts";
  if (kind == Kind::kExceptions)  // one more after each storm
    suffix +=
        whole_sessions_++ == 0 ? ".exceptions" : fmt::format(".exceptions-{}", whole_sessions_);
  if (kind == Kind::kLocks) suffix += ".locks";
  if (kind == Kind::kThreadSamples) suffix += ".samples";
  if (kind == Kind::kRequests)  // one more after windows
    suffix += whole_requests_++ == 0 ? ".requests" : fmt::format(".requests-{}", whole_requests_);
  if (kind == Kind::kRequestCounter) suffix += ".request-counter";
  Result<std::shared_ptr<StreamKeeper::File>> file = options_.keeper->Create(suffix);
  if (!file.ok()) {
    notes_.push_back("a raw stream is not kept: " + file.error().message);
    return nullptr;
  }
  kept_.push_back(*file);
  return file.Take();
}

Status Target::Reopen() {
  ASSIGN_OR_RETURN(OpenedTarget opened, OpenTarget(process_, link_, options_, false));
  Take(std::move(opened));
  return OkStatus();
}

void Target::StopInBackground(std::vector<uint64_t> ids) {
  InBackground(*home_.workers, [ids = std::move(ids)](RuntimeLink& link, Background&) {
    for (const uint64_t id : ids) (void)link.Stop(id);
    Remind(link);
  });
}

void Target::RunDownInBackground(std::vector<uint64_t> ids) {
  InBackground(*home_.rundowns,
               [waiting = home_.waiting, ids = std::move(ids)](RuntimeLink& link, Background&) {
                 WaitForOthers(waiting.get());
                 for (const uint64_t id : ids) (void)link.Stop(id);
               });
}

Target::Live* Target::Session(Kind kind) {
  const auto it = std::find_if(sessions_.begin(), sessions_.end(),
                               [kind](const Live& s) { return s.kind == kind; });
  return it == sessions_.end() ? nullptr : &*it;
}

bool Target::rundown_pending() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const Live& s) { return s.kind == Kind::kRundown; });
}

// What is decoded next comes from a session of that kind.
void Target::SetReading(Kind kind) {
  fold_->storm().SetReading(kind == Kind::kWindow);
  fold_->allocations().SetReading(kind == Kind::kAllocationWindow);
  fold_->SetReadingAllocations(kind == Kind::kAllocations || kind == Kind::kAllocationsEnding ||
                               kind == Kind::kAllocationWindow);
  fold_->SetReadingAllocated(kind == Kind::kAllocationCounter);
  fold_->SetReadingPool(kind == Kind::kPool);
}

bool Target::Pump() {
  bool any = false;
  for (Live& s : sessions_) {
    SetReading(s.kind);
    any |= s.decoder->Pump(kItemsPerPump);
  }
  SetReading(Kind::kMain);
  if (type_namer_ != nullptr && !fold_->types().bare().empty())
    type_namer_->Work(*fold_, home_.recording->strings, modules_told_, home_.clock->now_ns(),
                      *home_.workers);
  WatchOverhead();
  if (options_.allocations_apart()) WatchAllocations();
  if (options_.exceptions) WatchStorm();
  if (options_.requests) WatchRequests();
  if (settings_ && samples() > 0) {
    StopInBackground({*settings_});
    settings_.reset();
  }
  if (samples_cpu()) any |= PumpCpu();
  AdvanceCpu();
  if (wall_ != nullptr) any |= PumpWall();
  if (!any) Settle();
  return any;
}

void Target::NoteLosses(Live& live) {
  LossCounters losses = live.decoder->losses();
  // A live session that ends without its tag belongs to a process that ended: that is one loss of
  // its own name, not a damaged file.
  losses.Set(Loss::kTruncatedInput, 0);
  losses.Set(Loss::kTruncatedBytes, 0);
  const LossCounters since = losses.Since(live.noted);
  // Any of them may have told of a module.
  if (since[Loss::kEventsDropped] != 0 || since[Loss::kBlocksDiscarded] != 0)
    modules_told_ = TypeNamer::Modules::kSome;
  tables_->losses.Merge(since);
  live.noted = losses;
}

void Target::Settle() {
  bool main_ended = false;
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    StreamDecoder& d = *it->decoder;
    if (!d.finished() || (it->window && !it->window->over)) {
      ++it;
      continue;
    }
    NoteLosses(*it);
    sources_tell_ |= OfEventSources(it->kind) && d.told();
    if (it->kind == Kind::kWindow) EndStormWindow(*it);
    if (it->kind == Kind::kAllocationWindow) EndAllocationWindow(*it);
    if (it->kind == Kind::kRequestWindow) EndRequestWindow(*it);
    if (it->kind == Kind::kTasks || it->kind == Kind::kTasksEnding || it->kind == Kind::kTaskWindow)
      EndTasks(*it);
    if (it->kind == Kind::kRouting || (it->kind == Kind::kRequests && ExtrasOf(options_).routing))
      EndRouting(*it);
    if (!d.complete()) {
      if (it->kind == Kind::kRundown)
        tables_->losses.Add(Loss::kRundownIncomplete);
      else if (!PassesBy(it->kind) && state_ == State::kRecording)
        cut_off_ = true;
    } else if (it->kind == Kind::kCounts) {
      tables_->counting.ended = !d.damage();
    }
    // Without all of its ticks the GC's own figure says nothing.
    if (it->kind == Kind::kMain && d.losses()[Loss::kEventsDropped] != 0)
      tables_->counting.gc_known = false;
    if (d.damage())
      notes_.push_back(fmt::format("a session's stream was damaged at byte {}: {}",
                                   d.damage()->offset, d.damage()->message));
    if (!PassesBy(it->kind) && state_ == State::kRecording) main_ended = true;
    finished_events_ += d.events();
    if (it->kind == Kind::kRundown) {
      rundown_ended_ = true;
      if (modules_told_ == TypeNamer::Modules::kComing)
        modules_told_ = d.complete() ? TypeNamer::Modules::kAll : TypeNamer::Modules::kSome;
    }
    it = sessions_.erase(it);
  }
  if (main_ended) lost_ = true;
  const bool stopped = background_->stops == 0;  // before a look at what it left behind
  if (state_ != State::kRecording) {
    TakeRundowns();
    TakeStormStreams();
    TakeAllocationStreams();
    TakeRequestStreams();
  }
  if (stopped && sessions_.empty() && state_ != State::kEnded) {
    state_ = State::kEnded;
    StopStops();
    EndCpu();
    StopWall();
  }
}

void Target::BeginStop() {
  if (state_ != State::kRecording) return;
  gc_threads_.Read(home_.clock->now_ns(), tables_->info.gc);
  ReadMemory(process_.pid, home_.clock->now_ns(), tables_->info.memory);
  MeterOverhead(home_.clock->now_ns());
  ReadThreadNames(process_.pid, home_.recording->strings, tables_->thread_names);
  state_ = State::kStopping;
  background_->ending = true;
  StopCpu();
  StopWall();
  // A process that is stopped (SIGSTOP, a debugger) answers nobody.
  if (ipc::IsStopped(process_.pid)) return Abandon("is stopped");
  std::vector<uint64_t> ids;
  // Youngest first: without the main session's keywords the runtime counts nothing.
  for (auto s = sessions_.rbegin(); s != sessions_.rend(); ++s)
    if (!PassesBy(s->kind) || settings_ == s->id) ids.push_back(s->id);
  const int64_t now_ns = home_.clock->now_ns();
  fold_->storm().NoteStop(now_ns);
  fold_->allocations().NoteStop(now_ns);
  if (storm_phase_ != StormPhase::kNone)
    StopCounter(Kind::kCounter, UntilCounted(fold_->storm().counted_to_ns(), now_ns));
  if (allocation_phase_ != AllocationPhase::kWhole)
    StopCounter(Kind::kAllocationCounter,
                UntilCounted(fold_->allocations().counted_to_ns(), now_ns));
  StopRequests();
  settings_.reset();
  if (!ids.empty()) StopInBackground(std::move(ids));
}

void Target::BeginFinalRundown() {
  if (lost_ || abandoned_) return;
  state_ = State::kStopping;
  InBackground(*home_.rundowns, [waiting = home_.waiting, lines = options_.lines](
                                    RuntimeLink& link, Background& background) {
    WaitForOthers(waiting.get());
    Result<OpenedStream> rundown = link.Open(RundownSession(lines));
    const std::optional<uint64_t> id =
        rundown.ok() ? std::optional<uint64_t>(rundown->id) : std::nullopt;
    {
      const std::lock_guard lock(background.mutex);
      background.rundowns.push_back(std::move(rundown));
    }
    if (id) (void)link.Stop(*id);
  });
}

void Target::TakeRundowns() {
  const std::lock_guard lock(background_->mutex);
  for (Result<OpenedStream>& rundown : background_->rundowns) {
    if (rundown.ok()) {
      AddSession(rundown.Take(), Kind::kRundown);
      continue;
    }
    tables_->losses.Add(Loss::kRundownIncomplete);
    notes_.push_back("methods that were compiled before cannot be named: " +
                     rundown.error().message);
  }
  background_->rundowns.clear();
}

void Target::Abandon(std::string_view why) {
  StopStops();
  StopWall();
  TakeRundowns();
  TakeStormStreams();
  TakeAllocationStreams();
  TakeRequestStreams();
  for (const Live& s : sessions_) {
    link_->Drop(s.ring);
    if (s.window) s.window->over = s.window->failed = true;
  }
  while (Pump()) {
  }
  if (!sessions_.empty()) Settle();
  abandoned_ = true;
  state_ = State::kEnded;
  notes_.push_back(
      fmt::format("process {} {}: its sockets were closed, and the session ends with the next "
                  "event that it writes",
                  process_.pid, why));
}

void Target::Rest() {
  for (Live& s : sessions_) {
    SetReading(s.kind);
    s.decoder->Rest();
  }
  SetReading(Kind::kMain);
}

void Target::Tick(int64_t now_ns) {
  if (now_ns > kLateNs) fold_->Advance(now_ns - kLateNs);
  fold_->storm().Advance(now_ns);
  fold_->allocations().Advance(now_ns);
  fold_->requests().Advance(now_ns - kLateNs);
  if (samples_cpu() && state_ != State::kEnded)
    ReadCpuTimes(now_ns);
  else
    fold_->cpu().Advance(now_ns);
  fold_->wall().Advance(now_ns);
  for (Live& s : sessions_) NoteLosses(s);
  WatchEventSources(now_ns);
  if (lines_ != nullptr) lines_->Tick(now_ns, *home_.workers, home_.recording->strings, *tables_);
  tables_->code.Settle();
  tables_->info.end_ns = std::max(tables_->info.end_ns, fold_->last_ns());
  if (source_ == profile::Source::kTick && options_.allocations && !options_.agent &&
      !options_.allocations_apart() && state_ == State::kRecording)
    WatchTicks(now_ns);
  if (state_ == State::kRecording) {
    gc_threads_.Read(now_ns, tables_->info.gc);
    ReadMemory(process_.pid, now_ns, tables_->info.memory);
    MeterOverhead(now_ns);
  }
  LookAround(now_ns);
  native_namer_.Look(*tables_, home_.recording->strings);
}

// What is mapped, and what threads are called: at first often, as programs may be short.
void Target::LookAround(int64_t now_ns) {
  if (state_ != State::kRecording || now_ns < next_images_ns_) return;
  ReadImages();
  ReadThreadNames(process_.pid, home_.recording->strings, tables_->thread_names);
  next_images_ns_ = now_ns + images_every_ns_;
  images_every_ns_ = std::min(2 * images_every_ns_, kLongestImagesWait);
}

void Target::WatchTicks(int64_t now_ns) {
  const TickWatch::Verdict verdict = tick_watch_.Look(now_ns, samples(), allocation_gcs());
  if (verdict.fell_silent) {
    tables_->losses.Add(Loss::kTicksStalled);
    notes_.push_back(fmt::format(
        "process {} stopped sending AllocationTick while it went on to allocate, as another tool's "
        "AllocationSampled session makes it; what it allocated meanwhile is missing",
        process_.pid));
  }
  if (verdict.repair) RepairTicks();
}

void Target::RepairTicks() {
  if (background_->repairing.exchange(true)) return;
  home_.workers->Post([link = link_, background = background_] {
    Remind(*link);
    background->repairing = false;
  });
}

void Target::Finish() {
  if (state_ == State::kEnded) NoteEnd();
  if (options_.requests && !SourcesTell()) tables_->losses.Set(Loss::kEventSourcesSilent, 1);
  if (CountsMissing()) tables_->losses.Set(Loss::kRequestCountsMissing, 1);
  FlushCpu();
  fold_->Finish(state_ == State::kRecording);
}

void Target::MoveTo(const Home& home, int64_t shift_ns) {
  for (Live& s : sessions_) NoteLosses(s);
  if (type_namer_ != nullptr)
    type_namer_->EndTables(*fold_, home_.recording->strings, modules_told_, fold_->last_ns());
  fold_->Flush();
  fold_->storm().Flush(fold_->last_ns());
  fold_->allocations().Flush(fold_->last_ns());
  FlushCpu();
  fold_->cpu().Flush();
  fold_->wall().Flush();
  fold_->requests().Flush(fold_->last_ns());
  earlier_ = {samples(), gcs(), dropped(), allocation_gcs(), happenings()};
  tables_->info.end_ns = fold_->last_ns();
  tables_->info.complete = true;  // it goes on in the next one
  FinishLines();
  const profile::ProcessTables& old = *tables_;
  const StringPool& old_strings = home_.recording->strings;
  home_ = home;
  MakeTables();
  native_namer_.Restart();
  names_until_ns_ = 0;
  profile::CarryOver(old, old_strings, shift_ns, *tables_, home_.recording->strings);
  fold_->MoveTo(old, old_strings, &home_.recording->strings, tables_, index_, home_.sink);
  ReadMemory(process_.pid, 0, tables_->info.memory);
  fold_->storm().Shift(shift_ns);
  fold_->allocations().Shift(shift_ns);
  fold_->requests().Shift(shift_ns);
  sources_silence_.Shift(shift_ns);
  counts_silence_.Shift(shift_ns);
  fold_->cpu().Shift(shift_ns);
  if (lines_ != nullptr) lines_->Restart(0);
  next_images_ns_ -= shift_ns;
  process_clock_.at_ns -= shift_ns;
  sessions_ended_ns_ -= shift_ns;
  storm_ends_ns_ -= shift_ns;
  next_window_.reset();
  storm_watch_ = StormWatch(static_cast<uint64_t>(shift_ns));
  storm_plan_ = profile::BudgetPlan(static_cast<uint64_t>(shift_ns));
  storm_plan_.Restart(0);
  allocation_plan_ = profile::BudgetPlan(static_cast<uint64_t>(shift_ns) + 1);
  allocation_plan_.Restart(0);
  if (allocations_end_ns_ != 0) allocations_end_ns_ -= shift_ns;
  next_meter_ns_ -= shift_ns;
  rated_ns_ -= shift_ns;
  next_request_window_.reset();
  request_plan_ = profile::BudgetPlan(static_cast<uint64_t>(shift_ns) + 2);
  request_plan_.Restart(0);
  request_watch_ = RequestWatch(static_cast<uint64_t>(shift_ns),
                                std::thread::hardware_concurrency(), NsPerRequest(options_));
  next_task_window_.reset();
  task_watch_ = TaskWatch(static_cast<uint64_t>(shift_ns), std::thread::hardware_concurrency());
  task_watch_.Restart(fold_->requests().tasks());
  next_routing_ns_ -= shift_ns;
  tasks_begin_ns_ -= shift_ns;
  tasks_end_ns_ -= shift_ns;
  gc_threads_.Restart(0);
  meter_.Restart(shift_ns);
}

uint64_t Target::happenings() const {
  uint64_t n = earlier_.happenings;
  for (size_t i = 0; i < profile::kSources; ++i)
    if (profile::IsEvent(static_cast<profile::Source>(i)) &&
        profile::SpecOf(static_cast<profile::Source>(i)).error == profile::ErrorKind::kExact &&
        static_cast<profile::Source>(i) != profile::Source::kRequest)
      n += tables_->source_samples[i];
  return n;
}

uint64_t Target::events() const {
  uint64_t n = finished_events_;
  for (const Live& s : sessions_) n += s.decoder->events();
  return n;
}

size_t Target::TableBytes() const {
  // Measured: of a node, a series with its sums, a method, a type, with the indexes over them.
  constexpr size_t kNode = 48, kSeries = 80, kMethod = 72, kType = 48;
  return tables_->stacks.size() * kNode + tables_->series.keys().size() * kSeries +
         tables_->code.size() * kMethod + tables_->types.size() * kType;
}

size_t Target::UnresolvedAddresses() const {
  const auto& addresses = tables_->stacks.addresses();
  return static_cast<size_t>(
      std::count_if(addresses.begin(), addresses.end(), [this](const profile::CodeAddress& a) {
        // A rundown tells no names of native libraries, which alone have a build id.
        const profile::CodeAt at =
            profile::WhatIsAt(tables_->code, tables_->images, a.address, a.first_ns);
        return at.kind != profile::CodeAt::Kind::kMethod &&
               (at.image == nullptr || at.image->build_id.value == 0);
      }));
}

void Target::FinishLines() {
  if (lines_ == nullptr) return;
  const std::vector<std::string> without = lines_->Finish(home_.recording->strings, *tables_);
  if (without.empty()) return;
  constexpr size_t kNamed = 3;
  std::string named;
  for (size_t i = 0; i < std::min(kNamed, without.size()); ++i)
    named += (i == 0 ? "" : "; ") + without[i];
  if (without.size() > kNamed) named += fmt::format("; and {} more", without.size() - kNamed);
  notes_.push_back("code of the program without source lines: " + named +
                   " (report --symbols DIR finds them later)");
}

bool Target::ReadImages() {
  const auto mapped = image_reader_.Read(home_.recording->strings);
  if (mapped) TakeImages(*mapped);
  return mapped.has_value();
}

void Target::SeeMaps(const std::string& maps) {
  if (maps.empty()) return;
  if (const auto mapped = image_reader_.Parse(maps, home_.recording->strings)) TakeImages(*mapped);
}

void Target::TakeImages(const std::vector<profile::Image>& mapped) {
  const int64_t now_ns = home_.clock->now_ns();
  uint64_t left_out = 0;
  for (const profile::Image& gone : tables_->images.Look(mapped, now_ns, &left_out)) {
    // Samples that wait may be of what was mapped before.
    if (cpu_stacks_ != nullptr)
      cpu_stacks_->OnUnmapped(gone.start, gone.end - gone.start, now_ns);
    else
      fold_->Retire(gone.start, gone.end - gone.start);
  }
  tables_->losses.Set(Loss::kImagesCapped, left_out);
}

bool Target::NameTheLast(int64_t now_ns) {
  FlushCpu();
  native_namer_.Look(*tables_, home_.recording->strings);
  if (names_until_ns_ == 0) names_until_ns_ = now_ns + kNamesPatienceNs;
  return native_namer_.idle() || now_ns >= names_until_ns_;
}

void Target::Close() {
  for (Live& s : sessions_) NoteLosses(s);
  Finish();
  FinishLines();
  if (type_namer_ != nullptr) {
    if (modules_told_ == TypeNamer::Modules::kComing) modules_told_ = TypeNamer::Modules::kSome;
    type_namer_->Finish(*fold_, home_.recording->strings, modules_told_);
  }
  for (const auto& file : kept_) {
    if (file->bytes_lost() != 0) tables_->losses.Add(Loss::kRawBytesNotKept, file->bytes_lost());
    if (file->error())
      notes_.push_back(fmt::format("{}; it holds the first {} bytes of its stream",
                                   file->error()->message, file->bytes_written()));
  }
  native_namer_.End(*tables_);
  if (cut_off_) tables_->losses.Add(Loss::kTargetLost);
  tables_->info.end_ns = std::max(tables_->info.start_ns, fold_->last_ns());
  tables_->info.complete = !abandoned_ && !cut_off_;
}

}  // namespace clrscope::capture
