// SPDX-License-Identifier: Apache-2.0
#include "profile/slice.h"

#include <algorithm>
#include <tuple>

namespace clrscope::profile {
namespace {

auto ThreadOrder(const ThreadSums& t) { return std::make_tuple(t.thread, t.kind, t.source); }

// Merges two ascending lists; equal keys are combined.
template <class Row, class Key, class Combine>
std::vector<Row> MergeSorted(const std::vector<Row>& a, const std::vector<Row>& b, Key key,
                             Combine combine) {
  std::vector<Row> out;
  out.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && key(a[i]) < key(b[j]))) {
      out.push_back(a[i++]);
    } else if (i == a.size() || key(b[j]) < key(a[i])) {
      out.push_back(b[j++]);
    } else {
      out.push_back(a[i++]);
      combine(out.back(), b[j++]);
    }
  }
  return out;
}

}  // namespace

void MergeSlice(Slice& into, const Slice& from) {
  into.start_ns = std::min(into.start_ns, from.start_ns);
  into.end_ns = std::max(into.end_ns, from.end_ns);
  into.rows = MergeSorted(
      into.rows, from.rows, [](const SliceRow& r) { return r.series; },
      [](SliceRow& a, const SliceRow& b) { a.sums += b.sums; });
  into.threads = MergeSorted(into.threads, from.threads, ThreadOrder,
                             [](ThreadSums& a, const ThreadSums& b) { a.value += b.value; });
}

void SliceBuilder::Add(uint32_t series, const Sums& sums) {
  if (series >= sums_.size())
    sums_.resize(std::max<size_t>(series + 1, sums_.size() + sums_.size() / 2));
  Sums& s = sums_[series];
  if (s.samples == 0) touched_.push_back(series);
  s += sums;
}

void SliceBuilder::AddThread(uint64_t thread, const SeriesKey& series_key, const Sums& sums) {
  const HeapKind kind = series_key.kind();
  const Source source = series_key.source();
  const auto matches = [&](const ThreadSums& t) {
    return t.thread == thread && t.kind == kind && t.source == source;
  };
  size_t& recent = recent_threads_[thread % recent_threads_.size()];
  if (recent >= threads_.size() || !matches(threads_[recent])) {
    const uint64_t key =
        thread << 4 | static_cast<uint64_t>(kind) << 2 | static_cast<uint64_t>(source);
    const uint32_t found = thread_index_.Find(key);
    if (found != FlatMap::kNone && matches(threads_[found])) {
      recent = found;
    } else {  // new; or, with ids of more than 60 bits, another thread's key
      const auto it = found == FlatMap::kNone
                          ? threads_.end()
                          : std::find_if(threads_.begin(), threads_.end(), matches);
      recent = static_cast<size_t>(it - threads_.begin());
      if (it == threads_.end()) threads_.push_back({thread, kind, source, {}});
      if (found == FlatMap::kNone) thread_index_.Set(key, static_cast<uint32_t>(recent));
    }
  }
  Estimate& value = threads_[recent].value;
  if (source == Source::kCounted) {  // these come by the million: counts, without an error
    value.samples += sums.samples;
    value.bytes += static_cast<double>(sums.size_sum);
    value.objects += static_cast<double>(sums.amount_sum);
    value.seen_bytes = value.bytes;
    value.seen_objects = value.objects;
  } else {
    value += EstimateOf(series_key, sums);
  }
}

Slice SliceBuilder::Take(uint32_t process, int64_t start_ns, int64_t end_ns) {
  Slice out;
  out.process = process;
  out.start_ns = start_ns;
  out.end_ns = end_ns;
  std::sort(touched_.begin(), touched_.end());
  out.rows.reserve(touched_.size());
  for (const uint32_t series : touched_) {
    out.rows.push_back({series, sums_[series]});
    sums_[series] = {};
  }
  touched_.clear();
  out.threads = std::move(threads_);
  threads_.clear();
  if (thread_index_.size() != 0) thread_index_ = FlatMap();
  std::sort(out.threads.begin(), out.threads.end(), [](const ThreadSums& a, const ThreadSums& b) {
    return ThreadOrder(a) < ThreadOrder(b);
  });
  return out;
}

}  // namespace clrscope::profile
