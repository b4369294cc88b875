// SPDX-License-Identifier: Apache-2.0
#include "analysis/bind_agent.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/flat_map.h"
#include "clr/method_name.h"
#include "profile/estimate/reservoir.h"
#include "profile/shown_names.h"

namespace clrscope::analysis {

using profile::Source;

void AgentBinder::Bind(const Aggregate::Agent& agent,
                       std::unordered_map<uint64_t, uint32_t> same_type, Source source,
                       bool times) {
  const profile::AgentTables& t = tables_.agent;
  same_type_ = std::move(same_type);
  frame_.assign(t.methods.size(), FlatMap::kNone);
  node_.assign(t.nodes.size(), FlatMap::kNone);
  type_.assign(t.types.size(), FlatMap::kNone);
  if (!node_.empty()) node_[0] = 0;
  if (options_.agent_places != nullptr) {
    AgentPlaces& places = options_.agent_places->back();
    for (uint32_t node = 0; node < t.nodes.size(); ++node) places.nodes.push_back(Node(node));
    for (uint32_t type = 0; type < t.types.size(); ++type) places.types.push_back(Type(type));
    places.routes = routes_;
  }
  profile::Process& info = out_.processes.back();
  info.followed = agent.followed;
  info.live_at_ns = agent.live_at_ns;
  info.live_mean_bytes = agent.live_mean_bytes;
  info.live_source = t.source;
  info.live_by_request = agent.requests_told;
  if (agent.followed) {
    std::vector<profile::LiveAgeRow>& rows = out_.At(profile::Measure::kLive).live_ages;
    rows.insert(rows.end(), agent.live_ages.begin(), agent.live_ages.end());
  }
  if (!agent.gc_cpu.empty()) {
    std::vector<profile::GcCpuRow>& rows = out_.At(profile::Measure::kGcCpu).gc_cpu;
    rows.insert(rows.end(), agent.gc_cpu.begin(), agent.gc_cpu.end());
  }
  for (const profile::IntervalLive& l : Scaled(agent))
    out_.At(profile::Measure::kLive)
        .lives.push_back({Node(l.node), Type(l.type), process_, l.kind, l.generation, l.young,
                          l.age_bucket, l.gcs_survived_min, l.gcs_survived_max, l.gen2_survived_min,
                          l.gen2_survived_max, l.value, LabelsOf(l)});
  BindEvents(agent);
  info.by_agent = TellsAllocations(source);
  if (!info.by_agent) return;
  // Earlier agents sent flows without threads.
  info.threads_told = agent.threads_told || agent.flows.empty();
  const AgentWindows windows(agent.windows);
  for (const auto& [key, value] : agent.threads) {
    const auto& [thread, kind, window] = key;
    out_.shown().threads.push_back({process_, thread, kind, windows.Of(value, window)});
  }
  if (t.source == Source::kForeign)
    out_.shown().counts_known = std::any_of(agent.flows.begin(), agent.flows.end(),
                                            [](const auto& flow) { return flow.second.count > 0; });
  for (const auto& [key, parts] : agent.parts) {
    const auto& [node, type, kind, thread, window] = key;
    profile::Figure& figure = out_.shown();
    const uint32_t cell =
        tree_.CellOf(Node(node), Type(type), process_, kind,
                     profile::LabelSet().With(profile::LabelKey::kThread, thread));
    for (const Aggregate::Agent::Part& part : parts) {
      const profile::Estimate value = windows.Of(part.value, window);
      figure.cells[cell].value += value;
      if (times) figure.timed.push_back({cell, part.start_ns, part.end_ns, value});
    }
  }
  for (const auto& [key, value] : agent.flows) {
    const auto& [node, type, kind, window] = key;
    if (agent.parts.empty())
      tree_.CellAt(Node(node), Type(type), process_, kind) += windows.Of(value, window);
  }
  for (const auto& [key, value] : agent.times) {
    const auto& [start_ns, end_ns, kind, window] = key;
    out_.shown().times.push_back({start_ns, end_ns, process_, kind, windows.Of(value, window)});
  }
  NoteWindows(agent, windows);
}

// What windows of time hold, for the report.
void AgentBinder::NoteWindows(const Aggregate::Agent& agent, const AgentWindows& windows) {
  if (agent.windows.ns == 0) return;
  profile::Storms& all = out_.shown().windows;
  const bool first = !all.any();
  all.from_ns = first ? agent.windows_from_ns : std::min(all.from_ns, agent.windows_from_ns);
  all.to_ns = std::max(all.to_ns, agent.windows_to_ns);
  all.windows += agent.windows.count;
  all.windows_ns += agent.windows_ns;
  all.counted_ns += agent.windows.ns;
  for (const auto& [key, value] : agent.flows) {
    if (std::get<3>(key) == 0) continue;
    const profile::Estimate e = windows.Of(value, std::get<3>(key));
    all.weighted += e.amount;
    all.recorded += e.seen_amount;
  }
}

// What lives, whatever windows it was allocated in.
std::vector<profile::IntervalLive> AgentBinder::Scaled(const Aggregate::Agent& agent) {
  std::vector<profile::IntervalLive> lives = agent.lives;
  if (std::none_of(lives.begin(), lives.end(), [](const auto& l) { return l.window != 0; }))
    return lives;
  const AgentWindows windows(agent.all_windows);
  for (profile::IntervalLive& l : lives) {
    l.value = windows.Of(l.value, l.window);
    l.window = 0;
  }
  profile::MergeLives(lives);
  return lives;
}

void AgentBinder::BindEvents(const Aggregate::Agent& agent) {
  const auto told_by_session = [this](Source source) {
    return std::any_of(tables_.series.keys().begin(), tables_.series.keys().end(),
                       [source](const profile::SeriesKey& k) { return k.source() == source; });
  };
  std::array<bool, profile::kSources> taken{};
  for (const profile::SourceSpec& s : profile::kSourceSpecs)
    taken[static_cast<size_t>(s.id)] = profile::IsEvent(s.id) && !told_by_session(s.id);
  for (const auto& [key, moments] : agent.events) {
    const auto& [event, node, type, labels] = key;
    if (!taken[static_cast<size_t>(event)]) continue;
    events_.Add(event, process_, Node(node), Type(type), labels, moments);
    out_.At(profile::MeasureOf(event)).handling_told = false;
  }
}

// Its allocations are the agent's flows: no session of the recording sampled them.
bool AgentBinder::TellsAllocations(Source source) const {
  const profile::ProcessTables& t = tables_;
  return t.agent.used && source == t.agent.source &&
         std::none_of(t.series.keys().begin(), t.series.keys().end(),
                      [&](const profile::SeriesKey& k) { return k.source() == t.agent.source; });
}

uint32_t AgentBinder::Node(uint32_t node) {
  path_.clear();
  while (node_[node] == FlatMap::kNone) {
    path_.push_back(node);
    node = tables_.agent.nodes[node].parent;
  }
  uint32_t at = node_[node];
  for (size_t i = path_.size(); i-- > 0;) {
    at = ChildOf(at, tables_.agent.nodes[path_[i]]);
    node_[path_[i]] = at;
  }
  return at;
}

// Native code is told by its address, methods by their names, with the line of the address.
uint32_t AgentBinder::ChildOf(uint32_t parent, const profile::IntervalNode& node) {
  uint32_t frame = Frame(node.method);
  if (node.place == 0) return tree_.ChildOf(parent, frame);
  const uint32_t address = node.place - 1;
  if ((out_.frames[frame].flags & profile::kPseudo) == 0)
    return tree_.ChildOf(parent, frame, addresses_.LineAt(address));
  frame = addresses_.NativeAt(address).value_or(frame);
  // Functions that are not told apart are one.
  const bool unnamed = frame == Frame(node.method) || out_.frames[frame].IsWholeFile();
  const bool same = unnamed && parent != 0 && out_.nodes[parent].frame == frame;
  return same ? parent : tree_.ChildOf(parent, frame);
}

uint32_t AgentBinder::LabelsOf(const profile::IntervalLive& l) {
  if (l.request == 0 || l.request > routes_.size()) return 0;
  return tree_.LabelFor(
      profile::LabelSet().With(profile::LabelKey::kRequest, routes_[l.request - 1].value));
}

uint32_t AgentBinder::Frame(uint32_t method) {
  uint32_t& frame = frame_[method];
  if (frame != FlatMap::kNone) return frame;
  const profile::IntervalMethod& m = tables_.agent.methods[method];
  profile::Frame f;
  f.module = out_.strings.Intern(m.module);
  f.method = out_.strings.Intern(m.method);
  f.raw = out_.strings.Intern(m.raw.empty() ? m.method : m.raw);
  f.token = m.token;
  f.flags = m.flags & (profile::kUnresolved | profile::kPseudo);
  const auto [owner, name] = clr::SplitRawMethodName(m.raw);
  if ((f.flags & profile::kUnresolved) != 0 ||
      options_.framework.Matches(m.module.empty() ? owner : std::string_view(m.module), {}))
    f.flags |= profile::kFramework;
  if (owner == "dynamicClass") f.flags |= profile::kFramework;
  if (clr::IsMachinery(owner, name)) f.flags |= profile::kMachinery | profile::kFramework;
  frame = tree_.FindFrame(f);
  return frame;
}

uint32_t AgentBinder::Type(uint32_t index) {
  uint32_t& type = type_[index];
  if (type != FlatMap::kNone) return type;
  const profile::IntervalType& told = tables_.agent.types[index];
  // The same type of a session that recorded too: one row.
  if (const auto same = same_type_.find(told.id); told.id != 0 && same != same_type_.end())
    return type = same->second;
  profile::Type t;
  t.id = told.id;
  t.process = process_;
  t.name = out_.strings.Intern(profile::ShownType(told.name, told.raw));
  t.raw = out_.strings.Intern(told.raw.empty() ? out_.str(t.name) : told.raw);
  type = static_cast<uint32_t>(out_.types.size());
  out_.types.push_back(t);
  return type;
}

}  // namespace clrscope::analysis
