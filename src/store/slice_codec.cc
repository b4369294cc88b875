// SPDX-License-Identifier: Apache-2.0
#include "store/slice_codec.h"

#include "profile/interval/interval_codec.h"
#include "store/column_codec.h"

namespace clrscope::store {
namespace {

using profile::SliceRow;
using profile::Source;
using profile::ThreadSums;

// What sums are expected to be; the blob holds the differences.
uint64_t ExpectedSize(uint64_t samples, uint64_t nominal) { return samples * nominal; }
uint64_t ExpectedAmount(uint64_t samples, Source source) {
  return source == Source::kTick                                  ? samples * 102400
         : source == Source::kCounted || profile::IsEvent(source) ? samples
                                                                  : 0;
}

// A row's parts within Slice::parts.
struct Span {
  size_t first = 0, count = 0;
  bool whole = false;  // they add up to the row: the last one need not be told
};

std::vector<Span> SpansOf(const profile::Slice& slice) {
  std::vector<Span> spans(slice.rows.size());
  size_t at = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    Span& span = spans[i];
    span.first = at;
    profile::Sums sum;
    for (; at < slice.parts.size() && slice.parts[at].series == slice.rows[i].series; ++at)
      sum += slice.parts[at].sums;
    span.count = at - span.first;
    const profile::Sums& row = slice.rows[i].sums;
    span.whole = span.count != 0 && sum.samples == row.samples && sum.amount == row.amount &&
                 sum.stands_for == row.stands_for;
  }
  return spans;
}

void EncodeParts(const profile::Slice& slice, const profile::SeriesTable& series, ColumnWriter& w) {
  w.Unsigned(slice.thread_ids.size());
  if (slice.thread_ids.empty()) return;
  uint64_t thread = 0;
  for (const uint64_t id : slice.thread_ids) {
    w.Unsigned(id - thread);
    thread = id;
  }
  const std::vector<Span> spans = SpansOf(slice);
  const auto kept = [&](size_t row) {
    return profile::KeepsThreads(series.keys()[slice.rows[row].series].source());
  };
  for (size_t i = 0; i < spans.size(); ++i)
    if (kept(i)) w.Unsigned(spans[i].count << 1 | (spans[i].whole ? 1 : 0));
  for (size_t i = 0; i < spans.size(); ++i)
    for (size_t k = 0; kept(i) && k < spans[i].count; ++k)
      w.Unsigned(slice.parts[spans[i].first + k].thread);
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!kept(i)) continue;
    const uint32_t id = slice.rows[i].series;
    for (size_t k = 0; k + (spans[i].whole ? 1 : 0) < spans[i].count; ++k) {
      const profile::Sums& s = slice.parts[spans[i].first + k].sums;
      w.Unsigned(s.samples - 1);
      w.Signed(
          static_cast<int64_t>(s.amount - ExpectedSize(s.samples, series.nominal_sizes()[id])));
      w.Signed(static_cast<int64_t>(s.stands_for -
                                    ExpectedAmount(s.samples, series.keys()[id].source())));
    }
  }
}

// False: they are damaged.
bool DecodeParts(ColumnReader& r, const profile::SeriesTable& series, profile::Slice& slice) {
  slice.parts.clear();
  slice.thread_ids.clear();
  if (r.remaining() == 0) return true;  // of a capture that kept none
  const uint64_t threads = r.Unsigned();
  if (threads > r.remaining()) return false;
  uint64_t thread = 0;
  for (uint64_t i = 0; i < threads; ++i) slice.thread_ids.push_back(thread += r.Unsigned());
  if (threads == 0) return r.ok();
  std::vector<Span> spans(slice.rows.size());
  size_t parts = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!profile::KeepsThreads(series.keys()[slice.rows[i].series].source())) continue;
    const uint64_t code = r.Unsigned();
    if (code >> 1 > r.remaining() || (code == 1)) return false;
    spans[i] = {parts, static_cast<size_t>(code >> 1), (code & 1) != 0};
    parts += spans[i].count;
    if (parts > r.remaining()) return false;
  }
  slice.parts.reserve(parts);
  for (size_t i = 0; i < spans.size(); ++i)
    for (size_t k = 0; k < spans[i].count; ++k) {
      const uint64_t index = r.Unsigned();
      if (index >= threads) return false;
      slice.parts.push_back({slice.rows[i].series, static_cast<uint32_t>(index), {}});
    }
  for (size_t i = 0; i < spans.size(); ++i) {
    const uint32_t id = slice.rows[i].series;
    profile::Sums rest = slice.rows[i].sums;
    for (size_t k = 0; k < spans[i].count; ++k) {
      profile::Sums& s = slice.parts[spans[i].first + k].sums;
      if (k + 1 == spans[i].count && spans[i].whole) {
        s = rest;
        continue;
      }
      s.samples = r.Unsigned() + 1;
      if (s.samples == 0 || s.samples > rest.samples ||
          (s.samples == rest.samples && spans[i].whole))
        return false;
      s.amount =
          ExpectedSize(s.samples, series.nominal_sizes()[id]) + static_cast<uint64_t>(r.Signed());
      s.stands_for =
          ExpectedAmount(s.samples, series.keys()[id].source()) + static_cast<uint64_t>(r.Signed());
      rest.samples -= s.samples;
      rest.amount -= s.amount;
      rest.stands_for -= s.stands_for;
    }
  }
  return r.ok();
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
    w.Signed(static_cast<int64_t>(r.sums.amount -
                                  ExpectedSize(r.sums.samples, series.nominal_sizes()[r.series])));
  for (const SliceRow& r : slice.rows)
    w.Signed(static_cast<int64_t>(
        r.sums.stands_for - ExpectedAmount(r.sums.samples, series.keys()[r.series].source())));
  w.Unsigned(slice.threads.size());
  uint64_t thread = 0;
  for (const ThreadSums& t : slice.threads) {
    w.Unsigned(t.thread - thread);
    thread = t.thread;
    w.Unsigned(static_cast<uint64_t>(t.kind) | static_cast<uint64_t>(t.source) << 2);
    w.Unsigned(t.value.samples);
    w.Number(t.value.amount);
    w.Number(t.value.count);
    w.Number(t.value.seen_amount);
    w.Number(t.value.seen_count);
    if (t.source != Source::kSampled) continue;
    for (const double v :
         {t.value.var_amount, t.value.var_count, t.value.max_amount, t.value.max_count})
      w.Float(static_cast<float>(v));
  }
  EncodeParts(slice, series, w);
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
    row.sums.amount = ExpectedSize(row.sums.samples, series.nominal_sizes()[row.series]) +
                      static_cast<uint64_t>(r.Signed());
  for (SliceRow& row : slice.rows)
    row.sums.stands_for = ExpectedAmount(row.sums.samples, series.keys()[row.series].source()) +
                          static_cast<uint64_t>(r.Signed());
  const uint64_t threads = r.Unsigned();
  if (threads > r.remaining() / 7) return damaged();
  slice.threads.assign(static_cast<size_t>(threads), {});
  uint64_t thread = 0;
  for (ThreadSums& t : slice.threads) {
    thread += r.Unsigned();
    t.thread = thread;
    const uint64_t code = r.Unsigned();
    t.kind = static_cast<profile::HeapKind>(code & 3);
    if ((code >> 2) >= profile::kSources) return damaged();
    t.source = static_cast<Source>(code >> 2);
    t.value.samples = r.Unsigned();
    t.value.amount = r.Number();
    t.value.count = r.Number();
    t.value.seen_amount = r.Number();
    t.value.seen_count = r.Number();
    t.value.biased = t.source == Source::kTick && t.value.samples != 0;
    if (t.source != Source::kSampled) continue;
    for (double* v :
         {&t.value.var_amount, &t.value.var_count, &t.value.max_amount, &t.value.max_count})
      *v = static_cast<double>(r.Float());
  }
  if (!r.ok() || !DecodeParts(r, series, slice)) return damaged();
  return OkStatus();
}

std::optional<uint16_t> SeriesAttributes(uint64_t stored, int64_t version) {
  constexpr uint64_t kMost = 0xFFFF;
  if (stored > kMost) return std::nullopt;
  const uint64_t attributes = version >= 2 ? stored : (stored & 15) | (stored >> 4) << 6;
  if (attributes > kMost) return std::nullopt;
  profile::SeriesKey key;
  key.attributes = static_cast<uint16_t>(attributes);
  if (static_cast<size_t>(key.source()) >= profile::kSources) return std::nullopt;
  return key.attributes;
}

Status DecodeSeries(Bytes blob, uint64_t count, profile::SeriesTable& series) {
  const auto damaged = [] { return Error{ErrorCode::kCorrupt, "a dictionary is damaged"}; };
  ASSIGN_OR_RETURN(ColumnReader r, ColumnReader::Open(blob));
  if (count > r.remaining()) return damaged();
  std::vector<profile::SeriesKey> keys(static_cast<size_t>(count));
  for (profile::SeriesKey& k : keys) k.node = static_cast<uint32_t>(r.Unsigned());
  for (profile::SeriesKey& k : keys) k.type = static_cast<uint32_t>(r.Unsigned());
  for (profile::SeriesKey& k : keys) k.attributes = static_cast<uint16_t>(r.Unsigned());
  for (profile::SeriesKey& k : keys) k.labels = static_cast<uint16_t>(r.Unsigned());
  for (const profile::SeriesKey& k : keys) {
    if (static_cast<size_t>(k.source()) >= profile::kSources) return damaged();
    series.Restore(k, r.Unsigned());
  }
  return r.ok() ? OkStatus() : damaged();
}

Result<profile::IntervalFrame> DecodeIntervalBlob(Bytes blob) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, DecompressBlob(blob));
  return profile::DecodeInterval(Bytes(bytes));
}

}  // namespace clrscope::store
