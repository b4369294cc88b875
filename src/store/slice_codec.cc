// SPDX-License-Identifier: Apache-2.0
#include "store/slice_codec.h"

#include "profile/interval_codec.h"
#include "store/column_codec.h"

namespace clrscope::store {
namespace {

using profile::SliceRow;
using profile::Source;
using profile::ThreadSums;

// What a row's sums are expected to be; the blob holds the differences.
uint64_t ExpectedSize(const SliceRow& row, uint64_t nominal) { return row.sums.samples * nominal; }
uint64_t ExpectedAmount(const SliceRow& row, Source source) {
  return source == Source::kTick      ? row.sums.samples * 102400
         : source == Source::kCounted ? row.sums.samples
                                      : 0;
}

}  // namespace

std::string EncodeSlice(const profile::Slice& slice, const profile::SeriesTable& series) {
  ColumnWriter w;
  w.Unsigned(slice.rows.size());
  uint32_t previous = 0;
  for (const SliceRow& r : slice.rows) {
    w.Unsigned(r.series - previous);
    previous = r.series;
  }
  for (const SliceRow& r : slice.rows) w.Unsigned(r.sums.samples - 1);
  for (const SliceRow& r : slice.rows)
    w.Signed(
        static_cast<int64_t>(r.sums.size_sum - ExpectedSize(r, series.nominal_sizes()[r.series])));
  for (const SliceRow& r : slice.rows)
    w.Signed(static_cast<int64_t>(r.sums.amount_sum -
                                  ExpectedAmount(r, series.keys()[r.series].source())));
  w.Unsigned(slice.threads.size());
  uint64_t thread = 0;
  for (const ThreadSums& t : slice.threads) {
    w.Unsigned(t.thread - thread);
    thread = t.thread;
    w.Unsigned(static_cast<uint64_t>(t.kind) | static_cast<uint64_t>(t.source) << 2);
    w.Unsigned(t.value.samples);
    w.Number(t.value.bytes);
    w.Number(t.value.objects);
    w.Number(t.value.seen_bytes);
    w.Number(t.value.seen_objects);
    if (t.source != Source::kSampled) continue;
    for (const double v :
         {t.value.var_bytes, t.value.var_objects, t.value.max_bytes, t.value.max_objects})
      w.Float(static_cast<float>(v));
  }
  return w.Finish();
}

Status DecodeSlice(Bytes blob, const profile::SeriesTable& series, profile::Slice& slice) {
  const auto damaged = [] { return Error{ErrorCode::kCorrupt, "a slice is damaged"}; };
  ASSIGN_OR_RETURN(ColumnReader r, ColumnReader::Open(blob));
  const uint64_t rows = r.Unsigned();
  // Four columns of a byte or more; a series is there at most once.
  if (rows > r.remaining() / 4 || rows > series.keys().size()) return damaged();
  slice.rows.assign(static_cast<size_t>(rows), {});
  uint64_t id = 0;
  for (SliceRow& row : slice.rows) {
    id += r.Unsigned();
    if (id >= series.keys().size()) return damaged();
    row.series = static_cast<uint32_t>(id);
  }
  for (SliceRow& row : slice.rows) row.sums.samples = r.Unsigned() + 1;
  for (SliceRow& row : slice.rows)
    row.sums.size_sum =
        ExpectedSize(row, series.nominal_sizes()[row.series]) + static_cast<uint64_t>(r.Signed());
  for (SliceRow& row : slice.rows)
    row.sums.amount_sum =
        ExpectedAmount(row, series.keys()[row.series].source()) + static_cast<uint64_t>(r.Signed());
  const uint64_t threads = r.Unsigned();
  if (threads > r.remaining() / 7) return damaged();
  slice.threads.assign(static_cast<size_t>(threads), {});
  uint64_t thread = 0;
  for (ThreadSums& t : slice.threads) {
    thread += r.Unsigned();
    t.thread = thread;
    const uint64_t code = r.Unsigned();
    t.kind = static_cast<profile::HeapKind>(code & 3);
    t.source = static_cast<Source>((code >> 2) & 3);
    t.value.samples = r.Unsigned();
    t.value.bytes = r.Number();
    t.value.objects = r.Number();
    t.value.seen_bytes = r.Number();
    t.value.seen_objects = r.Number();
    t.value.biased = t.source == Source::kTick && t.value.samples != 0;
    if (t.source != Source::kSampled) continue;
    for (double* v :
         {&t.value.var_bytes, &t.value.var_objects, &t.value.max_bytes, &t.value.max_objects})
      *v = static_cast<double>(r.Float());
  }
  if (!r.ok()) return damaged();
  return OkStatus();
}

Status DecodeSeries(Bytes blob, uint64_t count, profile::SeriesTable& series) {
  const auto damaged = [] { return Error{ErrorCode::kCorrupt, "a dictionary is damaged"}; };
  ASSIGN_OR_RETURN(ColumnReader r, ColumnReader::Open(blob));
  if (count > r.remaining()) return damaged();
  std::vector<profile::SeriesKey> keys(static_cast<size_t>(count));
  for (profile::SeriesKey& k : keys) k.node = static_cast<uint32_t>(r.Unsigned());
  for (profile::SeriesKey& k : keys) k.type = static_cast<uint32_t>(r.Unsigned());
  for (profile::SeriesKey& k : keys) k.attributes = static_cast<uint16_t>(r.Unsigned());
  for (const profile::SeriesKey& k : keys) series.Restore(k, r.Unsigned());
  return r.ok() ? OkStatus() : damaged();
}

Result<profile::IntervalFrame> DecodeIntervalBlob(Bytes blob) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, DecompressBlob(blob));
  return profile::DecodeInterval(Bytes(bytes));
}

}  // namespace clrscope::store
