// SPDX-License-Identifier: Apache-2.0
#include "capture/live_view.h"

#include <fmt/format.h>

#include "analysis/bind.h"

namespace clrscope::capture {

using profile::Source;

LiveView::LiveView(SessionEngine* engine) : engine_(engine) { OnRotated(); }

void LiveView::OnRotated() {
  second_ = std::make_unique<analysis::Aggregate>(&engine_->recording());
  since_start_ = std::make_unique<analysis::Aggregate>(&engine_->recording());
  slices_ = false;
  ids_.clear();
  for (const auto& target : engine_->targets())
    for (uint32_t id = 0; id < processes_.size(); ++id) {
      const auto& known = tables_.processes()[id];
      if (known.ended || known.pid != target->tables().info.pid) continue;
      if (ids_.size() <= target->index()) ids_.resize(target->index() + 1);
      ids_[target->index()] = id;
      processes_[id].index = target->index();
    }
}

void LiveView::OnJoined(const Target& target) {
  const profile::Process& info = target.tables().info;
  const StringPool& strings = engine_->recording().strings;
  const uint32_t id = tables_.AddProcess(info.pid, strings.Get(info.name));
  if (ids_.size() <= target.index()) ids_.resize(target.index() + 1);
  ids_[target.index()] = id;
  processes_.resize(id + 1);
  processes_[id].index = target.index();
  processes_[id].runtime = strings.Get(info.runtime);
}

void LiveView::OnSlice(const profile::Slice& slice) {
  second_->Add(slice);
  since_start_->Add(slice);
  slices_ = true;
}

void LiveView::OnEnded(const Target& target) {
  if (target.index() < ids_.size()) tables_.MarkEnded(ids_[target.index()]);
  since_start_->Drop(target.index());
}

void LiveView::OnTick(int64_t now_ns) {
  now_ns_ = now_ns;
  ++ticks_;
  const profile::Recording& recording = engine_->recording();
  bool any = false;
  // Old and new runtimes side by side: each by its own event.
  for (const Source source : {Source::kSampled, Source::kTick}) {
    if (!slices_) break;
    analysis::BindOptions options;
    options.source = source;
    const profile::Profile p = analysis::Bind(recording, *second_, options);
    if (p.cells.empty()) continue;
    any = true;
    for (const profile::Cell& c : p.cells) {
      if (c.process >= ids_.size()) continue;
      ProcessState& state = processes_[ids_[c.process]];
      state.by_kind[static_cast<size_t>(c.kind)] += c.value;
      state.biased = state.biased || p.biased();
    }
    tables_.AddSecond(ticks_, p, ids_);
  }
  if (!any) tables_.AddSecond(ticks_, profile::Profile(), {});
  for (uint32_t id = 0; id < processes_.size(); ++id)
    if (processes_[id].index < recording.processes.size() && ids_[processes_[id].index] == id)
      ReadCounters(id);
  second_ = std::make_unique<analysis::Aggregate>(&recording);
  slices_ = false;
}

void LiveView::ReadCounters(uint32_t id) {
  ProcessState& state = processes_[id];
  profile::ProcessTables& t = *engine_->recording().processes[state.index];
  // Nobody writes the GCs down: those that are complete are counted and go.
  std::erase_if(t.gcs, [&](const profile::GcRow& gc) {
    if (gc.end_ns < 0 || gc.size_after[0] < 0) return false;
    if (gc.generation >= 0 && gc.generation < 3)
      ++state.collections[static_cast<size_t>(gc.generation)];
    if (gc.number >= state.last_gc.number) state.last_gc = gc;
    return true;
  });
  state.pauses = t.gc_pauses;
  state.pause_ns = t.gc_pause_ns;
  state.dropped = t.losses[Loss::kEventsDropped];
  state.samples = t.source_samples[static_cast<size_t>(Source::kSampled)] +
                  t.source_samples[static_cast<size_t>(Source::kTick)];
}

void LiveView::OnSkipped(const ipc::DotnetProcess& process, const Error& error) {
  notes_.push_back(fmt::format("{} ({}): {}", process.name, process.pid, error.message));
}

profile::Profile LiveView::SinceStart(Source source) const {
  analysis::BindOptions options;
  options.source = source;
  return analysis::Bind(engine_->recording(), *since_start_, options);
}

}  // namespace clrscope::capture
