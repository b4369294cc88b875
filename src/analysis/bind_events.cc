// SPDX-License-Identifier: Apache-2.0
#include "analysis/bind_events.h"

#include <algorithm>
#include <utility>

#include "analysis/families/exceptions/throw_rule.h"
#include "analysis/families/locks/wait_rule.h"
#include "analysis/families/wall/state_rule.h"
#include "analysis/families/wall/thread_modes.h"
#include "analysis/families/windows/window_sums.h"

namespace clrscope::analysis {

using profile::Source;

namespace {

// Of a measure that was recorded, though nothing came.
Source SourceAskedFor(const profile::Process& process, profile::Measure measure) {
  const bool runtime = process.sampler == profile::CpuSampler::kRuntime;
  for (const profile::SourceSpec& source : profile::kSourceSpecs)
    if (source.measure == measure &&
        (source.id == Source::kThreadCpu || source.id == Source::kThreadWall) == runtime)
      return source.id;
  for (const profile::SourceSpec& source : profile::kSourceSpecs)
    if (source.measure == measure) return source.id;
  return Source::kForeign;
}

uint64_t SamplesOf(const profile::Recording& recording, const Aggregate& aggregate, size_t process,
                   Source source) {
  const profile::ProcessTables& t = *recording.processes[process];
  // Captures keep those of the whole recording, but for captures of earlier builds.
  if (const uint64_t samples = t.source_samples[static_cast<size_t>(source)]; samples != 0)
    return samples;
  uint64_t sum = 0;
  if (process < aggregate.sums().size())
    for (size_t s = 0; s < aggregate.sums()[process].size(); ++s)
      if (t.series.keys()[s].source() == source) sum += aggregate.sums()[process][s].samples;
  return sum;
}

// What the stack says of a thread that did not run, where its source did not.
//   untold: the source does not know whether it ran
profile::LabelSet WithState(const profile::Profile& p, uint32_t node,
                            const profile::LabelSet& labels, bool untold) {
  using profile::ThreadState;
  const auto told = static_cast<ThreadState>(labels[profile::LabelKey::kState]);
  if (untold || told == ThreadState::kUnknown)
    return labels.With(profile::LabelKey::kState,
                       static_cast<uint64_t>(WhereNothingTells(p, node)));
  // The system call of a blocked thread says less than its callers do.
  if (told != ThreadState::kBlockedUnknown && told != ThreadState::kIo &&
      told != ThreadState::kSleep)
    return labels;
  ThreadState state = WhyBlocked(p, node);
  if (state == ThreadState::kBlockedUnknown) state = told;
  return labels.With(profile::LabelKey::kState, static_cast<uint64_t>(state));
}

}  // namespace

// What samples say of threads that ran is none where they do not tell it.
bool EventBinder::HasSamples(const profile::Recording& recording, size_t process,
                             Source source) const {
  const profile::ProcessTables& t = *recording.processes[process];
  if (source == Source::kThreadCpu && !modes_told_[process]) return false;
  return t.source_samples[static_cast<size_t>(source)] != 0 ||
         std::any_of(t.series.keys().begin(), t.series.keys().end(),
                     [&](const profile::SeriesKey& k) { return k.source() == source; });
}

void EventBinder::MakeFigures(const profile::Recording& recording, const Aggregate& aggregate) {
  const size_t processes = recording.processes.size();
  for (size_t p = 0; p < processes; ++p) {
    const uint64_t all = SamplesOf(recording, aggregate, p, Source::kThreadWall);
    const profile::Process& info = recording.processes[p]->info;
    modes_told_.push_back((all == 0 && info.sampler != profile::CpuSampler::kRuntime) ||
                          ThreadModesTold(recording.strings.Get(info.runtime),
                                          recording.processes[p]->code.size() != 0,
                                          SamplesOf(recording, aggregate, p, Source::kThreadCpu),
                                          all));
  }
  const auto any_has = [&](const profile::SourceSpec& source) {
    for (size_t p = 0; p < processes; ++p)
      if (HasSamples(recording, p, source.id)) return true;
    return false;
  };
  const auto measured = [&](profile::Measure measure) {
    return std::any_of(
        profile::kSourceSpecs.begin(), profile::kSourceSpecs.end(),
        [&](const profile::SourceSpec& s) { return s.measure == measure && any_has(s); });
  };
  for (const profile::SourceSpec& source : profile::kSourceSpecs) {
    if (!profile::IsEvent(source.id)) continue;
    bool there = any_has(source);
    for (size_t p = 0; p < processes && !there; ++p) {
      const profile::Process& info = recording.processes[p]->info;
      there = info.Recorded(source.measure) && source.id == SourceAskedFor(info, source.measure) &&
              (source.id != Source::kThreadCpu || modes_told_[p]) && !measured(source.measure);
    }
    if (!there) continue;
    const auto same =
        std::find_if(out_.figures.begin(), out_.figures.end(),
                     [&](const profile::Figure& f) { return f.measure == source.measure; });
    if (same != out_.figures.end()) {
      if (any_has(source)) same->also.push_back(source.id);
      continue;
    }
    profile::Figure& figure = out_.figures.emplace_back();
    figure.measure = source.measure;
    figure.source = source.id;
  }
}

uint32_t EventBinder::CellAt(profile::Figure& figure, uint32_t process, uint32_t node,
                             uint32_t type, const profile::LabelSet& labels) {
  const uint32_t label = tree_.LabelFor(labels);
  const auto [cell, new_cell] = cells_.try_emplace({figure.measure, process, node, type, label},
                                                   static_cast<uint32_t>(figure.cells.size()));
  if (new_cell)
    figure.cells.push_back({node, type, process, profile::HeapKind::kUnknown, {}, label});
  return cell->second;
}

void EventBinder::Add(Source source, uint32_t process, uint32_t node, uint32_t type,
                      const profile::LabelSet& labels, std::span<const Aggregate::Moment> moments) {
  const auto figure =
      std::find_if(out_.figures.begin(), out_.figures.end(), [source](const profile::Figure& f) {
        return f.measure == profile::MeasureOf(source) && IsEvent(f.source);
      });
  const bool untold = !modes_told_[process];  // of samples of the runtime's
  if (figure == out_.figures.end() || (untold && source == Source::kThreadCpu)) return;
  bool again = false;
  if (source == Source::kRequest) {
    windows_.Add(process, labels, moments);
    reexecution_.Add(process, labels, moments);
    if (labels[profile::LabelKey::kRequestPart] != 0) return AddFacts(process, labels, moments);
  }
  if (source == Source::kException) {
    const Throw t = ThrowAt(out_, node, out_.str(out_.types[type].name));
    node = t.node;
    again = t.again;
  } else if (source == Source::kWait && IsRuntimesOwnWait(out_, node)) {
    return;
  } else if (labels[profile::LabelKey::kUnfinished] != 0 && MayHaveGivenUp(out_, node)) {
    for (const Aggregate::Moment& m : moments) out_.losses.Add(Loss::kWaitsUnended, m.sums.samples);
    return;
  }
  const uint64_t window = labels[profile::LabelKey::kWindow];
  if (window >= profile::kStormWindows) return storms_.Add(process, window, 0, false, moments);
  const uint32_t cell = CellAt(*figure, process, node, type,
                               WithState(out_, node, labels.With(profile::LabelKey::kWindow, 0),
                                         untold && source == Source::kThreadWall));
  if (window != 0) return storms_.Add(process, window, cell, again, moments);
  const profile::SeriesKey key =
      profile::SeriesKey::Make(0, 0, profile::HeapKind::kUnknown, source, 0);
  for (const Aggregate::Moment& m : moments) {
    profile::Estimate e = EstimateOf(key, m.sums);
    if (again) {
      e.amount += std::exchange(e.count, 0);
      e.seen_amount = e.amount;
      e.seen_count = 0;
    }
    figure->cells[cell].value += e;
    figure->timed.push_back({cell, m.start_ns, m.end_ns, e});
  }
}

profile::RouteFacts& EventBinder::FactsOf(uint32_t process, uint64_t route) {
  std::vector<profile::RouteFacts>& all = out_.requests.routes;
  const auto [it, is_new] = facts_.try_emplace({process, route}, all.size());
  if (is_new) {
    all.emplace_back();
    all.back().process = process;
    all.back().route = StringId(static_cast<uint32_t>(route));
  }
  return all[it->second];
}

void EventBinder::NoteRoute(uint32_t process, StringId name, const profile::RequestRoute& route,
                            StringId of, const StringPool& strings) {
  reexecution_.NoteRoute(process, name, route.kind, strings.Get(route.method),
                         strings.Get(route.text), of);
  profile::RouteFacts& facts = FactsOf(process, name.value);
  facts.max_ns = std::max(facts.max_ns, route.max_ns);
  if (of.value == 0) return;
  facts.of = of;
  windows_.NoteAction(process, name, of);
}

// What the histogram counts to an error page goes back to the routes that its requests are of.
void EventBinder::FinishReexecuted(bool whole) {
  for (const Reexecution::Move& m : reexecution_.Finish(whole)) {
    const auto move = [&m](profile::RouteFacts& f, double sign) {
      f.counted = std::max(0.0, f.counted + sign * m.count);
      f.counted_ns = std::max(0.0, f.counted_ns + sign * m.ns);
      if ((m.status & 1) != 0) f.failed = std::max(0.0, f.failed + sign * m.count);
      double& status = f.statuses[static_cast<uint32_t>(m.status >> 1)];
      status = std::max(0.0, status + sign * m.count);
      constexpr double kNone = 0.5;
      if (status < kNone) f.statuses.erase(static_cast<uint32_t>(m.status >> 1));
      if (f.counted < kNone) f.counted = f.counted_ns = f.failed = 0;
      f.statuses_sure = f.statuses_sure && m.sure;
    };
    move(FactsOf(m.process, m.page.value), -1);
    FactsOf(m.process, m.page.value).error_page = true;
    profile::RouteFacts& facts = FactsOf(m.process, m.route.value);
    move(facts, 1);
    facts.reexecuted += m.count;
    windows_.NoteMoved(m.process, m.page, m.route, m.count);
  }
}

profile::IdleFacts::Of& EventBinder::IdleOf(profile::IdleFacts& idle,
                                            const profile::LabelSet& labels) {
  if (labels[profile::LabelKey::kRequestWindow] == 0) return idle.whole;
  return idle.ages[static_cast<uint16_t>(labels[profile::LabelKey::kAge])];
}

void EventBinder::AddFacts(uint32_t process, const profile::LabelSet& labels,
                           std::span<const Aggregate::Moment> moments) {
  using profile::RequestPart;
  if (static_cast<RequestPart>(labels[profile::LabelKey::kRequestPart]) == RequestPart::kWindows)
    return;
  profile::RouteFacts& facts = FactsOf(process, labels[profile::LabelKey::kRequest]);
  double count = 0, ns = 0;
  for (const Aggregate::Moment& m : moments) {
    count += static_cast<double>(m.sums.stands_for);
    ns += static_cast<double>(m.sums.amount);
  }
  switch (static_cast<RequestPart>(labels[profile::LabelKey::kRequestPart])) {
    case RequestPart::kCounted: {
      const uint64_t status = labels[profile::LabelKey::kStatus];
      facts.counted += count;
      facts.counted_ns += ns;
      if ((status & 1) != 0) facts.failed += count;
      facts.statuses[static_cast<uint32_t>(status >> 1)] += count;
      return;
    }
    case RequestPart::kGcWaited:  // in windows, by their weight
      if (labels[profile::LabelKey::kRequestWindow] == 0) facts.gc_waited_ns += ns;
      return;
    case RequestPart::kGcCaused:
      facts.gc_caused_ns += ns;
      return;
    case RequestPart::kUnended:
      facts.unended += count;
      return;
    case RequestPart::kFailed:  // in windows, by their weight
      if (labels[profile::LabelKey::kRequestWindow] == 0) facts.failed += count;
      return;
    case RequestPart::kIdleWatched:
      IdleOf(facts.idle, labels).watched += count;
      return;
    case RequestPart::kQueued:
      IdleOf(facts.idle, labels).queued_ns += ns;
      return;
    case RequestPart::kAwaited:
      IdleOf(facts.idle, labels).awaiting_ns += ns;
      return;
    case RequestPart::kChild:  // in windows, by their weight
      if (labels[profile::LabelKey::kRequestWindow] == 0)
        facts.ChildOf(StringId(static_cast<uint32_t>(labels[profile::LabelKey::kOperation])))
            .Add(labels, count, ns);
      return;
    case RequestPart::kEnded:
    case RequestPart::kWatched:
    case RequestPart::kWindows:
    case RequestPart::kMatched:
    case RequestPart::kUncounted:
    case RequestPart::kLooked:
      return;
  }
}

// The cell of what no window saw is there, even if windows saw everything.
void EventBinder::FinishStorms(profile::Figure& figure) {
  if (storms_.empty()) return;
  storms_.Finish(figure, one_second_);
  std::vector<uint32_t> place(figure.cells.size());
  uint32_t kept = 0;
  for (uint32_t i = 0; i < figure.cells.size(); ++i) {
    const profile::Estimate& value = figure.cells[i].value;
    place[i] = kept;
    if (value.samples == 0 && value.count == 0 && value.amount == 0) continue;
    if (kept != i) figure.cells[kept] = std::move(figure.cells[i]);
    ++kept;
  }
  figure.cells.resize(kept);
  for (profile::TimedCell& t : figure.timed) t.cell = place[t.cell];
}

// Storms know their cells by number, which windows of requests change.
void EventBinder::FinishWindows(const profile::Recording& recording, bool whole) {
  for (uint32_t p = 0; p < recording.processes.size(); ++p)
    storms_.NoteUncounted(p,
                          UncountedSeconds(recording.processes[p]->losses, Loss::kStormUncounted));
  for (profile::Figure& figure : out_.figures)
    if (figure.source == Source::kException) FinishStorms(figure);
  FinishReexecuted(whole);
  if (!windows_.empty()) windows_.Finish(out_);
}

void EventBinder::Finish() {
  for (profile::Figure& figure : out_.figures) {
    if (!profile::IsEvent(figure.source)) continue;
    SumUpCells(figure, out_.labels);
    const profile::Estimate all = figure.clocked() ? figure.Total() : profile::Estimate();
    figure.clock_samples = static_cast<double>(all.samples);
    figure.clock_amount = all.amount - all.seen_amount;
    // Where it is known what threads did for requests. Wall time is not kept by request.
    if (figure.measure == profile::Measure::kCpu)
      figure.cells_by_request =
          std::any_of(out_.requests.routes.begin(), out_.requests.routes.end(),
                      [](const profile::RouteFacts& f) { return f.idle.watched() > 0; });
  }
  for (profile::Figure& cpu : out_.figures) {
    const profile::Figure* wall = out_.Find(profile::Measure::kWall);
    if (cpu.source != Source::kThreadCpu || wall == nullptr) continue;
    cpu.clock_samples = wall->clock_samples;
    cpu.clock_amount = wall->clock_amount;
  }
  std::stable_sort(out_.requests.slowest.begin(), out_.requests.slowest.end(),
                   [](const auto& a, const auto& b) { return a.duration_ns > b.duration_ns; });
}

}  // namespace clrscope::analysis
