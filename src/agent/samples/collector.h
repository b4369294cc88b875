// SPDX-License-Identifier: Apache-2.0
// The agent's tables: empties shards into flows by (node, type, kind) and events by (node, type,
// thread, owner), hands births to the live sample, and makes an interval's frame of it all. On the
// agent's thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "agent/samples/activity_numbers.h"
#include "agent/samples/place_table.h"
#include "agent/samples/sample_window.h"
#include "agent/samples/shard.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/names.h"
#include "base/flat_map.h"
#include "profile/estimate/reservoir.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

class Collector {
 public:
  static constexpr size_t kMaxNodes = 1'000'000, kMaxFlows = 256 * 1024;  // of one interval
  static constexpr size_t kMaxParts = 512 * 1024;

  Collector(Names& names, CodeTable& code) : names_(names), code_(code) {}

  // A frame of the code table is this method.
  void Bind(uint32_t frame, uint32_t method);
  // … and its address is told: see PlaceTable::Bind().
  void BindPlace(uint32_t frame, uint64_t address, uint32_t method, bool may_unload,
                 int64_t seen_ns) {
    Bind(frame, method);
    places_.Bind(frame, address, method, may_unload, seen_ns);
  }
  void UnbindAll() {
    methods_.clear();
    places_.UnbindAll();
  }
  // Time by which it is told how long nothing was seen of a stack; seconds, any zero.
  void SetClock(uint32_t seconds) { clock_s_ = seconds; }
  bool bound(uint32_t frame) const {
    return frame < methods_.size() && methods_[frame] != kUnbound;
  }

  // Whether the runtime's exceptions come by a dispatcher whose frames are left out.
  void SetDispatched(bool dispatched) { dispatched_ = dispatched; }

  // Adds up what a shard's table holds. `thread`: its owner, as the kernel counts. `live` may be
  // null: then there are no births in it. `admitted(handle)` is called for handles that the sample
  // did not take.
  template <class Refused>
  void Take(const ShardTable& table, uint64_t thread, profile::LiveSample* live,
            Refused&& refused) {
    nodes_of_.clear();
    for (const ShardEntry& e : table.entries()) {
      if (profile::IsEvent(e.event)) {
        AddEvent(table.frames_of(e), e, e.sums);
        nodes_of_.push_back({});
      } else {
        nodes_of_.push_back(AddFlow(table, e, thread));
      }
    }
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
      o.activity = activities_.Of(b.activity, b.alloc_ns);
      const uint32_t window = table.entries()[b.entry].window;
      o.weight = static_cast<float>(SampleWindow::WeightOf(window));
      o.window = SampleWindow::GroupOf(window);
      if (live == nullptr || !live->Add(o)) refused(b.handle);
    }
  }

  // A shard's event; `unfinished`: a wait that goes on.
  void AddEvent(std::span<const uint32_t> frames, const ShardKey& key, const profile::Sums& sums,
                bool unfinished = false);

  // What was added to the dictionaries since the last call, and the flows, which begin anew.
  void FillFrame(profile::IntervalFrame& frame);
  // The next frame holds the dictionaries from their beginnings.
  void Resend() { sent_methods_ = sent_types_ = sent_nodes_ = sent_places_ = 0; }

  // Gives back what nobody needs: stacks that were not seen for a while and that no followed object
  // has, and the methods and types of these alone. What is left is numbered anew and sent again as
  // another dictionary. While shards are empty: frames that are no longer current lose their
  // methods. `live` may be null.
  bool wants_trim() const;
  void Trim(profile::LiveSample* live);
  const std::vector<profile::IntervalNode>& nodes() const { return nodes_; }
  ActivityNumbers& activities() { return activities_; }
  uint64_t overflowed() const { return overflowed_; }
  uint64_t threads_lost() const { return threads_lost_; }  // samples told without their thread
  uint64_t truncated() const { return truncated_; }        // samples and events whose stack IsCut()
  uint64_t unloaded() const { return unloaded_; }  // samples of types that were gone too soon
  uint64_t trims() const { return trims_; }
  size_t memory_bytes() const;

 private:
  struct NodeNames;
  uint64_t Weighted(uint64_t events, double weight);
  static constexpr uint32_t kUnbound = ~0u;
  static constexpr size_t kFewNodes = 64 * 1024, kFewNames = 16 * 1024;  // not worth a trim
  struct Placed {
    uint32_t node = 0, type = 0;
    profile::HeapKind kind{};
  };
  Placed AddFlow(const ShardTable& table, const ShardEntry& e, uint64_t thread);
  void AddPart(uint32_t flow, uint64_t thread, const profile::Estimate& value);
  uint32_t NodeOf(std::span<const uint32_t> frames);
  uint32_t Child(uint32_t parent, uint32_t method, uint32_t place = 0);
  size_t names_count() const { return names_.methods().size() + names_.types().size(); }
  std::vector<bool> NodesToKeep(const profile::LiveSample* live, uint32_t seen_within_s) const;
  void Renumber(const std::vector<bool>& keep, profile::LiveSample* live);

  Names& names_;
  CodeTable& code_;
  std::vector<uint32_t> methods_;             // of frames
  std::vector<profile::IntervalNode> nodes_;  // node id - 1
  std::vector<uint32_t> node_seen_s_;         // when it was a sample's leaf, alike
  std::vector<uint32_t> type_seen_s_;         // by type id
  PlaceTable places_;
  FlatMap children_;  // (parent, place, or method where there is none) → node
  std::vector<profile::IntervalFlow> flows_;
  FlatMap flow_ids_;
  // What of each flow a thread did, by (flow, thread).
  struct Part {
    uint32_t flow = 0;
    uint64_t thread = 0;
    profile::Estimate value;
  };
  std::vector<Part> parts_;
  FlatMap part_ids_;
  using EventKey = std::tuple<profile::Source, uint32_t, uint32_t, uint64_t, uint64_t, bool>;
  std::map<EventKey, uint32_t> event_ids_;  // by KeyOf()
  std::vector<profile::IntervalEvent> events_;
  bool dispatched_ = false;
  std::vector<Placed> nodes_of_;
  ActivityNumbers activities_;
  size_t sent_methods_ = 0, sent_types_ = 0, sent_nodes_ = 0, sent_places_ = 0;
  uint64_t overflowed_ = 0, unloaded_ = 0, truncated_ = 0, trims_ = 0, threads_lost_ = 0;
  uint32_t clock_s_ = 0, dictionary_ = 0;
  double rounding_ = 0.5;  // what weighted events leave over
  size_t trim_at_nodes_ = kFewNodes, trim_at_names_ = kFewNames;
};

}  // namespace clrscope::agent
