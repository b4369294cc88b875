// SPDX-License-Identifier: Apache-2.0
#include "agent/collector.h"

namespace clrscope::agent {
namespace {

constexpr uint32_t kNoRoom = ~0u;

}  // namespace

void Collector::Bind(uint32_t frame, uint32_t method) {
  if (frame >= methods_.size()) methods_.resize(frame + 1, kUnbound);
  methods_[frame] = method;
}

uint32_t Collector::Child(uint32_t parent, uint32_t method) {
  const uint64_t key = PairKey(parent, method);
  const uint32_t there = children_.Find(key);
  if (there != FlatMap::kNone) return there;
  if (nodes_.size() >= kMaxNodes && parent != 0) return kNoRoom;
  nodes_.push_back({parent, method});
  const auto id = static_cast<uint32_t>(nodes_.size());
  children_.Set(key, id);
  return id;
}

uint32_t Collector::NodeOf(std::span<const uint32_t> frames) {
  if (frames.empty()) return Child(0, Names::kNoStackMethod);
  uint32_t node = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    const uint32_t f = frames[i];
    uint32_t method = Names::kUnknownMethod;
    if (f == kNativeFrame) {
      method = Names::kNativeMethod;
    } else if (f == kTruncatedFrame) {
      method = Names::kTruncatedMethod;
    } else if (bound(f)) {
      method = methods_[f];
    }
    node = Child(node, method);
    if (node != kNoRoom) continue;
    ++overflowed_;
    return Child(0, Names::kOtherMethod);
  }
  return node;
}

Collector::Placed Collector::AddFlow(const ShardTable& table, const ShardEntry& e) {
  Placed at;
  at.node = NodeOf(table.frames_of(e));
  at.type = names_.TypeOf(e.type);
  at.kind = e.kind;
  // Exact below a million nodes and 2^28 types.
  const uint64_t key =
      uint64_t{at.node} << 32 | uint64_t{at.type} << 2 | static_cast<uint64_t>(at.kind);
  uint32_t i = flow_ids_.Find(key);
  if (i == FlatMap::kNone) {
    i = static_cast<uint32_t>(flows_.size());
    flow_ids_.Set(key, i);
    flows_.push_back({at.node, at.type, at.kind, {}});
  }
  flows_[i].value += e.value;
  return at;
}

void Collector::FillFrame(profile::IntervalFrame& frame) {
  frame.first_method = static_cast<uint32_t>(sent_methods_);
  frame.first_type = static_cast<uint32_t>(sent_types_) + 1;
  frame.first_node = static_cast<uint32_t>(sent_nodes_) + 1;
  const auto from = [](const auto& all, size_t sent) {
    return std::vector(all.begin() + static_cast<ptrdiff_t>(sent), all.end());
  };
  frame.methods = from(names_.methods(), sent_methods_);
  frame.types = from(names_.types(), sent_types_);
  frame.nodes = from(nodes_, sent_nodes_);
  sent_methods_ = names_.methods().size();
  sent_types_ = names_.types().size();
  sent_nodes_ = nodes_.size();
  frame.flows.swap(flows_);
  flows_.clear();
  flow_ids_ = FlatMap();
}

size_t Collector::memory_bytes() const {
  size_t bytes = methods_.capacity() * sizeof(uint32_t) +
                 nodes_.capacity() * sizeof(profile::IntervalNode) + children_.size() * 24 +
                 flows_.capacity() * sizeof(profile::IntervalFlow);
  for (const profile::IntervalMethod& m : names_.methods())
    bytes +=
        sizeof m + m.module.capacity() + m.mvid.capacity() + m.method.capacity() + m.raw.capacity();
  for (const profile::IntervalType& t : names_.types())
    bytes += sizeof t + t.name.capacity() + t.raw.capacity();
  return bytes;
}

}  // namespace clrscope::agent
