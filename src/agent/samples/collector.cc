// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/collector.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profile/profile.h"
#include "profile/stacks/throw_rule.h"

namespace clrscope::agent {
namespace {

constexpr uint32_t kNoRoom = ~0u;

// Exact below 16 million nodes, 2^28 types and 128 groups of windows.
uint64_t FlowKey(uint32_t node, uint32_t type, profile::HeapKind kind, uint8_t window) {
  return uint64_t{window} << 56 | uint64_t{node} << 32 | uint64_t{type} << 2 |
         static_cast<uint64_t>(kind);
}

// A place is of one method.
uint64_t ChildKey(uint32_t parent, uint32_t method, uint32_t place) {
  constexpr uint32_t kOfPlace = 1u << 31;
  return PairKey(parent, place != 0 ? place | kOfPlace : method);
}

// For how long a stack is kept after its last sample, and how much of them: the next one holds
// where more is left.
struct Keep {
  uint32_t seconds;
  size_t most_nodes, most_names;
};
constexpr Keep kKeep[] = {
    {600, 64 * 1024, 16 * 1024}, {60, 256 * 1024, 32 * 1024}, {0, ~size_t{0}, ~size_t{0}}};

}  // namespace

// The collector's nodes, for the rule.
struct Collector::NodeNames {
  const Collector& c;
  const profile::IntervalMethod& of(uint32_t node) const {
    return c.names_.methods()[c.nodes_[node - 1].method];
  }
  std::string_view method(uint32_t node) const {
    return node == 0 ? std::string_view() : std::string_view(of(node).method);
  }
  uint32_t parent(uint32_t node) const { return c.nodes_[node - 1].parent; }
  bool has_name(uint32_t node) const {
    return node == 0 || (of(node).flags & (profile::kUnresolved | profile::kPseudo)) == 0;
  }
};

void Collector::Bind(uint32_t frame, uint32_t method) {
  if (frame >= methods_.size()) methods_.resize(frame + 1, kUnbound);
  methods_[frame] = method;
}

uint32_t Collector::Child(uint32_t parent, uint32_t method, uint32_t place) {
  const uint64_t key = ChildKey(parent, method, place);
  const uint32_t there = children_.Find(key);
  if (there != FlatMap::kNone) return there;
  if (nodes_.size() >= kMaxNodes && parent != 0) return kNoRoom;
  nodes_.push_back({parent, method, place});
  node_seen_s_.push_back(clock_s_);
  const auto id = static_cast<uint32_t>(nodes_.size());
  children_.Set(key, id);
  return id;
}

uint32_t Collector::NodeOf(std::span<const uint32_t> frames) {
  if (frames.empty()) return Child(0, Names::kNoStackMethod);
  uint32_t node = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    const uint32_t f = frames[i];
    uint32_t method = Names::kUnknownMethod, place = 0;
    if (f == kNativeFrame) {
      method = Names::kNativeMethod;
    } else if (f == kTruncatedFrame) {
      method = Names::kTruncatedMethod;
    } else if (bound(f)) {
      method = methods_[f];
      place = places_.OfFrame(f);
    }
    node = Child(node, method, place);
    if (node != kNoRoom) continue;
    ++overflowed_;
    return Child(0, Names::kOtherMethod);
  }
  return node;
}

Collector::Placed Collector::AddFlow(const ShardTable& table, const ShardEntry& e,
                                     uint64_t thread) {
  Placed at;
  at.node = NodeOf(table.frames_of(e));
  if (IsCut(table.frames_of(e))) truncated_ += e.value.samples;
  bool gone = false;
  at.type = names_.TypeOf(e.type, e.epoch, &gone);
  if (gone) unloaded_ += e.value.samples;
  if (at.type >= type_seen_s_.size()) type_seen_s_.resize(at.type + 1);
  type_seen_s_[at.type] = clock_s_;
  node_seen_s_[at.node - 1] = clock_s_;
  at.kind = e.kind;
  const uint8_t window = SampleWindow::GroupOf(e.window);
  const profile::Estimate value = StandingFor(e.value, SampleWindow::WeightOf(e.window));
  uint64_t key = FlowKey(at.node, at.type, at.kind, window);
  uint32_t i = flow_ids_.Find(key);
  if (i == FlatMap::kNone && flows_.size() >= kMaxFlows) {
    overflowed_ += e.value.samples;
    at.node = Child(0, Names::kOtherMethod);
    key = FlowKey(at.node, at.type, at.kind, window);
    i = flow_ids_.Find(key);
  }
  if (i == FlatMap::kNone) {
    i = static_cast<uint32_t>(flows_.size());
    flow_ids_.Set(key, i);
    flows_.push_back({at.node, at.type, at.kind, {}, window});
  }
  flows_[i].value += value;
  AddPart(i, thread, value);
  return at;
}

void Collector::AddPart(uint32_t flow, uint64_t thread, const profile::Estimate& value) {
  const uint64_t key = PairKey(flow, static_cast<uint32_t>(thread));  // the kernel's are below 2^22
  uint32_t i = part_ids_.Find(key);
  if (i == FlatMap::kNone) {
    if (parts_.size() >= kMaxParts) {
      threads_lost_ += value.samples;
      return;
    }
    i = static_cast<uint32_t>(parts_.size());
    part_ids_.Set(key, i);
    parts_.push_back({flow, thread, {}});
  }
  parts_[i].value += value;
}

// Weights are no whole numbers: what is rounded off goes to the next row, so that sums stay right
// and every row does on average.
uint64_t Collector::Weighted(uint64_t events, double weight) {
  const double exact = static_cast<double>(events) * weight + rounding_;
  const auto whole = static_cast<uint64_t>(exact);
  rounding_ = exact - static_cast<double>(whole);
  return whole;
}

void Collector::AddEvent(std::span<const uint32_t> frames, const ShardKey& key,
                         const profile::Sums& sums, bool unfinished) {
  profile::IntervalEvent e;
  e.source = key.event;
  e.node = NodeOf(frames);
  if (IsCut(frames)) truncated_ += sums.samples;
  e.thread = key.thread;
  e.owner = key.owner;
  e.unfinished = unfinished;
  e.sums = sums;
  if (key.window != 0) {
    const double weight = SampleWindow::WeightOf(key.window);
    e.sums.amount = Weighted(sums.amount, weight);
    e.sums.stands_for = Weighted(sums.stands_for, weight);
  }
  if (key.event == profile::Source::kException) {
    e.type = names_.TypeThrown(static_cast<uint32_t>(key.type));
    const std::string_view name =
        e.type == 0 ? std::string_view() : std::string_view(names_.types()[e.type - 1].name);
    const profile::Throw at = profile::FindThrow(NodeNames{*this}, e.node, name, dispatched_);
    e.node = at.node;
    if (at.again) e.sums.amount += std::exchange(e.sums.stands_for, 0);
  }
  if (e.type >= type_seen_s_.size()) type_seen_s_.resize(e.type + 1);
  type_seen_s_[e.type] = clock_s_;
  if (!event_ids_.contains(KeyOf(e)) && events_.size() >= kMaxFlows) {
    overflowed_ += sums.samples;
    e.node = Child(0, Names::kOtherMethod);
    e.thread = e.owner = 0;
  }
  node_seen_s_[e.node - 1] = clock_s_;
  const auto [known, added] =
      event_ids_.try_emplace(KeyOf(e), static_cast<uint32_t>(events_.size()));
  if (added) {
    events_.push_back(e);
  } else {
    events_[known->second].sums += e.sums;
  }
}

bool Collector::wants_trim() const {
  return nodes_.size() >= trim_at_nodes_ || names_count() >= trim_at_names_;
}

std::vector<bool> Collector::NodesToKeep(const profile::LiveSample* live,
                                         uint32_t seen_within_s) const {
  std::vector<bool> keep(nodes_.size() + 1);
  for (size_t i = 0; i < nodes_.size(); ++i)
    keep[i + 1] = clock_s_ - node_seen_s_[i] < seen_within_s;
  for (const profile::IntervalFlow& f : flows_) keep[f.node] = true;
  for (const profile::IntervalEvent& e : events_) keep[e.node] = true;
  if (live != nullptr) live->ForEachPlace([&](uint32_t node, uint32_t) { keep[node] = true; });
  for (size_t i = nodes_.size(); i > 0; --i)
    if (keep[i]) keep[nodes_[i - 1].parent] = true;  // parents come first
  return keep;
}

void Collector::Renumber(const std::vector<bool>& keep, profile::LiveSample* live) {
  std::vector<bool> methods(names_.methods().size()), types(names_.types().size() + 1);
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (keep[i + 1]) methods[nodes_[i].method] = true;
  for (uint32_t frame = 0; frame < methods_.size(); ++frame) {
    if (methods_[frame] == kUnbound) continue;
    if (code_.current(frame)) {
      methods[methods_[frame]] = true;
    } else {
      methods_[frame] = kUnbound;
    }
  }
  for (size_t i = 0; i < std::min(types.size(), type_seen_s_.size()); ++i)
    types[i] = clock_s_ - type_seen_s_[i] < kKeep[1].seconds;
  for (const profile::IntervalFlow& f : flows_) types[f.type] = true;
  for (const profile::IntervalEvent& e : events_) types[e.type] = true;
  if (live != nullptr) live->ForEachPlace([&](uint32_t, uint32_t type) { types[type] = true; });
  const Names::Numbers names = names_.Trim(methods, types);
  std::vector<bool> kept_places(places_.all().size() + 1);
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (keep[i + 1]) kept_places[nodes_[i].place] = true;
  const std::vector<uint32_t> places =
      places_.Trim(std::move(kept_places), [this](uint32_t frame) { return bound(frame); });

  std::vector<uint32_t> numbers(nodes_.size() + 1, 0);
  children_ = FlatMap();
  uint32_t kept = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!keep[i + 1]) continue;
    nodes_[kept] = {numbers[nodes_[i].parent], names.methods[nodes_[i].method],
                    places[nodes_[i].place]};
    node_seen_s_[kept] = node_seen_s_[i];
    children_.Set(ChildKey(nodes_[kept].parent, nodes_[kept].method, nodes_[kept].place), kept + 1);
    numbers[i + 1] = ++kept;
  }
  nodes_.resize(kept);
  node_seen_s_.resize(kept);
  nodes_.shrink_to_fit();
  node_seen_s_.shrink_to_fit();
  std::vector<uint32_t> seen(names_.types().size() + 1);
  for (size_t i = 0; i < std::min(type_seen_s_.size(), names.types.size()); ++i)
    if (names.types[i] != Names::kDropped) seen[names.types[i]] = type_seen_s_[i];
  type_seen_s_.swap(seen);
  for (uint32_t& method : methods_)
    if (method != kUnbound) method = names.methods[method];
  flow_ids_ = FlatMap();
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    profile::IntervalFlow& f = flows_[i];
    f.node = numbers[f.node];
    f.type = names.types[f.type];
    flow_ids_.Set(FlowKey(f.node, f.type, f.kind, f.window), i);
  }
  event_ids_.clear();
  for (uint32_t i = 0; i < events_.size(); ++i) {
    profile::IntervalEvent& e = events_[i];
    e.node = numbers[e.node];
    e.type = names.types[e.type];
    event_ids_.emplace(KeyOf(e), i);
  }
  if (live != nullptr) {
    live->Renumber([&](uint32_t& node, uint32_t& type) {
      node = numbers[node];
      type = names.types[type];
    });
  }
}

void Collector::Trim(profile::LiveSample* live) {
  for (const Keep& keep : kKeep) {
    Renumber(NodesToKeep(live, keep.seconds), live);
    if (nodes_.size() < keep.most_nodes && names_count() < keep.most_names) break;
  }
  trim_at_nodes_ = std::max(kFewNodes, std::min(nodes_.size() * 2, kMaxNodes));
  trim_at_names_ = std::max(kFewNames, names_count() * 2);
  ++dictionary_;
  ++trims_;
  Resend();
}

void Collector::FillFrame(profile::IntervalFrame& frame) {
  frame.dictionary = dictionary_;
  frame.first_method = static_cast<uint32_t>(sent_methods_);
  frame.first_type = static_cast<uint32_t>(sent_types_) + 1;
  frame.first_node = static_cast<uint32_t>(sent_nodes_) + 1;
  const auto from = [](const auto& all, size_t sent) {
    return std::vector(all.begin() + static_cast<ptrdiff_t>(sent), all.end());
  };
  frame.methods = from(names_.methods(), sent_methods_);
  frame.types = from(names_.types(), sent_types_);
  frame.nodes = from(nodes_, sent_nodes_);
  frame.first_place = static_cast<uint32_t>(sent_places_) + 1;
  frame.places = from(places_.all(), sent_places_);
  sent_methods_ = names_.methods().size();
  sent_types_ = names_.types().size();
  sent_nodes_ = nodes_.size();
  sent_places_ = places_.all().size();
  for (const Part& p : parts_) {
    const profile::IntervalFlow& flow = flows_[p.flow];
    frame.parts.push_back({flow.node, flow.type, flow.kind, p.thread, p.value, flow.window});
  }
  parts_.clear();
  part_ids_ = FlatMap();
  frame.flows.swap(flows_);
  flows_.clear();
  flow_ids_ = FlatMap();
  frame.events.swap(events_);
  events_.clear();
  event_ids_.clear();
}

size_t Collector::memory_bytes() const {
  constexpr size_t kMapEntry = 96;
  return names_.memory_bytes() + places_.memory_bytes() +
         (methods_.capacity() + node_seen_s_.capacity() + type_seen_s_.capacity()) *
             sizeof(uint32_t) +
         nodes_.capacity() * sizeof(profile::IntervalNode) + children_.size() * 24 +
         flows_.capacity() * sizeof(profile::IntervalFlow) + parts_.capacity() * sizeof(Part) +
         part_ids_.size() * 24 + events_.capacity() * sizeof(profile::IntervalEvent) +
         event_ids_.size() * kMapEntry + activities_.memory_bytes();
}

}  // namespace clrscope::agent
