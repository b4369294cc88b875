// SPDX-License-Identifier: Apache-2.0
// What an agent told, into a capture.
#include "profile/interval/interval_codec.h"
#include "store/capture_writer.h"
#include "store/column_codec.h"
#include "store/slice_codec.h"

namespace clrscope::store {

CaptureWriter::EncodedInterval CaptureWriter::Encode(const profile::AgentInterval& interval) {
  return {interval.process, interval.start_ns(), interval.end_ns(), interval.shift_ns,
          CompressBlob(profile::EncodeInterval(interval.frame))};
}

void CaptureWriter::OnInterval(profile::AgentInterval&& interval) {
  pending_intervals_.push_back(Encode(interval));
  pending_bytes_ += pending_intervals_.back().data.size();
}

// What is new, as a frame of the agent that holds nothing else.
Status CaptureWriter::WriteAgentDictionary(uint32_t index) {
  const profile::AgentTables& t = recording_->processes[index]->agent;
  Progress& done = progress_[index];
  if (t.methods.size() == done.agent_methods && t.types.size() == done.agent_types &&
      t.nodes.size() == done.agent_nodes)
    return OkStatus();
  profile::IntervalFrame frame;
  frame.source = t.source;
  const auto rest = [](const auto& all, size_t& from, uint32_t& first, auto& out) {
    first = static_cast<uint32_t>(from);
    out.assign(all.begin() + static_cast<ptrdiff_t>(from), all.end());
    from = all.size();
  };
  rest(t.methods, done.agent_methods, frame.first_method, frame.methods);
  rest(t.types, done.agent_types, frame.first_type, frame.types);
  rest(t.nodes, done.agent_nodes, frame.first_node, frame.nodes);
  frame.first_place = 0;
  insert_agent_dictionary_.Bind(0, int64_t{index})
      .Bind(1, BytesOf(CompressBlob(profile::EncodeInterval(frame))));
  return insert_agent_dictionary_.Run();
}

Status CaptureWriter::WriteInterval(const EncodedInterval& e) {
  insert_interval_.Bind(0, int64_t{e.process})
      .Bind(1, e.start_ns)
      .Bind(2, e.end_ns)
      .Bind(3, e.shift_ns)
      .Bind(4, BytesOf(e.data));
  return insert_interval_.Run();
}

Status CaptureWriter::CompactIntervalsTo(int64_t width_ns, int64_t before_ns) {
  before_ns = before_ns / width_ns * width_ns;  // whole spans only
  if (before_ns <= 0) return OkStatus();
  ASSIGN_OR_RETURN(Statement find,
                   db_.Prepare("select id,process,shift_ns,data,start_ns,end_ns from "
                               "agent_interval where end_ns<=? and end_ns-start_ns<? order by "
                               "process,shift_ns,start_ns"));
  find.Bind(0, before_ns).Bind(1, width_ns);
  std::optional<profile::AgentInterval> open;
  std::vector<int64_t> parts, gone;  // of the one that is open; of those that were merged
  std::vector<EncodedInterval> merged;
  const auto close = [&] {
    if (parts.size() > 1) {
      merged.push_back(Encode(*open));
      gone.insert(gone.end(), parts.begin(), parts.end());
    }
    parts.clear();
    open.reset();
  };
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) break;
    profile::AgentInterval next;
    next.process = static_cast<uint32_t>(find.Int(1));
    next.shift_ns = find.Int(2);
    ASSIGN_OR_RETURN(next.frame, DecodeIntervalBlob(find.Blob(3)));
    const bool joins = open && open->process == next.process && open->shift_ns == next.shift_ns &&
                       open->start_ns() / width_ns == next.start_ns() / width_ns;
    if (open && !joins) close();
    parts.push_back(find.Int(0));
    if (joins) {
      profile::MergeInterval(*open, std::move(next));
    } else {
      open = std::move(next);
    }
  }
  if (open) close();
  ASSIGN_OR_RETURN(Statement remove, db_.Prepare("delete from agent_interval where id=?"));
  for (const int64_t id : gone) {
    remove.Bind(0, id);
    RETURN_IF_ERROR(remove.Run());
  }
  for (const EncodedInterval& e : merged) RETURN_IF_ERROR(WriteInterval(e));
  return OkStatus();
}

}  // namespace clrscope::store
