// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/live_view.h"

#include <fmt/format.h>

#include "analysis/bind.h"
#include "capture/proc/thread_times.h"
#include "profile/views/filter.h"

namespace clrscope::capture {

using profile::Source;

namespace {
constexpr uint32_t kNobody = ~0u;
}

LiveView::LiveView(SessionEngine* engine) : engine_(engine) {
  for (const profile::MeasureSpec& m : profile::kMeasureSpecs) tables_.emplace_back(m.id);
  BeginAggregates();
}

void LiveView::BeginAggregates() {
  BeginSecond();
  since_start_ = std::make_unique<analysis::Aggregate>(
      &engine_->recording(), analysis::TimeRange{},
      analysis::Aggregate::Detail{.threads = false, .times = false, .requests = requests_},
      analysis::Aggregate::Keep::kSums);
  slices_ = false;
}

bool LiveView::RotateIfDue(int64_t rotate_ns) {
  if (now_ns_ < rotate_ns) return false;
  rotating_ = true;
  next_ids_.clear();
  const auto old = engine_->Rotate();
  // The last slices come after the last tick.
  if (slices_) BindSecond(*old);
  for (ProcessState& state : processes_) {
    state.earlier_pauses = state.pauses;
    state.earlier_pause_ns = state.pause_ns;
    state.earlier_samples = state.samples;
    state.earlier_dropped = state.dropped;
  }
  before_ns_ += old->end_ns;
  now_ns_ = 0;
  ids_.swap(next_ids_);
  for (uint32_t index = 0; index < ids_.size(); ++index)
    if (ids_[index] != kNobody) processes_[ids_[index]].index = index;
  BeginAggregates();
  rotating_ = false;
  return true;
}

void LiveView::OnJoined(const Target& target) {
  const profile::Process& info = target.tables().info;
  std::vector<uint32_t>& ids = rotating_ ? next_ids_ : ids_;
  if (ids.size() <= target.index()) ids.resize(target.index() + 1, kNobody);
  if (rotating_) {  // it goes on
    for (uint32_t id = 0; id < processes_.size(); ++id)
      if (!tables_[0].processes()[id].ended && tables_[0].processes()[id].pid == info.pid)
        ids[target.index()] = id;
    return;
  }
  const StringPool& strings = engine_->recording().strings;
  uint32_t id = 0;
  for (analysis::LiveTables& t : tables_) id = t.AddProcess(info.pid, strings.Get(info.name));
  ids[target.index()] = id;
  processes_.resize(id + 1);
  processes_[id].index = target.index();
  processes_[id].runtime = strings.Get(info.runtime);
  processes_[id].measures = info.measures;
  processes_[id].event_sources_off = target.process().event_sources_off;
  if (!requests_ && info.Recorded(profile::Measure::kRequests)) {
    requests_ = true;
    if (!slices_) BeginAggregates();
  }
}

void LiveView::OnSlice(const profile::Slice& slice) {
  second_->Add(slice);
  since_start_->Add(slice);
  slices_ = true;
}

void LiveView::OnEnded(const Target& target) {
  if (target.index() < ids_.size() && ids_[target.index()] != kNobody)
    for (analysis::LiveTables& t : tables_) t.MarkEnded(ids_[target.index()]);
  since_start_->Drop(target.index());
}

void LiveView::OnRenamed(const Target& target, const RenamedType& renamed) {
  // Rows of a name that other types have too are of all of these.
  if (!renamed.alone || target.index() >= ids_.size() || ids_[target.index()] == kNobody) return;
  const uint32_t id = ids_[target.index()];
  for (analysis::LiveTables& t : tables_) t.Rename(id, renamed.from, renamed.to);
  auto& exceptions = processes_[id].exceptions;
  if (const auto it = exceptions.find(renamed.from); it != exceptions.end()) {
    const double count = it->second;
    exceptions.erase(it);
    exceptions[renamed.to] += count;
  }
}

void LiveView::OnTick(int64_t now_ns) {
  now_ns_ = now_ns;
  ++ticks_;
  const profile::Recording& recording = engine_->recording();
  for (analysis::LiveTables& t : tables_) t.AddSecond(ticks_, profile::Profile(), {});
  if (slices_) BindSecond(recording);
  for (uint32_t index = 0; index < ids_.size(); ++index)
    if (index < recording.processes.size() && ids_[index] != kNobody) ReadCounters(ids_[index]);
}

// Old and new runtimes side by side: each by its own event.
void LiveView::BindSecond(const profile::Recording& recording) {
  for (const Source source : {Source::kSampled, Source::kTick}) {
    analysis::BindOptions options;
    options.source = source;
    options.one_second = true;
    profile::Profile p = analysis::Bind(recording, *second_, options);
    for (const profile::Cell& c : p.shown().cells) {
      if (c.process >= ids_.size() || ids_[c.process] == kNobody) continue;
      ProcessState& state = processes_[ids_[c.process]];
      state.by_kind[static_cast<size_t>(c.kind)] += c.value;
      state.biased = state.biased || p.biased();
    }
    if (!p.shown().cells.empty()) tables_[0].AddSecond(ticks_, p, ids_);
    if (requests_) CountRoutes(p, source == Source::kSampled);
    if (source == Source::kTick) continue;  // events are the same in both
    (void)profile::Apply({}, p);            // without idle threads
    CountEvents(p);
    for (p.shown_index = 1; p.shown_index < p.figures.size(); ++p.shown_index)
      tables_[static_cast<size_t>(p.shown().measure)].AddSecond(ticks_, p, ids_);
  }
  BeginSecond();
  slices_ = false;
}

void LiveView::BeginSecond() {
  second_ = std::make_unique<analysis::Aggregate>(
      &engine_->recording(), analysis::TimeRange{},
      analysis::Aggregate::Detail{.threads = false, .times = false, .requests = requests_});
}

LiveView::ProcessState::Route* LiveView::RouteOf(uint32_t process, std::string_view name) {
  if (process >= ids_.size() || ids_[process] == kNobody) return nullptr;
  auto& routes = processes_[ids_[process]].routes;
  const bool room = routes.size() < kMostRoutes || routes.contains(name);
  return &routes[std::string(room ? name : profile::kOtherRoutes)];
}

// `events`: these too, which are the same whatever samples `p` rests on.
void LiveView::CountRoutes(const profile::Profile& p, bool events) {
  using profile::Measure;
  for (const profile::Figure& f : p.figures) {
    if (!f.by_request() || (!events && profile::IsEvent(f.source))) continue;
    for (const profile::Cell& c : f.cells) {
      ProcessState::Route* route = RouteOf(c.process, p.RequestName(p.labels[c.labels]));
      if (route == nullptr) continue;
      if (f.measure == Measure::kRequests) {
        if (processes_[ids_[c.process]].counted) continue;
        route->requests += c.value.count;
        route->seconds += c.value.amount / 1e9;
      } else if (f.measure == Measure::kAllocations) {
        route->bytes += c.value.amount;
      } else if (f.measure == Measure::kExceptions) {
        route->exceptions += c.value.count;
      } else if (f.measure == Measure::kLocks) {
        route->lock_wait_s += c.value.amount / 1e9;
      }
    }
  }
  if (!events) return;
  for (const profile::RouteFacts& f : p.requests.routes) {
    if (f.counted == 0) continue;
    ProcessState::Route* route = RouteOf(f.process, p.str(f.route));
    if (route == nullptr) continue;
    route->errors += f.failed;
    // Exact in windows of time, too. Those of before the first value are among them.
    ProcessState& state = processes_[ids_[f.process]];
    if (!std::exchange(state.counted, true))
      for (auto& [name, of_before] : state.routes) of_before.requests = of_before.seconds = 0;
    route->requests += f.counted;
    route->seconds += f.counted_ns / 1e9;
  }
}

void LiveView::CountEvents(const profile::Profile& p) {
  for (uint32_t i = 0; i < p.processes.size() && i < ids_.size(); ++i)
    if (ids_[i] != kNobody) processes_[ids_[i]].modes_told = p.processes[i].modes_told;
  for (const profile::Figure& f : p.figures) {
    if (!profile::IsEvent(f.source)) continue;
    for (const profile::Cell& c : f.cells) {
      if (c.process >= ids_.size() || ids_[c.process] == kNobody) continue;
      ProcessState& state = processes_[ids_[c.process]];
      state.events[static_cast<size_t>(f.measure)] += c.value;
      if (f.measure == profile::Measure::kCpu)
        state.cpu_ns[static_cast<size_t>(p.frames[p.nodes[c.node].frame].kind)] += c.value.amount;
      if (f.measure == profile::Measure::kWall)
        if (const uint64_t s = p.labels[c.labels][profile::LabelKey::kState];
            s < state.wall_ns.size())
          state.wall_ns[s] += c.value.amount;
      if (f.measure != profile::Measure::kExceptions) continue;
      const std::string_view name = p.str(p.types[c.type].name);
      const bool known = state.exceptions.contains(name);
      const bool room = state.exceptions.size() < kMostExceptionTypes;
      state.exceptions[std::string(known || room ? name : "(other)")] += c.value.count;
    }
  }
}

void LiveView::ReadCounters(uint32_t id) {
  ProcessState& state = processes_[id];
  profile::ProcessTables& t = *engine_->recording().processes[state.index];
  // Nobody writes the GCs down: they are counted and go.
  for (const profile::PackedGc& gc : t.gcs) {
    if (!gc.ended() || !gc.has(profile::kGcHasStats)) continue;
    if (gc.generation >= 0 && gc.generation < 3)
      ++state.collections[static_cast<size_t>(gc.generation)];
    if (gc.number >= state.last_gc.number) state.last_gc = gc.Unpack();
  }
  t.gcs.clear();
  state.pauses = state.earlier_pauses + t.info.gc.pauses;
  state.pause_ns = state.earlier_pause_ns + t.info.gc.paused_ns;
  state.dropped = state.earlier_dropped + t.losses[Loss::kEventsDropped];
  state.pool_threads = t.pool_threads;
  state.pool_queue = t.pool_queue;
  state.cpu_s_before = state.cpu_s;
  state.cpu_s = ProcessCpuSeconds(static_cast<pid_t>(t.info.pid)).value_or(-1);
  state.samples = state.earlier_samples + t.source_samples[static_cast<size_t>(Source::kSampled)] +
                  t.source_samples[static_cast<size_t>(Source::kTick)];
}

void LiveView::OnSkipped(const ipc::DotnetProcess& process, const Error& error) {
  notes_.push_back(fmt::format("not shown: {} ({}): {}", process.name, process.pid, error.message));
}

void LiveView::OnNote(const Target& target, const std::string& note) {
  notes_.push_back(fmt::format("{} ({}): {}", target.process().name, target.process().pid, note));
}

profile::Profile LiveView::SinceStart(Source source) const {
  analysis::BindOptions options;
  options.source = source;
  profile::Profile p = analysis::Bind(engine_->recording(), *since_start_, options);
  (void)profile::Apply({}, p);  // without idle threads
  return p;
}

}  // namespace clrscope::capture
