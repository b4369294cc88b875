// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/interval_fold.h"

#include <algorithm>
#include <string>

namespace clrscope::analysis {
namespace {

using profile::AgentTables;
using profile::IntervalFrame;

profile::IntervalMethod Pseudo(const char* name) {
  return {"", "", name, name, 0, profile::kPseudo};
}

std::string KeyOf(const profile::IntervalMethod& m) {
  return m.module + '\n' + m.mvid + '\n' + std::to_string(m.token) + '\n' + m.raw + '\n' +
         m.method + '\n' + static_cast<char>(m.flags);
}

std::string KeyOf(const profile::IntervalType& t) {
  return t.raw + '\n' + t.name + '\n' + std::to_string(t.id);
}

// A place is of one method; 0 = none.
uint64_t NodeKey(uint32_t parent, uint32_t method, uint32_t place) {
  constexpr uint32_t kOfPlace = 1u << 31;
  return PairKey(parent, place != 0 ? place | kOfPlace : method);
}

Error Damaged(const IntervalFrame& frame, const char* what) {
  return Error{ErrorCode::kCorrupt, "frame " + std::to_string(frame.sequence) +
                                        " of the agent names " + what + " that it never told"};
}

}  // namespace

IntervalFold::IntervalFold(profile::Recording* recording, uint32_t process,
                           profile::IntervalSink* sink, bool keep_gcs)
    : recording_(recording), process_(process), sink_(sink), keep_gcs_(keep_gcs) {}

AgentTables& IntervalFold::tables() const { return recording_->processes[process_]->agent; }

void IntervalFold::Begin(const IntervalFrame& frame) {
  AgentTables& t = tables();
  t.used = true;
  t.source = frame.source;
  if (!begun_) {
    // Another agent of the same process may have been here before.
    for (uint32_t i = 0; i < t.methods.size(); ++i)
      method_keys_.try_emplace(KeyOf(t.methods[i]), i);
    for (uint32_t i = 1; i < t.types.size(); ++i) type_keys_.try_emplace(KeyOf(t.types[i]), i);
    for (uint32_t i = 1; i < t.nodes.size(); ++i)
      children_.Set(NodeKey(t.nodes[i].parent, t.nodes[i].method, t.nodes[i].place), i);
  }
  methods_.clear();
  types_.assign(1, 0);
  nodes_.assign(1, 0);
  places_.assign(1, 0);
  dictionary_ = frame.dictionary;
  begun_ = true;
}

Status IntervalFold::Check(const IntervalFrame& f) const {
  const uint64_t methods = uint64_t{f.first_method} + f.methods.size();
  const uint64_t types = uint64_t{f.first_type} + f.types.size();
  const uint64_t nodes = uint64_t{f.first_node} + f.nodes.size();
  const uint64_t places = uint64_t{f.first_place} + f.places.size();
  // A damaged frame cannot ask for gigabytes.
  if (f.first_type == 0 || f.first_node == 0 || f.first_place == 0 ||
      std::max({methods, types, nodes, places}) > uint64_t{kMostEntries})
    return Damaged(f, "entries");
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (f.nodes[i].parent >= f.first_node + i || f.nodes[i].method >= methods ||
        f.nodes[i].place >= places)
      return Damaged(f, "stacks");
  const auto known = [&](const auto& rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const auto& r) { return r.node < nodes && r.type < types; });
  };
  if (!known(f.flows) || !known(f.parts) || !known(f.lives) || !known(f.turnover) ||
      !known(f.events))
    return Damaged(f, "types or stacks");
  return OkStatus();
}

uint32_t IntervalFold::AddMethod(profile::IntervalMethod&& method) {
  std::vector<profile::IntervalMethod>& all = tables().methods;
  if (all.size() >= kMostEntries) method = Pseudo("(other)");
  const auto [it, added] =
      method_keys_.try_emplace(KeyOf(method), static_cast<uint32_t>(all.size()));
  if (added) all.push_back(std::move(method));
  return it->second;
}

uint32_t IntervalFold::AddType(profile::IntervalType&& type) {
  std::vector<profile::IntervalType>& all = tables().types;
  if (all.size() >= kMostEntries) type = {0, "(other)", "(other)"};
  const auto [it, added] = type_keys_.try_emplace(KeyOf(type), static_cast<uint32_t>(all.size()));
  if (added) all.push_back(std::move(type));
  return it->second;
}

uint32_t IntervalFold::AddNode(uint32_t parent, uint32_t method, uint32_t place) {
  std::vector<profile::IntervalNode>& all = tables().nodes;
  if (all.size() >= kMostEntries) {
    recording_->processes[process_]->losses.Add(Loss::kStackNodesCapped);
    parent = place = 0;
    method = AddMethod(Pseudo("(other)"));
  }
  const uint64_t key = NodeKey(parent, method, place);
  if (const uint32_t there = children_.Find(key); there != FlatMap::kNone) return there;
  all.push_back({parent, method, place});
  const auto id = static_cast<uint32_t>(all.size() - 1);
  children_.Set(key, id);
  return id;
}

uint32_t IntervalFold::AddPlace(const profile::IntervalPlace& place, int64_t shift_ns) {
  constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;  // as the tree has them
  const uint64_t address = place.address & kAddressMask;
  const int64_t seen_ns = place.seen_ns + shift_ns;
  if (place_keys_.size() >= kMostEntries) return 0;
  const auto [it, added] = place_keys_.try_emplace({address, seen_ns}, 0);
  if (added) it->second = recording_->processes[process_]->stacks.AddAddress(address, seen_ns) + 1;
  return it->second;
}

uint32_t IntervalFold::LostMethod() { return AddMethod(Pseudo("(lost)")); }

void IntervalFold::TakeDictionaries(IntervalFrame& f) {
  // First the entries of frames that were lost.
  while (methods_.size() < f.first_method) methods_.push_back(LostMethod());
  while (types_.size() < f.first_type) types_.push_back(AddType({0, "(lost)", "(lost)"}));
  while (nodes_.size() < f.first_node) nodes_.push_back(AddNode(0, LostMethod()));
  // … and those that are told once more.
  methods_.resize(f.first_method);
  types_.resize(f.first_type);
  nodes_.resize(f.first_node);
  places_.resize(f.first_place);  // 0: lost
  const int64_t shift_ns = f.start_unix_ns - recording_->start_unix_ns;
  for (const profile::IntervalPlace& p : f.places) places_.push_back(AddPlace(p, shift_ns));
  for (profile::IntervalMethod& m : f.methods) methods_.push_back(AddMethod(std::move(m)));
  for (profile::IntervalType& t : f.types) types_.push_back(AddType(std::move(t)));
  for (const profile::IntervalNode& n : f.nodes)
    nodes_.push_back(AddNode(Node(n.parent), methods_[n.method], places_[n.place]));
}

Status IntervalFold::OnFrame(IntervalFrame&& f) {
  RETURN_IF_ERROR(Check(f));
  const bool first = !begun_;
  if (first || f.sequence < next_sequence_ || f.dictionary != dictionary_) Begin(f);
  profile::ProcessTables& t = *recording_->processes[process_];
  if (!first && f.sequence > next_sequence_)
    t.losses.Add(Loss::kAgentFrames, f.sequence - next_sequence_);
  next_sequence_ = f.sequence + 1;
  t.agent.source = f.source;
  t.info.measures |= f.measures;
  TakeDictionaries(f);

  profile::AgentInterval interval;
  interval.process = process_;
  interval.shift_ns = f.start_unix_ns - recording_->start_unix_ns;
  for (const profile::IntervalGc& g : f.gcs) {
    if (!keep_gcs_) break;
    profile::GcRecord gc;
    gc.process = process_;
    gc.number = g.number;
    gc.generation = g.generation;
    gc.type = g.type;
    gc.reason = g.reason;
    gc.start_ns = g.start_ns < 0 ? -1 : g.start_ns + interval.shift_ns;
    gc.end_ns = g.end_ns < 0 ? -1 : g.end_ns + interval.shift_ns;
    gc.pause_ns = g.pause_ns;
    gc.size_after = g.size_after;
    t.gcs.push_back(std::move(gc));
    ++t.info.gc.started;
    if (g.pause_ns >= 0) {
      ++t.info.gc.pauses;
      t.info.gc.paused_ns += g.pause_ns;
    }
  }
  for (const auto& [name, count] : f.losses)
    if (!t.losses.AddByName(name, count)) t.losses.Add(Loss::kAgentOther, count);
  const auto translate = [this](auto& rows) {
    for (auto& r : rows) {
      r.node = Node(r.node);
      r.type = Type(r.type);
    }
  };
  translate(f.flows);
  translate(f.parts);
  translate(f.lives);
  translate(f.turnover);
  translate(f.events);
  f.gcs.clear();
  f.losses.clear();
  f.methods.clear();
  f.types.clear();
  f.nodes.clear();
  f.places.clear();
  f.first_method = static_cast<uint32_t>(t.agent.methods.size());
  f.first_type = static_cast<uint32_t>(t.agent.types.size());
  f.first_node = static_cast<uint32_t>(t.agent.nodes.size());
  interval.frame = std::move(f);
  if (sink_ != nullptr) sink_->OnInterval(std::move(interval));
  return OkStatus();
}

}  // namespace clrscope::analysis
