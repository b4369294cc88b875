// SPDX-License-Identifier: Apache-2.0
#include "store/gc_codec.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "store/column_codec.h"

namespace clrscope::store {
namespace {

using profile::GcAllocated;
using profile::GcHeap;
using profile::GcRecord;

constexpr int64_t kMaxTime = int64_t{1} << 61;
constexpr size_t kMaxHeaps = 1024, kMaxTop = 64;

// Times, stored as what lies between them and the GC's start. New ones go to the end.
template <class Record, class Visit>
void ForEachTime(Record& r, Visit&& visit) {
  visit(r.triggered_ns);
  visit(r.pause_start_ns);
  visit(r.restart_ns);
  visit(r.previous_restart_ns);
}

template <class Committed, class Visit>
void ForEachCommitted(Committed& c, Visit&& visit) {
  visit(c.in_use);
  visit(c.global_decommit);
  visit(c.free);
  visit(c.global_free);
  visit(c.bookkeeping);
}

// Numbers, stored as differences to the GC before. New ones go to the end.
template <class Record, class Visit>
void ForEachNumber(Record& r, Visit&& visit) {
  visit(r.flags);
  visit(r.pause_ns);
  visit(r.initial_pause_ns);
  visit(r.final_pause_ns);
  visit(r.suspend_ns);
  visit(r.longest_suspend_ns);
  for (auto& v : r.promoted) visit(v);
  visit(r.finalization_promoted_bytes);
  visit(r.finalization_promoted_count);
  visit(r.pinned_objects);
  visit(r.sink_blocks);
  visit(r.handles);
  visit(r.generations);
  for (auto& g : r.generation_data) {
    visit(g.size_before);
    visit(g.free_list_before);
    visit(g.free_objects_before);
    visit(g.size_after);
    visit(g.free_list_after);
    visit(g.free_objects_after);
    visit(g.in);
    visit(g.pinned_survived);
    visit(g.non_pinned_survived);
    visit(g.budget);
  }
  visit(r.free_list_allocated);
  visit(r.free_list_rejected);
  visit(r.end_of_segment_allocated);
  visit(r.condemned_allocated);
  visit(r.pinned_allocated);
  visit(r.pinned_allocated_advance);
  visit(r.heap_count);
  visit(r.condemned_generation);
  visit(r.mechanisms);
  visit(r.pause_mode);
  visit(r.memory_load_percent);
  visit(r.gen0_reduction_count);
  visit(r.condemn_reasons0);
  visit(r.condemn_reasons1);
  for (auto& v : r.phase_us) visit(v);
  for (auto& v : r.mark_ns) visit(v);
  for (auto& v : r.mark_bytes) visit(v);
  ForEachCommitted(r.committed_before, visit);
  ForEachCommitted(r.committed_after, visit);
  visit(r.wanted_heap_count);
  visit(r.pinned_seen);
  visit(r.pinned_seen_bytes);
  visit(r.trigger_node);
  for (auto& v : r.ticked_bytes) visit(v);
  visit(r.sampled_bytes);
}

template <class Heap, class Visit>
void ForEachHeapNumber(Heap& h, Visit&& visit) {
  visit(h.heap);
  visit(h.condemn_reasons0);
  visit(h.condemn_reasons1);
  visit(h.compact_mechanisms);
  visit(h.expand_mechanisms);
  visit(h.objects_before);
  visit(h.survived);
  visit(h.mark_ns);
  for (auto& v : h.survival_percent) visit(v);
}

template <class Row, class ForEach>
std::vector<uint64_t> NumbersOf(const Row& row, ForEach&& for_each) {
  std::vector<uint64_t> out;
  for_each(row, [&](const auto& v) { out.push_back(static_cast<uint64_t>(v)); });
  return out;
}

const auto kTimes = [](auto& r, auto&& visit) { ForEachTime(r, visit); };
const auto kNumbers = [](auto& r, auto&& visit) { ForEachNumber(r, visit); };
const auto kHeapNumbers = [](auto& h, auto&& visit) { ForEachHeapNumber(h, visit); };

// The number of columns, then column by column, each value as its difference to the row before.
template <class Row, class ForEach>
void WriteColumns(ColumnWriter& w, const std::vector<const Row*>& rows, ForEach&& for_each) {
  std::vector<std::vector<uint64_t>> values;
  values.reserve(rows.size());
  for (const Row* row : rows) values.push_back(NumbersOf(*row, for_each));
  const size_t columns = NumbersOf(Row(), for_each).size();
  w.Unsigned(columns);
  for (size_t c = 0; c < columns; ++c) {
    uint64_t before = 0;
    for (const auto& row : values) {
      w.Signed(static_cast<int64_t>(row[c] - before));
      before = row[c];
    }
  }
}

template <class Row, class ForEach>
Status ReadColumns(ColumnReader& r, const std::vector<Row*>& rows, ForEach&& for_each) {
  const Error damaged{ErrorCode::kCorrupt, "the details of its collections"};
  const uint64_t columns = r.Unsigned();
  if (!r.ok() || (!rows.empty() && columns > r.remaining() / rows.size())) return damaged;
  std::vector<uint64_t> values(static_cast<size_t>(columns) * rows.size());
  for (size_t c = 0; c < columns; ++c) {
    uint64_t before = 0;
    for (size_t i = 0; i < rows.size(); ++i)
      before = values[i * columns + c] = before + static_cast<uint64_t>(r.Signed());
  }
  if (!r.ok()) return damaged;
  for (size_t i = 0; i < rows.size(); ++i) {
    size_t c = 0;
    bool fits = true;
    for_each(*rows[i], [&](auto& v) {
      if (c >= columns) return;  // written before there was such a number
      using Value = std::remove_reference_t<decltype(v)>;
      const uint64_t value = values[i * columns + c++];
      // Figures are added up: nothing real is larger.
      constexpr auto kMost = std::min<uint64_t>(std::numeric_limits<Value>::max(), 1ULL << 58);
      const auto whole = static_cast<int64_t>(value);
      const int64_t least = std::is_signed_v<Value> ? -static_cast<int64_t>(kMost) : 0;
      fits = fits && whole >= least && whole <= static_cast<int64_t>(kMost);
      v = static_cast<Value>(value);
    });
    if (!fits) return damaged;
  }
  return OkStatus();
}

// 0 = unknown
uint64_t TimeCode(int64_t time, int64_t start) {
  if (time == -1) return 0;
  const int64_t d =
      static_cast<int64_t>(static_cast<uint64_t>(time) - static_cast<uint64_t>(start));
  return (static_cast<uint64_t>(d) << 1 ^ static_cast<uint64_t>(d >> 63)) + 1;
}
int64_t TimeOf(uint64_t code, int64_t start) {
  if (code == 0) return -1;
  const uint64_t v = code - 1;
  return static_cast<int64_t>(((v >> 1) ^ (~(v & 1) + 1)) + static_cast<uint64_t>(start));
}

using Top = std::vector<GcAllocated> GcRecord::*;

void WriteTop(ColumnWriter& w, std::span<const GcRecord> gcs, Top top) {
  for (const GcRecord& r : gcs) w.Unsigned((r.*top).size());
  for (const GcRecord& r : gcs)
    for (const GcAllocated& a : r.*top) w.Unsigned(a.type);
  for (const GcRecord& r : gcs)
    for (const GcAllocated& a : r.*top) w.Unsigned(a.node);
  for (const GcRecord& r : gcs)
    for (const GcAllocated& a : r.*top) w.Signed(a.bytes);
}

Status ReadTop(ColumnReader& reader, std::span<GcRecord> gcs, Top top) {
  const Error damaged{ErrorCode::kCorrupt, "what was allocated between its collections"};
  for (GcRecord& r : gcs) {
    const uint64_t n = reader.Unsigned();
    if (!reader.ok() || n > kMaxTop) return damaged;
    (r.*top).resize(static_cast<size_t>(n));
  }
  for (GcRecord& r : gcs)
    for (GcAllocated& a : r.*top) a.type = static_cast<uint32_t>(reader.Unsigned());
  for (GcRecord& r : gcs)
    for (GcAllocated& a : r.*top) a.node = static_cast<uint32_t>(reader.Unsigned());
  for (GcRecord& r : gcs)
    for (GcAllocated& a : r.*top)
      a.bytes = std::clamp<int64_t>(reader.Signed(), 0, int64_t{1} << 58);
  return reader.ok() ? OkStatus() : Status(damaged);
}

}  // namespace

std::string EncodeGcDetails(std::span<const GcRecord> gcs) {
  ColumnWriter w;
  std::vector<const GcRecord*> rows;
  std::vector<const GcHeap*> heaps;
  for (const GcRecord& r : gcs) {
    rows.push_back(&r);
    for (const GcHeap& h : r.heaps) heaps.push_back(&h);
  }
  w.Unsigned(NumbersOf(GcRecord(), kTimes).size());
  std::vector<std::vector<uint64_t>> times;
  for (const GcRecord& r : gcs) times.push_back(NumbersOf(r, kTimes));
  for (size_t c = 0; c < NumbersOf(GcRecord(), kTimes).size(); ++c)
    for (size_t i = 0; i < gcs.size(); ++i)
      w.Unsigned(TimeCode(static_cast<int64_t>(times[i][c]), gcs[i].start_ns));
  WriteColumns(w, rows, kNumbers);
  for (const GcRecord& r : gcs) w.Unsigned(r.heaps.size());
  WriteColumns(w, heaps, kHeapNumbers);
  WriteTop(w, gcs, &GcRecord::top_types);
  WriteTop(w, gcs, &GcRecord::top_stacks);
  return w.Finish();
}

Status DecodeGcDetails(Bytes blob, std::span<GcRecord> gcs) {
  const Error damaged{ErrorCode::kCorrupt, "the details of its collections"};
  if (gcs.size() > kMaxGcDetails) return damaged;
  ASSIGN_OR_RETURN(ColumnReader reader, ColumnReader::Open(blob));
  const uint64_t columns = reader.Unsigned();
  if (!reader.ok() || (!gcs.empty() && columns > reader.remaining() / gcs.size())) return damaged;
  std::vector<uint64_t> codes(static_cast<size_t>(columns) * gcs.size());
  for (uint64_t& code : codes) code = reader.Unsigned();
  for (size_t i = 0; i < gcs.size(); ++i) {
    size_t c = 0;
    ForEachTime(gcs[i], [&](int64_t& v) {
      if (c < columns)
        v = std::clamp(TimeOf(codes[c++ * gcs.size() + i], gcs[i].start_ns), -kMaxTime, kMaxTime);
    });
  }
  std::vector<GcRecord*> rows;
  for (GcRecord& r : gcs) rows.push_back(&r);
  RETURN_IF_ERROR(ReadColumns(reader, rows, kNumbers));
  uint64_t all_heaps = 0;
  for (GcRecord& r : gcs) {
    const uint64_t n = reader.Unsigned();
    all_heaps += n;
    if (!reader.ok() || n > kMaxHeaps || all_heaps > reader.remaining()) return damaged;
    if (r.generations > profile::kGcGenerations) return damaged;
    r.heaps.resize(static_cast<size_t>(n));
  }
  std::vector<GcHeap*> heaps;
  for (GcRecord& r : gcs)
    for (GcHeap& h : r.heaps) heaps.push_back(&h);
  RETURN_IF_ERROR(ReadColumns(reader, heaps, kHeapNumbers));
  RETURN_IF_ERROR(ReadTop(reader, gcs, &GcRecord::top_types));
  RETURN_IF_ERROR(ReadTop(reader, gcs, &GcRecord::top_stacks));
  return OkStatus();
}

}  // namespace clrscope::store
