// SPDX-License-Identifier: Apache-2.0
// Collections, out of a capture.
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "store/capture_reader.h"
#include "store/damaged.h"
#include "store/gc_codec.h"

namespace clrscope::store {

// A row of table `gc`, until its details are there.
struct CaptureReader::GcRow {
  uint32_t number = 0;
  int32_t generation = -1, type = -1, reason = -1;
  int64_t start_ns = -1, end_ns = -1;
  profile::GcBytes size_after = profile::kGcBytesUnknown;

  profile::GcRecord Record(uint32_t process) const {
    profile::GcRecord g;
    g.process = process;
    g.number = number;
    g.generation = generation;
    g.type = type;
    g.reason = reason;
    g.start_ns = start_ns;
    g.end_ns = end_ns;
    g.size_after = size_after;
    return g;
  }
};

Status CaptureReader::LoadGcs() {
  ASSIGN_OR_RETURN(
      Statement gcs,
      db_.Prepare(
          "select "
          "process,number,generation,type,reason,start_ns,end_ns,gen0_bytes,gen1_bytes,gen2_bytes,"
          "loh_bytes,poh_bytes from gc order by process,rowid"));
  // Figures are added up: nothing real is larger.
  constexpr int64_t kMostNs = int64_t{1} << 61, kMostBytes = int64_t{1} << 50;
  const auto time = [&](int column) { return std::clamp(gcs.Int(column), -kMostNs, kMostNs); };
  GcRows rows(recording_.processes.size());
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, gcs.Step());
    if (!row) break;
    if (Process(gcs.Int(0)) == nullptr) continue;
    GcRow& g = rows[static_cast<size_t>(gcs.Int(0))].emplace_back();
    g.number = static_cast<uint32_t>(gcs.Int(1));
    g.generation = static_cast<int32_t>(gcs.Int(2));
    g.type = static_cast<int32_t>(gcs.Int(3));
    g.reason = static_cast<int32_t>(gcs.Int(4));
    g.start_ns = time(5);
    g.end_ns = time(6);
    for (int k = 0; k < 5; ++k)
      g.size_after[static_cast<size_t>(k)] = std::clamp<int64_t>(gcs.Int(7 + k), -1, kMostBytes);
  }
  // Captures of earlier versions have nothing more.
  ASSIGN_OR_RETURN(const bool detailed, HasTable("gc_detail"));
  if (detailed) RETURN_IF_ERROR(LoadGcDetails(rows));
  for (uint32_t p = 0; p < rows.size(); ++p)
    for (size_t i = recording_.processes[p]->gcs.size(); i < rows[p].size(); ++i)
      recording_.processes[p]->gcs.push_back(rows[p][i].Record(p));
  const auto earlier = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  for (const auto& t : recording_.processes)
    if (!std::is_sorted(t->gcs.begin(), t->gcs.end(), earlier))
      std::stable_sort(t->gcs.begin(), t->gcs.end(), earlier);
  return OkStatus();
}

Status CaptureReader::LoadGcDetails(const GcRows& gc_rows) {
  ASSIGN_OR_RETURN(
      Statement q,
      db_.Prepare("select process,first,count,data from gc_detail order by process,first"));
  std::vector<profile::GcRecord> part;
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) break;
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr) return Damaged("collections of no process");
    const auto process = static_cast<uint32_t>(q.Int(0));
    const std::vector<GcRow>& rows = gc_rows[process];
    const auto first = static_cast<uint64_t>(q.Int(1)), count = static_cast<uint64_t>(q.Int(2));
    if (first > rows.size() || count > rows.size() - first || first < t->gcs.size() ||
        count > kMaxGcDetails)
      return Damaged("the details of its collections");
    while (t->gcs.size() < first) t->gcs.push_back(rows[t->gcs.size()].Record(process));
    part.clear();
    for (uint64_t i = 0; i < count; ++i) part.push_back(rows[first + i].Record(process));
    RETURN_IF_ERROR(DecodeGcDetails(q.Blob(3), part));
    for (const profile::GcRecord& g : part) t->gcs.push_back(g);
    for (const profile::GcRecord& g : part) {
      bool fits = g.trigger_node < t->stacks.size();
      for (const auto* top : {&g.top_types, &g.top_stacks})
        for (const profile::GcAllocated& a : *top)
          fits = fits && a.node < t->stacks.size() && a.type < t->types.size();
      if (!fits) return Damaged("a collection's stacks");
    }
  }
  ASSIGN_OR_RETURN(Statement facts, db_.Prepare("select process,name,value from gc_fact"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, facts.Step());
    if (!row) break;
    profile::ProcessTables* t = Process(facts.Int(0));
    if (t == nullptr) return Damaged("collections of no process");
    const std::string name(facts.Text(1));
    const int64_t number = std::clamp<int64_t>(facts.Int(2), -1, int64_t{1} << 61);
    ForEachGcFact(t->info.gc, [&](std::string_view known, auto& value) {
      if (known == name) value = static_cast<std::remove_reference_t<decltype(value)>>(number);
    });
  }
  ASSIGN_OR_RETURN(Statement types,
                   db_.Prepare("select process,kind,type_id,name,count,bytes from gc_type "
                               "order by rowid"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, types.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(types.Int(0));
    if (t == nullptr) return Damaged("collections of no process");
    profile::GcFacts::TypeCount type;
    type.type_id = static_cast<uint64_t>(types.Int(2));
    type.name = recording_.strings.Intern(types.Text(3));
    type.count = static_cast<uint64_t>(types.Int(4));
    type.bytes = static_cast<uint64_t>(types.Int(5));
    (types.Text(1) == "pinned" ? t->info.gc.pinned_types : t->info.gc.finalized_types)
        .push_back(type);
  }
}

}  // namespace clrscope::store
