// SPDX-License-Identifier: Apache-2.0
#include "profile/slice.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

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
  open_.resize(std::max<size_t>(series + 1, open_.size() + open_.size() / 2));
  touched_.resize(open_.size() / 64 + 1);
}

void SliceBuilder::ForgetNotes() {
  for (Open& o : open_) o.note = 0;
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
  size_t rows = 0;
  for (const uint64_t word : touched_) rows += static_cast<size_t>(std::popcount(word));
  out.rows.reserve(rows);
  for (size_t i = 0; i < touched_.size(); ++i) {
    for (uint64_t word = std::exchange(touched_[i], 0); word != 0; word &= word - 1) {
      const auto series =
          static_cast<uint32_t>(i * 64 + static_cast<size_t>(std::countr_zero(word)));
      out.rows.push_back({series, std::exchange(open_[series].sums, {})});
    }
  }
  empty_ = true;
  out.threads = std::move(threads_);
  threads_.clear();
  if (thread_index_.size() != 0) thread_index_ = FlatMap();
  std::sort(out.threads.begin(), out.threads.end(), [](const ThreadSums& a, const ThreadSums& b) {
    return ThreadOrder(a) < ThreadOrder(b);
  });
  return out;
}

}  // namespace clrscope::profile
