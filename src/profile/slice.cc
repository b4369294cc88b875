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

void SliceBuilder::Grow(uint32_t series) {
  sums_.resize(std::max<size_t>(series + 1, sums_.size() + sums_.size() / 2));
}

Estimate& SliceBuilder::FindThread(uint64_t thread, HeapKind kind, Source source) {
  const uint64_t key =
      thread << 4 | static_cast<uint64_t>(kind) << 2 | static_cast<uint64_t>(source);
  const uint32_t found = thread_index_.Find(key);
  size_t index = found;
  if (found == FlatMap::kNone || !threads_[found].Is(thread, kind, source)) {
    // New; or, with ids of more than 60 bits, another thread's key.
    const auto it = found == FlatMap::kNone
                        ? threads_.end()
                        : std::find_if(threads_.begin(), threads_.end(), [&](const ThreadSums& t) {
                            return t.Is(thread, kind, source);
                          });
    index = static_cast<size_t>(it - threads_.begin());
    if (it == threads_.end()) threads_.push_back({thread, kind, source, {}});
    if (found == FlatMap::kNone) thread_index_.Set(key, static_cast<uint32_t>(index));
  }
  recent_threads_[thread % recent_threads_.size()] = index;
  return threads_[index].value;
}

void SliceBuilder::AddThread(uint64_t thread, const SeriesKey& key, const Sums& sums) {
  if (key.source() == Source::kCounted) return AddCountedThread(thread, key.kind(), sums);
  ThreadEstimate(thread, key.kind(), key.source()) += EstimateOf(key, sums);
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
