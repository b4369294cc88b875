// SPDX-License-Identifier: Apache-2.0
#include "analysis/bind_agent.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/flat_map.h"
#include "clr/method_name.h"

namespace clrscope::analysis {

using profile::Source;

void AgentBinder::Bind(const Aggregate::Agent& agent,
                       std::unordered_map<uint64_t, uint32_t> same_type, Source source) {
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
  }
  profile::Process& info = out_.processes.back();
  info.followed = agent.followed;
  info.live_at_ns = agent.live_at_ns;
  info.live_mean_bytes = agent.live_mean_bytes;
  info.live_source = t.source;
  out_.gc_cpu.insert(out_.gc_cpu.end(), agent.gc_cpu.begin(), agent.gc_cpu.end());
  out_.live_ages.insert(out_.live_ages.end(), agent.live_ages.begin(), agent.live_ages.end());
  for (const profile::IntervalLive& l : agent.lives)
    out_.lives.push_back({Node(l.node), Type(l.type), process_, l.kind, l.generation, l.young,
                          l.age_bucket, l.gcs_survived_min, l.gcs_survived_max, l.gen2_survived_min,
                          l.gen2_survived_max, l.value});
  info.by_agent = TellsAllocations(source);
  if (!info.by_agent) return;
  if (t.source == Source::kForeign)
    out_.objects_known = std::any_of(agent.flows.begin(), agent.flows.end(),
                                     [](const auto& flow) { return flow.second.objects > 0; });
  for (const auto& [key, value] : agent.flows)
    tree_.CellAt(Node(std::get<0>(key)), Type(std::get<1>(key)), process_, std::get<2>(key)) +=
        value;
  for (const auto& [key, value] : agent.times)
    out_.times.push_back({std::get<0>(key), std::get<1>(key), process_, std::get<2>(key), value});
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
    at = tree_.ChildOf(at, Frame(tables_.agent.nodes[path_[i]].method));
    node_[path_[i]] = at;
  }
  return at;
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
  // Owner and name as the runtime writes them: "Namespace.Type.Method(…)".
  const std::string_view whole = std::string_view(m.raw).substr(0, m.raw.find('('));
  size_t dot = whole.rfind('.');
  if (dot != std::string_view::npos && dot > 0 && whole[dot - 1] == '.') --dot;  // a constructor
  const std::string_view owner = whole.substr(0, dot == std::string_view::npos ? 0 : dot);
  const std::string_view name = dot == std::string_view::npos ? whole : whole.substr(dot + 1);
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
  t.name = out_.strings.Intern(told.name.empty() ? "[unknown type]" : told.name);
  t.raw = out_.strings.Intern(told.raw.empty() ? out_.str(t.name) : told.raw);
  type = static_cast<uint32_t>(out_.types.size());
  out_.types.push_back(t);
  return type;
}

}  // namespace clrscope::analysis
