// SPDX-License-Identifier: Apache-2.0
// The agent's tables: empties shards into flows by (node, type, kind), hands births to the live
// sample, and makes an interval's frame of it all. On the agent's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/code_table.h"
#include "agent/names.h"
#include "agent/shard.h"
#include "base/flat_map.h"
#include "profile/interval_frame.h"
#include "profile/reservoir.h"

namespace clrscope::agent {

class Collector {
 public:
  static constexpr size_t kMaxNodes = 1'000'000;

  Collector(Names& names, CodeTable& code) : names_(names), code_(code) {}

  // A frame of the code table is this method.
  void Bind(uint32_t frame, uint32_t method);
  void UnbindAll() { methods_.clear(); }
  bool bound(uint32_t frame) const {
    return frame < methods_.size() && methods_[frame] != kUnbound;
  }

  // Adds up what a shard's table holds. `live` may be null: then there are no births in it.
  // `admitted(handle)` is called for handles that the sample did not take.
  template <class Refused>
  void Take(const ShardTable& table, profile::LiveSample* live, Refused&& refused) {
    nodes_of_.clear();
    for (const ShardEntry& e : table.entries()) nodes_of_.push_back(AddFlow(table, e));
    for (const ShardBirth& b : table.births()) {
      const Placed& at = nodes_of_[b.entry];
      profile::LiveObject o;
      o.handle = b.handle;
      o.size = b.size;
      o.amount = b.amount;
      o.alloc_ns = b.alloc_ns;
      o.node = at.node;
      o.type = at.type;
      o.alloc_gc = b.alloc_gc;
      o.kind = at.kind;
      o.level = b.level;
      if (live == nullptr || !live->Add(o)) refused(b.handle);
    }
  }

  // What was added to the dictionaries since the last call, and the flows, which begin anew.
  void FillFrame(profile::IntervalFrame& frame);
  // The next frame holds the dictionaries from their beginnings.
  void Resend() { sent_methods_ = sent_types_ = sent_nodes_ = 0; }
  const std::vector<profile::IntervalNode>& nodes() const { return nodes_; }
  uint64_t overflowed() const { return overflowed_; }
  size_t memory_bytes() const;

 private:
  static constexpr uint32_t kUnbound = ~0u;
  struct Placed {
    uint32_t node = 0, type = 0;
    profile::HeapKind kind{};
  };
  Placed AddFlow(const ShardTable& table, const ShardEntry& e);
  uint32_t NodeOf(std::span<const uint32_t> frames);
  uint32_t Child(uint32_t parent, uint32_t method);

  Names& names_;
  CodeTable& code_;
  std::vector<uint32_t> methods_;             // of frames
  std::vector<profile::IntervalNode> nodes_;  // node id - 1
  FlatMap children_;                          // (parent, method) → node
  std::vector<profile::IntervalFlow> flows_;
  FlatMap flow_ids_;
  std::vector<Placed> nodes_of_;
  size_t sent_methods_ = 0, sent_types_ = 0, sent_nodes_ = 0;
  uint64_t overflowed_ = 0;
};

}  // namespace clrscope::agent
