// SPDX-License-Identifier: Apache-2.0
#include "analysis/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/bind_agent.h"
#include "analysis/bind_events.h"
#include "analysis/families/allocations/allocation_windows.h"
#include "analysis/families/requests/route_names.h"
#include "analysis/families/windows/window_sums.h"
#include "analysis/profile_tree.h"
#include "base/agent_name.h"
#include "base/flat_map.h"
#include "clr/method_name.h"
#include "clr/type_name.h"
#include "profile/estimate/type_sizes.h"
#include "profile/shown_names.h"
#include "profile/stacks/code_at.h"
#include "profile/stacks/made_up_frames.h"
#include "profile/views/show_live.h"
#include "profile/views/tables.h"

namespace clrscope::analysis {
namespace {

using profile::Estimate;
using profile::HeapKind;
using profile::Profile;
using profile::Source;
using profile::StackTree;

bool AnyEventLost(const LossCounters& losses) {
  static constexpr Loss kLost[] = {
      Loss::kEventsDropped, Loss::kBytesDiscarded,  Loss::kBlocksDiscarded,   Loss::kTruncatedInput,
      Loss::kUnknownBlock,  Loss::kUnknownMetadata, Loss::kUnsupportedVersion};
  return std::any_of(std::begin(kLost), std::end(kLost),
                     [&losses](Loss loss) { return losses[loss] != 0; });
}

// What was asked for by `--types` is what people want to see.
bool CountsWereAskedFor(const profile::Recording& recording) {
  return std::any_of(recording.processes.begin(), recording.processes.end(), [](const auto& t) {
    return t->counting.mode != profile::CountMode::kUnknown;
  });
}

Source ChooseSource(const profile::Recording& recording, const Aggregate& aggregate,
                    const BindOptions& options, std::vector<Source>& also) {
  std::array<uint64_t, profile::kSources> samples{};
  for (size_t p = 0; p < aggregate.sums().size(); ++p) {
    const auto& keys = recording.processes[p]->series.keys();
    for (size_t s = 0; s < aggregate.sums()[p].size(); ++s)
      samples[static_cast<size_t>(keys[s].source())] += aggregate.sums()[p][s].samples;
  }
  if (std::all_of(samples.begin(), samples.end(), [](uint64_t n) { return n == 0; }))
    for (const auto& tables : recording.processes)
      for (size_t i = 0; i < samples.size(); ++i) samples[i] += tables->source_samples[i];
  // Where no session sampled, the agent's flows count.
  for (const auto& [p, agent] : aggregate.agents())
    for (const auto& [key, value] : agent.flows)
      samples[static_cast<size_t>(recording.processes[p]->agent.source)] += value.samples;
  Source chosen = samples[0] != 0 ? Source::kForeign : Source::kSampled;
  if (options.source) {
    chosen = *options.source;
  } else if (CountsWereAskedFor(recording)) {
    chosen = Source::kCounted;
  } else {
    for (const Source s : {Source::kSampled, Source::kTick, Source::kCounted}) {
      if (samples[static_cast<size_t>(s)] == 0) continue;
      chosen = s;
      break;
    }
  }
  for (const Source s : {Source::kSampled, Source::kTick, Source::kCounted})
    if (s != chosen && samples[static_cast<size_t>(s)] != 0) also.push_back(s);
  return chosen;
}

// Binds one recording; one object so that the caches have a home.
class Binder final : private AddressNames {
 public:
  // `owned`: the same recording when it is not needed afterwards.
  Binder(const profile::Recording& recording, const Aggregate& aggregate,
         const BindOptions& options, profile::Recording* owned = nullptr)
      : recording_(recording), aggregate_(aggregate), options_(options), owned_(owned) {}

  Profile Run() {
    out_.shown().source = ChooseSource(recording_, aggregate_, options_, out_.shown().also);
    out_.start_unix_ns = recording_.start_unix_ns;
    out_.duration_ns = recording_.end_ns;
    out_.complete = recording_.complete;
    out_.origin = recording_.origin;
    out_.losses = recording_.losses;
    out_.whole = aggregate_.whole();
    out_.frames.push_back({});  // of the root
    out_.nodes.push_back({});
    const bool both = ChooseSources();
    events_.MakeFigures(recording_, aggregate_);
    for (uint32_t p = 0; p < recording_.processes.size(); ++p) BindProcess(p);
    FinishAllocationWindows();
    events_.FinishWindows(recording_, !options_.one_second && aggregate_.whole());
    if (out_.shown().mixed && !both) std::erase(out_.shown().also, Source::kTick);
    if (out_.counted()) MarkPartialTypes();
    SortCells(out_.shown());
    for (const auto& [key, value] : aggregate_.times())
      if (key.source == SourceOf(key.process))
        times_[{key.start_ns, key.end_ns, key.process, key.kind}] += value;
    for (const auto& [key, value] : times_)
      out_.shown().times.push_back(
          {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), value});
    for (const auto& [key, value] : aggregate_.threads())
      if (std::get<3>(key) == SourceOf(std::get<0>(key)))
        threads_[{std::get<0>(key), std::get<1>(key), std::get<2>(key)}] += value;
    for (const auto& [key, value] : threads_)
      out_.shown().threads.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), value});
    events_.Finish();
    FinishDetail();
    profile::MarkTypeSizes(out_);
    profile::FinishAgentFigures(out_);
    return std::move(out_);
  }

 private:
  void SortCells(profile::Figure& figure) {
    const auto before = [](const profile::Cell& a, const profile::Cell& b) {
      return std::tie(a.process, a.node, a.type, a.kind, a.labels) <
             std::tie(b.process, b.node, b.type, b.kind, b.labels);
    };
    if (figure.timed.empty()) return std::sort(figure.cells.begin(), figure.cells.end(), before);
    std::vector<uint32_t> order(figure.cells.size()), place(figure.cells.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return before(figure.cells[a], figure.cells[b]); });
    std::vector<profile::Cell> cells;
    cells.reserve(order.size());
    for (const uint32_t old : order) {
      place[old] = static_cast<uint32_t>(cells.size());
      cells.push_back(figure.cells[old]);
    }
    figure.cells.swap(cells);
    for (profile::TimedCell& t : figure.timed) t.cell = place[t.cell];
  }

  std::string_view Str(StringId id) const { return recording_.strings.Get(id); }
  StringId Copy(StringId id) { return out_.strings.Intern(Str(id)); }

  // From .NET 10 on boxes and what else is made by this method come from a fast path that counts
  // nothing; only when it fails, for want of room, the counting one is taken and shows up here.
  // Source: dotnet/runtime System.Private.CoreLib src/System/RuntimeHandles.cs, CastHelpers.Box.
  void MarkPartialTypes() {
    std::vector<bool> uncounted(out_.frames.size());
    for (size_t i = 1; i < out_.frames.size(); ++i)
      uncounted[i] = out_.str(out_.frames[i].method)
                         .starts_with("System.RuntimeTypeHandle.InternalAllocNoChecks");
    for (const profile::Cell& c : out_.shown().cells)
      if (uncounted[out_.nodes[c.node].frame]) out_.types[c.type].partial = true;
  }

  // Runtimes before .NET 10 know no AllocationSampled: beside newer ones each process is told by
  // its own event. Returns whether any process has both.
  bool ChooseSources() {
    bool both = false;
    for (const auto& t : recording_.processes) {
      bool sampled = false, ticks = false;
      for (const profile::SeriesKey& key : t->series.keys()) {
        sampled = sampled || key.source() == Source::kSampled;
        ticks = ticks || key.source() == Source::kTick;
      }
      if (t->agent.used && !sampled && !ticks) {
        sampled = t->agent.source == Source::kSampled;
        ticks = t->agent.source == Source::kTick;
      }
      const bool by_ticks =
          !options_.source && out_.shown().source == Source::kSampled && ticks && !sampled;
      sources_.push_back(by_ticks ? Source::kTick : out_.shown().source);
      both = both || (sampled && ticks);
    }
    return both;
  }
  Source SourceOf(uint32_t process) const { return sources_[process]; }

  // What the runtime told of by events; 0 where one of them has a stack.
  uint64_t EventsWithoutAnyStack(uint32_t process) const {
    // Elsewhere it is known why.
    if (process >= aggregate_.sums().size() ||
        recording_.processes[process]->losses[Loss::kMissingStack] != 0)
      return 0;
    const auto& keys = recording_.processes[process]->series.keys();
    const auto& sums = aggregate_.sums()[process];
    uint64_t events = 0;
    for (size_t s = 0; s < sums.size(); ++s) {
      if (sums[s].samples == 0 || keys[s].source() < Source::kTick ||
          keys[s].source() > Source::kWait)
        continue;
      if (keys[s].node != StackTree::kNoStack) return 0;
      events += sums[s].samples;
    }
    return events;
  }

  void BindProcess(uint32_t index) {
    const profile::ProcessTables& t = *recording_.processes[index];
    process_ = &t;
    profile::Process info = t.info;
    info.name = Copy(info.name);
    info.command_line = Copy(info.command_line);
    info.runtime = Copy(info.runtime);
    info.os = Copy(info.os);
    info.arch = Copy(info.arch);
    info.main_module = {};
    info.modes_told = events_.ModesTold(index);
    info.counting = t.counting;
    info.dropped = AnyEventLost(t.losses) || AnyEventLost(recording_.losses);
    // Only a recording of ours has the GC's figure in a session of its own, which no flood reaches.
    if (info.dropped && t.counting.mode == profile::CountMode::kUnknown)
      info.counting.gc_known = false;
    out_.processes.push_back(info);
    out_.losses.Merge(t.losses);
    out_.losses.Add(Loss::kNoStacks, EventsWithoutAnyStack(index));
    const Source source = SourceOf(index);
    if (source != out_.shown().source) out_.shown().mixed = out_.processes.back().ticks = true;
    if (source == Source::kTick && t.sizes_unknown) out_.shown().counts_known = false;

    frame_of_address_.assign(t.stacks.addresses().size(), FlatMap::kNone);
    file_of_.assign(t.places.files().size(), FlatMap::kNone);
    frame_of_method_.clear();
    canonical_.assign(t.stacks.size(), FlatMap::kNone);
    canonical_[StackTree::kRoot] = 0;
    type_of_.assign(t.types.size(), FlatMap::kNone);
    tree_.BeginProcess();
    BindGcs(index, t);
    BindRequests(index, t);
    if (options_.places != nullptr) {
      std::vector<SeriesPlace>& places = options_.places->emplace_back();
      places.reserve(t.series.keys().size());
      for (const profile::SeriesKey& key : t.series.keys())
        places.push_back({NodeFor(key.node), TypeFor(index, key.type),
                          StringId(static_cast<uint32_t>(
                              WithRequest({}, LabelsOf(key))[profile::LabelKey::kRequest]))});
    }
    for (const auto& [thread, name] : t.thread_names)
      out_.thread_names[{index, thread}] = Copy(name);
    BindSeries(index, source);
    BindAgent(index, source);
    if (options_.frames_of_addresses != nullptr)
      options_.frames_of_addresses->push_back(frame_of_address_);
  }

  void BindAgent(uint32_t index, Source source) {
    if (options_.agent_places != nullptr) options_.agent_places->emplace_back();
    const auto found = aggregate_.agents().find(index);
    if (found == aggregate_.agents().end()) return;
    std::unordered_map<uint64_t, uint32_t> same_type;
    for (uint32_t i = 1; i < process_->types.size(); ++i)
      if (type_of_[i] != FlatMap::kNone) same_type[process_->types[i].id] = type_of_[i];
    AgentBinder(options_, *process_, index, routes_, this, &tree_, &events_, &out_)
        .Bind(found->second, std::move(same_type), source, aggregate_.detail().times);
  }

  void BindSeries(uint32_t index, Source source) {
    const profile::ProcessTables& t = *process_;
    if (index >= aggregate_.sums().size()) return;
    const std::vector<profile::Sums>& sums = aggregate_.sums()[index];
    for (uint32_t s = 0; s < sums.size(); ++s) {
      if (sums[s].samples == 0) continue;
      const profile::SeriesKey& key = t.series.keys()[s];
      if (profile::IsEvent(key.source())) {
        BindEvents(index, s, key);
        continue;
      }
      if (key.source() != source) continue;
      if (const uint64_t window = profile::WindowOf(t, key); window != 0) {
        BindWindows(index, s, key, window);
        continue;
      }
      if (aggregate_.detail().any()) continue;
      CellFor(index, key) += EstimateOf(key, sums[s]);
    }
    if (aggregate_.detail().any()) BindParts(index, source);
  }

  // Of allocations that were recorded in windows of time.
  void BindWindows(uint32_t index, uint32_t series, const profile::SeriesKey& key,
                   uint64_t window) {
    const Aggregate::Detail& detail = aggregate_.detail();
    const auto moments = aggregate_.moments().find({index, series});
    if (moments == aggregate_.moments().end()) return;
    if (window >= profile::kStormWindows)
      return windowed_.Add(index, window, key, 0, moments->second, false);
    const auto cell = [&](uint64_t thread) {
      profile::LabelSet labels;
      if (!detail.any())
        return tree_.CellIndexAt(NodeFor(key.node), TypeFor(index, key.type), index, key.kind());
      labels = labels.With(profile::LabelKey::kThread, thread);
      if (detail.requests) labels = WithRequest(labels, LabelsOf(key));
      return tree_.CellOf(NodeFor(key.node), TypeFor(index, key.type), index, key.kind(), labels);
    };
    const auto& parts = aggregate_.windowed_parts();
    std::vector<Aggregate::Moment> rest = moments->second;
    for (auto it = parts.lower_bound({index, series, 0});
         it != parts.end() && std::get<0>(it->first) == index && std::get<1>(it->first) == series;
         ++it) {
      const uint64_t thread = std::get<2>(it->first);
      windowed_.AddThread(index, window, key, thread, it->second);
      if (!detail.threads) continue;
      windowed_.Add(index, window, key, cell(thread), it->second, detail.times);
      for (const Aggregate::Moment& m : it->second)
        for (Aggregate::Moment& r : rest)
          if (rest.size() == 1 || (r.start_ns == m.start_ns && r.end_ns == m.end_ns)) {
            r.sums.samples -= std::min(r.sums.samples, m.sums.samples);
            r.sums.amount -= std::min(r.sums.amount, m.sums.amount);
            r.sums.stands_for -= std::min(r.sums.stands_for, m.sums.stands_for);
            break;
          }
    }
    std::erase_if(rest, [](const Aggregate::Moment& m) { return m.sums.samples == 0; });
    if (!rest.empty()) windowed_.Add(index, window, key, cell(0), rest, detail.times);
  }

  // The cell of what no window saw is there, even if windows saw everything.
  void FinishAllocationWindows() {
    if (windowed_.empty()) return;
    profile::Figure& figure = out_.figures.front();
    for (uint32_t p = 0; p < recording_.processes.size(); ++p)
      windowed_.NoteUncounted(
          p, UncountedSeconds(recording_.processes[p]->losses, Loss::kAllocationsUncounted));
    windowed_.Finish(figure, times_, threads_, options_.one_second);
    std::vector<uint32_t> place(figure.cells.size());
    uint32_t kept = 0;
    for (uint32_t i = 0; i < figure.cells.size(); ++i) {
      place[i] = kept;
      if (figure.cells[i].value.none()) continue;
      if (kept != i) figure.cells[kept] = std::move(figure.cells[i]);
      ++kept;
    }
    figure.cells.resize(kept);
    for (profile::TimedCell& t : figure.timed) t.cell = place[t.cell];
  }

  // Cells of each thread, and what came when.
  void BindParts(uint32_t index, Source source) {
    profile::Figure& figure = out_.shown();
    const auto& parts = aggregate_.parts();
    for (auto it = parts.lower_bound({index, 0, 0});
         it != parts.end() && std::get<0>(it->first) == index; ++it) {
      const auto [process, series, thread] = it->first;
      const profile::SeriesKey& key = process_->series.keys()[series];
      if (key.source() != source) continue;
      profile::LabelSet labels = profile::LabelSet().With(profile::LabelKey::kThread, thread);
      if (aggregate_.detail().requests) labels = WithRequest(labels, LabelsOf(key));
      const uint32_t cell =
          tree_.CellOf(NodeFor(key.node), TypeFor(index, key.type), index, key.kind(), labels);
      for (const Aggregate::Moment& m : it->second) {
        const Estimate e = EstimateOf(key, m.sums);
        figure.cells[cell].value += e;
        if (aggregate_.detail().times) figure.timed.push_back({cell, m.start_ns, m.end_ns, e});
      }
    }
  }

  // Counts, and captures of before samples were kept by thread, know threads on their own alone.
  void FinishDetail() {
    profile::Figure& figure = out_.shown();
    figure.cells_by_time = aggregate_.detail().times;
    // An agent does not tell them.
    figure.cells_by_request = aggregate_.detail().requests &&
                              profile::KeepsThreads(figure.source) &&
                              std::none_of(out_.processes.begin(), out_.processes.end(),
                                           [](const profile::Process& p) { return p.by_agent; });
    for (profile::Figure& f : out_.figures)
      if (f.measure == profile::Measure::kLive)
        f.cells_by_request =
            aggregate_.detail().requests &&
            std::all_of(out_.processes.begin(), out_.processes.end(),
                        [](const profile::Process& p) { return !p.followed || p.live_by_request; });
    const bool told =
        std::all_of(out_.processes.begin(), out_.processes.end(),
                    [](const profile::Process& p) { return !p.by_agent || p.threads_told; });
    figure.cells_by_thread =
        told && aggregate_.detail().threads && profile::KeepsThreads(figure.source) &&
        std::all_of(aggregate_.threads().begin(), aggregate_.threads().end(), [&](const auto& t) {
          return std::get<3>(t.first) != SourceOf(std::get<0>(t.first)) ||
                 !aggregate_.apart(std::get<0>(t.first));
        });
    if (const uint64_t other = aggregate_.other_threads(); other != 0)
      out_.losses.Add(Loss::kThreadsCapped, other);
  }

  void BindEvents(uint32_t index, uint32_t series, const profile::SeriesKey& key) {
    const auto moments = aggregate_.moments().find({index, series});
    if (moments == aggregate_.moments().end()) return;
    profile::LabelSet labels = LabelsOf(key);
    const bool of_windows = key.source() == Source::kRequest &&
                            labels[profile::LabelKey::kRequest] == 0 &&
                            labels[profile::LabelKey::kRequestWindow] != 0;
    if (!of_windows) labels = WithRequest(labels, labels);
    if (LabelsOf(key)[profile::LabelKey::kOperation] != 0) labels = WithOperation(labels, key);
    // Each event is one of the process's; by request, those in windows stand for others.
    if (key.source() != Source::kRequest && !aggregate_.detail().requests)
      labels = labels.With(profile::LabelKey::kRequestWindow, 0).With(profile::LabelKey::kAge, 0);
    if (const uint64_t message = labels[profile::LabelKey::kMessage]; message != 0)
      labels = labels.With(
          profile::LabelKey::kMessage,
          message <= process_->messages.size() ? Copy(process_->messages[message - 1]).value : 0);
    if (const uint64_t holding = labels[profile::LabelKey::kHolding]; holding != 0)
      labels = labels.With(
          profile::LabelKey::kHolding,
          holding < process_->stacks.size()
              ? profile::SiteFrame(out_, NodeFor(static_cast<uint32_t>(holding))) + uint64_t{1}
              : 0);
    events_.Add(key.source(), index, NodeFor(key.node), TypeFor(index, key.type), labels,
                moments->second);
  }

  const profile::LabelSet& LabelsOf(const profile::SeriesKey& key) const {
    const auto& sets = process_->labels.sets();
    return sets[key.labels < sets.size() ? key.labels : profile::LabelTable::kOther];
  }

  // `labels` with the request that `of` names, by the route's name.
  profile::LabelSet WithRequest(const profile::LabelSet& labels,
                                const profile::LabelSet& of) const {
    const uint64_t route = of[profile::LabelKey::kRequest];
    const bool known = route != 0 && route <= routes_.size();
    const auto if_known = [&](profile::LabelKey key) { return known ? of[key] : 0; };
    return labels.With(profile::LabelKey::kRequest, known ? routes_[route - 1].value : 0)
        .With(profile::LabelKey::kDuration, if_known(profile::LabelKey::kDuration))
        .With(profile::LabelKey::kRequestWindow, if_known(profile::LabelKey::kRequestWindow))
        .With(profile::LabelKey::kAge, if_known(profile::LabelKey::kAge));
  }

  // An operation that is of no request has a duration, too.
  profile::LabelSet WithOperation(const profile::LabelSet& labels,
                                  const profile::SeriesKey& key) const {
    const profile::LabelSet& stored = LabelsOf(key);
    const uint64_t number = stored[profile::LabelKey::kOperation];
    return labels.With(profile::LabelKey::kDuration, stored[profile::LabelKey::kDuration])
        .With(profile::LabelKey::kOperation,
              number <= operations_.size() ? operations_[number - 1].value : 0);
  }

  void BindRequests(uint32_t index, const profile::ProcessTables& t) {
    operations_.clear();
    for (const StringId name : t.requests.operations) operations_.push_back(Copy(name));
    routes_.clear();
    if (t.requests.routes.empty()) return;
    for (const std::string& name : RouteNames(t, recording_.strings))
      routes_.push_back(out_.strings.Intern(name));
    for (size_t i = 0; i < routes_.size(); ++i)
      events_.NoteRoute(index, routes_[i], t.requests.routes[i],
                        t.requests.routes[i].kind == profile::RouteKind::kAction
                            ? routes_[t.requests.routes[i].of]
                            : StringId(),
                        recording_.strings);
    for (const profile::SlowRequest& r : t.requests.slowest) {
      if (r.route >= routes_.size() || !aggregate_.InRange(r.start_ns)) continue;
      out_.requests.slowest.push_back({index, routes_[r.route], out_.strings.Intern(r.path),
                                       r.start_ns, r.duration_ns, r.finished, r.samples, r.bytes,
                                       r.objects, r.exceptions, r.lock_wait_ns, r.gc_waited_ns,
                                       r.queued_ns, r.awaiting_ns});
    }
  }

  void BindGcs(uint32_t index, const profile::ProcessTables& t) {
    const size_t first = out_.gcs.size();
    if (owned_ == nullptr)
      out_.gcs.Append(t.gcs);
    else
      out_.gcs.Append(std::move(owned_->processes[index]->gcs));
    const std::span<profile::PackedGc> bound = std::span(out_.gcs).subspan(first);
    for (profile::PackedGc& gc : bound) {
      gc.process = index;
      if (gc.trigger_node != 0) gc.trigger_node = NodeFor(gc.trigger_node);
      gc.ChangeAllocated([&](profile::GcAllocated& a) {
        a.type = TypeFor(index, a.type);
        if (a.node != 0) a.node = NodeFor(a.node);
      });
    }
    const auto earlier = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
    if (!std::is_sorted(bound.begin(), bound.end(), earlier))
      std::stable_sort(bound.begin(), bound.end(), earlier);
    profile::GcFacts& facts = out_.processes.back().gc;
    std::unordered_map<uint64_t, StringId> names;
    if (!facts.finalized_types.empty())
      for (const profile::RuntimeType& type : t.types) names[type.id] = type.raw_name;
    for (auto& type : facts.finalized_types) {
      const auto known = names.find(type.type_id);
      if (known != names.end() && known->second.value != 0) type.name = known->second;
      const std::string_view raw = Str(type.name);
      type.name = out_.strings.Intern(raw.empty() ? fmt::format("type 0x{:x}", type.type_id)
                                                  : clr::CsharpTypeName(raw));
    }
    for (auto& type : facts.pinned_types)
      type.name = out_.strings.Intern(clr::CsharpTypeName(Str(type.name)));
  }

  Estimate& CellFor(uint32_t process, const profile::SeriesKey& key) {
    const uint32_t node = NodeFor(key.node);
    return tree_.CellAt(node, TypeFor(process, key.type), process, key.kind());
  }

  uint32_t NodeFor(uint32_t node) {
    // Parents first, without recursion.
    path_.clear();
    while (canonical_[node] == FlatMap::kNone) {
      path_.push_back(node);
      node = process_->stacks.parent(node);
    }
    uint32_t at = canonical_[node];
    for (size_t i = path_.size(); i-- > 0;) {
      const uint32_t frame = FrameFor(path_[i]);
      const bool same = at != 0 && IsOnePart(out_.nodes[at].frame, frame);
      canonical_[path_[i]] = at = same ? at : tree_.ChildOf(at, frame, LineFor(path_[i]));
    }
    return at;
  }

  uint32_t LineFor(uint32_t node) {
    return node < StackTree::kFirstReal ? 0 : LineAt(process_->stacks.address_index(node));
  }

  uint32_t LineAt(uint32_t address) override {
    const profile::Place* const place = process_->places.At(address);
    if (!options_.lines || place == nullptr || place->line == 0) return 0;
    uint32_t& file = file_of_[place->file];
    if (file == FlatMap::kNone) {
      const profile::SourceFile& f = process_->places.files()[place->file];
      file = tree_.FileOf({Copy(f.path), Copy(f.hash), Copy(f.url), Copy(f.text)});
    }
    return tree_.LineOf(file, place->line, place->sure);
  }

  std::optional<uint32_t> NativeAt(uint32_t address) override {
    const profile::CodeAddress& a = process_->stacks.addresses()[address];
    const profile::CodeAt at =
        profile::WhatIsAt(process_->code, process_->images, a.address, a.first_ns);
    if (at.kind != profile::CodeAt::Kind::kImage) return std::nullopt;
    uint32_t& frame = frame_of_address_[address];
    if (frame != FlatMap::kNone) return frame;
    const profile::Place* const place = process_->places.At(address);
    frame = IsAgent(*at.image, place) ? AgentFrame(*at.image)
            : place != nullptr && place->symbol.value != 0
                ? NativeFrame(*at.image, place->symbol)
                : UnresolvedFrame(a.address, at, /*by_file=*/true);
    return frame;
  }

  // Functions of a file that are not told apart are one. What the agent calls is its work.
  bool IsOnePart(uint32_t parent, uint32_t frame) const {
    const profile::Frame& f = out_.frames[frame];
    if (parent == frame) return f.kind == profile::FrameKind::kKernel || f.IsWholeFile();
    return parent == agent_frame_ &&
           (f.kind == profile::FrameKind::kNative || f.kind == profile::FrameKind::kRuntime ||
            f.kind == profile::FrameKind::kKernel);
  }

  uint32_t FrameFor(uint32_t node) {
    switch (node) {
      case StackTree::kTruncated:
        return tree_.PseudoFrame("[truncated]");
      case StackTree::kNoStack:
        return tree_.PseudoFrame("[no stack]");
      case StackTree::kOther:
        return tree_.PseudoFrame("(other)");
      default:
        break;
    }
    const uint32_t address = process_->stacks.address_index(node);
    uint32_t& frame = frame_of_address_[address];
    if (frame == FlatMap::kNone)
      frame = ResolveAddress(process_->stacks.addresses()[address], process_->places.At(address));
    return frame;
  }

  uint32_t ResolveAddress(const profile::CodeAddress& a, const profile::Place* place) {
    if (a.address == profile::kKernelAddress)
      return tree_.PseudoFrame("[kernel]", profile::FrameKind::kKernel);
    if (a.address == profile::kCollectorAddress)
      return tree_.PseudoFrame("Garbage Collector", profile::FrameKind::kGc);
    if (a.address == profile::kAgentAddress)
      return tree_.PseudoFrame("[clrscope agent]", profile::FrameKind::kNative);
    if (a.address == profile::kRunnableAddress) return tree_.PseudoFrame("(waiting for a CPU)");
    if (a.address == profile::kNotSampledAddress) return tree_.PseudoFrame("(not sampled)");
    const profile::CodeAt at =
        profile::WhatIsAt(process_->code, process_->images, a.address, a.first_ns);
    if (at.ambiguous) out_.losses.Add(Loss::kAmbiguousFrame);
    if (at.kind != profile::CodeAt::Kind::kMethod) {
      if (profile::IsOfKernel(a.address))
        return tree_.PseudoFrame("[kernel]", profile::FrameKind::kKernel);
      if (at.kind == profile::CodeAt::Kind::kImage && IsAgent(*at.image, place))
        return AgentFrame(*at.image);
      if (at.kind == profile::CodeAt::Kind::kImage && place != nullptr && place->symbol.value != 0)
        return NativeFrame(*at.image, place->symbol);
      // Most of what runs has been compiled ahead of time, and is told by its file.
      const bool by_file = at.kind != profile::CodeAt::Kind::kUnknown &&
                           (process_->info.Recorded(profile::Measure::kCpu) ||
                            process_->info.Recorded(profile::Measure::kWall));
      if (!by_file) out_.losses.Add(Loss::kUnresolvedFrame);
      return UnresolvedFrame(a.address, at, by_file);
    }
    const auto [it, is_new] = frame_of_method_.try_emplace(at.method.index, 0);
    if (is_new) it->second = MethodFrame(*at.method.method);
    return it->second;
  }

  uint32_t MethodFrame(const profile::MethodCode& m) {
    const std::string_view owner = Str(m.owner), name = Str(m.name), signature = Str(m.signature);
    uint32_t module = ModuleFor(m.module_id);
    if (module == FlatMap::kNone) module = ModuleAt(m.start, m.load_ns);
    profile::Frame f;
    f.module = module == FlatMap::kNone ? StringId{} : out_.modules[module].name;
    f.method = out_.strings.Intern(clr::CsharpMethodName(owner, name, signature));
    f.raw = out_.strings.Intern(clr::RawMethodName(owner, name, signature));
    f.token = m.token;
    // Without its module a method is judged by its namespace, which mostly bears the same name.
    if (module != FlatMap::kNone ? out_.modules[module].framework
                                 : options_.framework.Matches(owner, {}))
      f.flags |= profile::kFramework;
    // Stubs and dynamic methods are the runtime's or a library's making, not a place in source.
    if (owner == "dynamicClass") f.flags |= profile::kFramework;
    // A symbol of native code: no method of a runtime is without an id.
    if (m.method_id == 0 && owner.empty()) {
      f.method = f.raw = Copy(m.name);
      f.kind = IsRuntimeLibrary(out_.str(f.module)) ? profile::FrameKind::kRuntime
                                                    : profile::FrameKind::kNative;
      f.flags |= profile::kFramework;
    }
    if (clr::IsMachinery(owner, name)) f.flags |= profile::kMachinery | profile::kFramework;
    return tree_.FindFrame(f);
  }

  bool IsAgent(const profile::Image& image, const profile::Place* place) const {
    return IsAgentFile(Str(image.path)) || (place != nullptr && Str(place->symbol) == kAgentName);
  }

  uint32_t AgentFrame(const profile::Image& image) {
    profile::Frame f;
    f.flags = profile::kFramework;
    f.kind = profile::FrameKind::kNative;
    f.module = f.method = f.raw =
        out_.modules[FindModule(image.path, image.build_id, kAgentName)].name;
    return agent_frame_ = tree_.FindFrame(f);
  }

  // A function of a library.
  uint32_t NativeFrame(const profile::Image& image, StringId symbol) {
    profile::Frame f;
    f.flags = profile::kFramework;
    f.module = out_.modules[FindModule(image.path, image.build_id)].name;
    f.kind = IsRuntimeLibrary(out_.str(f.module)) ? profile::FrameKind::kRuntime
                                                  : profile::FrameKind::kNative;
    f.method = f.raw = Copy(symbol);
    return tree_.FindFrame(f);
  }

  uint32_t UnresolvedFrame(uint64_t address, const profile::CodeAt& at, bool by_file) {
    profile::Frame f;
    f.flags = profile::kFramework;
    if (!by_file) f.flags |= profile::kUnresolved;
    f.kind = profile::FrameKind::kNative;
    std::string text = fmt::format("0x{:x}", address);
    if (at.kind == profile::CodeAt::Kind::kStub) {
      text = "[runtime stub]";
      f.kind = profile::FrameKind::kRuntime;
    } else if (at.kind == profile::CodeAt::Kind::kImage) {
      const std::string_view file = ModuleName(Str(at.image->path));
      f.module = out_.modules[FindModule(at.image->path, at.image->build_id)].name;
      if (IsRuntimeLibrary(file)) f.kind = profile::FrameKind::kRuntime;
      text = by_file ? std::string(file)
                     : fmt::format("{}+0x{:x}", file, address - at.image->start + at.image->offset);
    }
    f.method = f.raw = out_.strings.Intern(text);
    return tree_.FindFrame(f);
  }

  uint32_t ModuleFor(uint64_t id) {
    const profile::ModuleImage* image = process_->code.FindModule(id);
    return image == nullptr ? FlatMap::kNone : FindModule(image->path, image->mvid);
  }

  // The module whose file is mapped at `address`.
  uint32_t ModuleAt(uint64_t address, int64_t time_ns) {
    const profile::Image* image = process_->images.Find(address, time_ns);
    if (image == nullptr || image->generated()) return FlatMap::kNone;
    for (const profile::ModuleImage& module : process_->code.modules())
      if (module.path == image->path) return FindModule(module.path, module.mvid);
    return FindModule(image->path, {});
  }

  uint32_t FindModule(StringId path_id, StringId mvid_id) {
    return FindModule(path_id, mvid_id, ModuleName(Str(path_id)));
  }

  uint32_t FindModule(StringId path_id, StringId mvid_id, std::string_view shown) {
    const std::string_view path = Str(path_id);
    const StringId name = out_.strings.Intern(shown);
    const StringId mvid = Copy(mvid_id);
    const uint64_t key = PairKey(name.value, mvid.value);
    uint32_t module = module_by_name_.Find(key);
    if (module == FlatMap::kNone) {
      module = static_cast<uint32_t>(out_.modules.size());
      out_.modules.push_back(
          {name, Copy(path_id), mvid, options_.framework.Matches(ModuleName(path), path)});
      module_by_name_.Set(key, module);
    }
    return module;
  }

  uint32_t TypeFor(uint32_t process, uint32_t index) {
    uint32_t& type = type_of_[index];
    if (type != FlatMap::kNone) return type;
    const profile::RuntimeType& r = process_->types[index];
    profile::Type t;
    t.id = r.id;
    t.process = process;
    if (Str(r.raw_name).empty()) {
      if (index != 0) out_.losses.Add(Loss::kUnnamedType);
      t.name = t.raw = out_.strings.Intern(index == 0 ? std::string(profile::kUnknownType)
                                                      : fmt::format("[type 0x{:x}]", r.id));
    } else {
      t.raw = Copy(r.raw_name);
      t.name = out_.strings.Intern(clr::CsharpTypeName(Str(r.raw_name)));
    }
    type = static_cast<uint32_t>(out_.types.size());
    out_.types.push_back(t);
    return type;
  }

  const profile::Recording& recording_;
  const Aggregate& aggregate_;
  const BindOptions& options_;
  profile::Recording* owned_;
  Profile out_;
  const profile::ProcessTables* process_ = nullptr;
  std::vector<Source> sources_;                // by process
  std::vector<StringId> routes_, operations_;  // of the process, by their number
  uint32_t agent_frame_ = FlatMap::kNone;      // the agent's, once it was seen
  std::vector<uint32_t> frame_of_address_, file_of_, canonical_, type_of_, path_;
  std::unordered_map<uint32_t, uint32_t> frame_of_method_;
  ProfileTree tree_{&out_};
  AllocationWindows windowed_;
  std::map<AllocationWindows::TimeOf, Estimate> times_;
  std::map<AllocationWindows::ThreadOf, Estimate> threads_;
  EventBinder events_{&out_, &tree_, options_.one_second};
  FlatMap module_by_name_;
};

}  // namespace

Profile Bind(const profile::Recording& recording, const Aggregate& aggregate,
             const BindOptions& options) {
  return Binder(recording, aggregate, options).Run();
}

Profile BindAndTake(profile::Recording& recording, const Aggregate& aggregate,
                    const BindOptions& options) {
  return Binder(recording, aggregate, options, &recording).Run();
}

}  // namespace clrscope::analysis
