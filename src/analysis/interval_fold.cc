// SPDX-License-Identifier: Apache-2.0
#include "analysis/interval_fold.h"

#include <algorithm>
#include <string>

namespace clrscope::analysis {
namespace {

using profile::AgentTables;
using profile::IntervalFrame;

// More than any agent's own caps: a damaged frame cannot ask for gigabytes.
constexpr uint64_t kMostEntries = 4'000'000;

Error Damaged(const IntervalFrame& frame, const char* what) {
  return Error{ErrorCode::kCorrupt, "frame " + std::to_string(frame.sequence) +
                                        " of the agent names " + what + " that it never told"};
}

}  // namespace

IntervalFold::IntervalFold(profile::Recording* recording, uint32_t process,
                           profile::IntervalSink* sink, bool keep_gcs)
    : recording_(recording), process_(process), sink_(sink), keep_gcs_(keep_gcs) {}

void IntervalFold::Begin(const IntervalFrame& frame) {
  AgentTables& t = recording_->processes[process_]->agent;
  t.used = true;
  t.source = frame.source;
  method_base_ = static_cast<uint32_t>(t.methods.size());
  // The first ids of an agent are 1: they follow the last ones.
  type_base_ = static_cast<uint32_t>(t.types.size()) - 1;
  node_base_ = static_cast<uint32_t>(t.nodes.size()) - 1;
  begun_ = true;
  next_sequence_ = frame.sequence;
}

Status IntervalFold::Check(const IntervalFrame& f) const {
  const uint64_t methods = uint64_t{f.first_method} + f.methods.size();
  const uint64_t types = uint64_t{f.first_type} + f.types.size();
  const uint64_t nodes = uint64_t{f.first_node} + f.nodes.size();
  if (f.first_type == 0 || f.first_node == 0 ||
      std::max({methods + method_base_, types + type_base_, nodes + node_base_}) > kMostEntries)
    return Damaged(f, "entries");
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (f.nodes[i].parent >= f.first_node + i || f.nodes[i].method >= methods)
      return Damaged(f, "stacks");
  const auto known = [&](const auto& rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const auto& r) { return r.node < nodes && r.type < types; });
  };
  if (!known(f.flows) || !known(f.lives) || !known(f.turnover))
    return Damaged(f, "types or stacks");
  return OkStatus();
}

void IntervalFold::TakeDictionaries(IntervalFrame& f) {
  AgentTables& t = recording_->processes[process_]->agent;
  // First the entries of frames that were lost.
  while (t.methods.size() < method_base_ + f.first_method)
    t.methods.push_back({"", "", "(lost)", "(lost)", 0, profile::kPseudo});
  while (t.types.size() < type_base_ + f.first_type) t.types.push_back({0, "(lost)", "(lost)"});
  t.methods.insert(t.methods.end(), std::make_move_iterator(f.methods.begin()),
                   std::make_move_iterator(f.methods.end()));
  t.types.insert(t.types.end(), std::make_move_iterator(f.types.begin()),
                 std::make_move_iterator(f.types.end()));
  while (t.nodes.size() < node_base_ + f.first_node) {
    if (t.methods.empty()) t.methods.push_back({"", "", "(lost)", "(lost)", 0, profile::kPseudo});
    t.nodes.push_back({0, method_base_});
  }
  for (const profile::IntervalNode& n : f.nodes)
    t.nodes.push_back({Node(n.parent), n.method + method_base_});
}

Status IntervalFold::OnFrame(IntervalFrame&& f) {
  if (!begun_ || f.sequence < next_sequence_) Begin(f);
  RETURN_IF_ERROR(Check(f));
  profile::ProcessTables& t = *recording_->processes[process_];
  if (f.sequence > next_sequence_) t.losses.Add(Loss::kAgentFrames, f.sequence - next_sequence_);
  next_sequence_ = f.sequence + 1;
  t.agent.source = f.source;
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
  translate(f.lives);
  translate(f.turnover);
  f.gcs.clear();
  f.losses.clear();
  f.methods.clear();
  f.types.clear();
  f.nodes.clear();
  f.first_method = static_cast<uint32_t>(t.agent.methods.size());
  f.first_type = static_cast<uint32_t>(t.agent.types.size());
  f.first_node = static_cast<uint32_t>(t.agent.nodes.size());
  interval.frame = std::move(f);
  if (sink_ != nullptr) sink_->OnInterval(std::move(interval));
  return OkStatus();
}

}  // namespace clrscope::analysis
