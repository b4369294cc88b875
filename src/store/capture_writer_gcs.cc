// SPDX-License-Identifier: Apache-2.0
// Collections, into a capture.
#include <algorithm>

#include "store/capture_writer.h"
#include "store/column_codec.h"
#include "store/gc_codec.h"

namespace clrscope::store {
namespace {

constexpr int64_t kGcsTogether = 512;  // in one blob of details

}  // namespace

Status CaptureWriter::WriteGcs(uint32_t index, bool last) {
  // Rows leave memory once they are written: the last few wait, and a background GC until it ends,
  // with dozens of foreground ones meanwhile.
  constexpr size_t kKeep = 8, kKeepRunning = 1024;
  profile::GcRecords& gcs = recording_->processes[index]->gcs;
  profile::GcRecords kept;
  std::vector<const profile::PackedGc*> written;
  for (size_t i = 0; i < gcs.size(); ++i) {
    const profile::PackedGc& g = gcs[i];
    const size_t younger = gcs.size() - i - 1;
    if (!last && (younger < kKeep || (younger < kKeepRunning && g.end_ns < 0))) {
      kept.push_back(g);
      continue;
    }
    insert_gc_.Bind(0, int64_t{index})
        .Bind(1, int64_t{g.number})
        .Bind(2, int64_t{g.generation})
        .Bind(3, int64_t{g.type})
        .Bind(4, int64_t{g.reason});
    insert_gc_.Bind(5, g.start_ns).Bind(6, g.end_ns);
    const profile::GcBytes size_after = g.Sizes().size_after;
    for (int k = 0; k < 5; ++k) insert_gc_.Bind(7 + k, size_after[static_cast<size_t>(k)]);
    RETURN_IF_ERROR(insert_gc_.Run());
    written.push_back(&g);
  }
  uint64_t& first = progress_[index].gcs;
  for (size_t i = 0; i < written.size(); i += kGcsTogether) {
    std::vector<profile::GcRecord> part;
    for (size_t k = i; k < std::min(written.size(), i + kGcsTogether); ++k)
      part.push_back(written[k]->Unpack());
    RETURN_IF_ERROR(WriteGcDetails(index, first, part));
    first += part.size();
  }
  gcs = std::move(kept);
  return OkStatus();
}

Status CaptureWriter::WriteGcDetails(uint32_t index, uint64_t first,
                                     std::span<const profile::GcRecord> records) {
  insert_gc_detail_.Bind(0, int64_t{index})
      .Bind(1, Signed(first))
      .Bind(2, Signed(records.size()))
      .Bind(3, BytesOf(EncodeGcDetails(records)));
  return insert_gc_detail_.Run();
}

Status CaptureWriter::WriteGcFacts(uint32_t index, bool last) {
  const profile::GcFacts& facts = recording_->processes[index]->info.gc;
  std::vector<int64_t>& written = progress_[index].gc_facts;
  Status status = OkStatus();
  size_t i = 0;
  ForEachGcFact(facts, [&](std::string_view name, const auto& value) {
    const auto number = static_cast<int64_t>(value);
    if (i == written.size()) written.push_back(~number);
    if (!status.ok() || written[i] == number) return void(++i);
    insert_gc_fact_.Bind(0, int64_t{index}).Bind(1, name).Bind(2, written[i++] = number);
    status = insert_gc_fact_.Run();
  });
  RETURN_IF_ERROR(std::move(status));
  if (!last) return OkStatus();
  const auto write = [&](std::string_view kind,
                         const std::vector<profile::GcFacts::TypeCount>& types) -> Status {
    for (const auto& type : types) {
      insert_gc_type_.Bind(0, int64_t{index})
          .Bind(1, kind)
          .Bind(2, Signed(type.type_id))
          .Bind(3, recording_->strings.Get(type.name))
          .Bind(4, Signed(type.count))
          .Bind(5, Signed(type.bytes));
      RETURN_IF_ERROR(insert_gc_type_.Run());
    }
    return OkStatus();
  };
  RETURN_IF_ERROR(write("pinned", facts.pinned_types));
  return write("finalized", facts.finalized_types);
}

Status CaptureWriter::CompactGcs() {
  ASSIGN_OR_RETURN(Statement find,
                   db_.Prepare("select d.rowid,d.process,d.first,d.count,d.data from gc_detail d "
                               "where d.count<? order by d.process,d.first"));
  ASSIGN_OR_RETURN(
      Statement rows,
      db_.Prepare("select start_ns from gc where process=? order by rowid limit ? offset ?"));
  ASSIGN_OR_RETURN(Statement remove, db_.Prepare("delete from gc_detail where rowid=?"));
  find.Bind(0, kGcsTogether);
  struct Run {
    uint32_t process = 0;
    uint64_t first = 0;
    std::vector<int64_t> ids;
    std::vector<profile::GcRecord> records;
  };
  std::vector<Run> runs;
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) break;
    const auto process = static_cast<uint32_t>(find.Int(1));
    const auto first = static_cast<uint64_t>(find.Int(2));
    const auto count = static_cast<size_t>(find.Int(3));
    std::vector<profile::GcRecord> part(count);
    rows.Bind(0, find.Int(1)).Bind(1, find.Int(3)).Bind(2, find.Int(2));
    for (profile::GcRecord& r : part) {  // times are stored as differences to it
      ASSIGN_OR_RETURN(const bool there, rows.Step());
      if (!there) break;
      r.start_ns = rows.Int(0);
    }
    rows.Reset();
    RETURN_IF_ERROR(DecodeGcDetails(find.Blob(4), part));
    const bool joins = !runs.empty() && runs.back().process == process &&
                       runs.back().first + runs.back().records.size() == first &&
                       runs.back().records.size() + count <= kGcsTogether;
    if (!joins) runs.push_back({process, first, {}, {}});
    runs.back().ids.push_back(find.Int(0));
    for (profile::GcRecord& r : part) runs.back().records.push_back(std::move(r));
  }
  for (const Run& run : runs) {
    if (run.ids.size() < 2) continue;
    for (const int64_t id : run.ids) {
      remove.Bind(0, id);
      RETURN_IF_ERROR(remove.Run());
    }
    RETURN_IF_ERROR(WriteGcDetails(run.process, run.first, run.records));
  }
  return OkStatus();
}

}  // namespace clrscope::store
