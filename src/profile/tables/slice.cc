// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/slice.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
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

// The threads that keep their name: all, or those with the most samples.
std::vector<uint64_t> ChooseThreads(const Slice& a, const Slice& b) {
  std::vector<uint64_t> ids;
  std::set_union(a.thread_ids.begin(), a.thread_ids.end(), b.thread_ids.begin(), b.thread_ids.end(),
                 std::back_inserter(ids));
  if (ids.size() <= kMostSliceThreads) return ids;
  std::vector<uint64_t> samples(ids.size());
  const auto place = [&ids](uint64_t id) {
    return static_cast<size_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  for (const Slice* s : {&a, &b})
    for (const ThreadPart& p : s->parts) samples[place(s->thread_ids[p.thread])] += p.sums.samples;
  std::vector<size_t> order(ids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(kMostSliceThreads - 1);
  std::nth_element(order.begin(), last, order.end(),
                   [&](size_t x, size_t y) { return samples[x] > samples[y]; });
  std::vector<uint64_t> kept;
  for (auto it = order.begin(); it != last; ++it) kept.push_back(ids[*it]);
  std::sort(kept.begin(), kept.end());
  if (kept.back() != kOtherThreads) kept.push_back(kOtherThreads);
  return kept;
}

// The parts with the threads' places in `ids`, where those that are not there are the last one.
std::vector<ThreadPart> Renumber(const Slice& s, const std::vector<uint64_t>& ids) {
  std::vector<uint32_t> place;
  for (const uint64_t id : s.thread_ids) {
    const auto it = std::lower_bound(ids.begin(), ids.end(), id);
    place.push_back(static_cast<uint32_t>(it != ids.end() && *it == id ? it - ids.begin()
                                                                       : std::ssize(ids) - 1));
  }
  std::vector<ThreadPart> out;
  out.reserve(s.parts.size());
  for (const ThreadPart& p : s.parts) {
    const uint32_t thread = place[p.thread];
    if (!out.empty() && out.back().series == p.series && out.back().thread == thread)
      out.back().sums += p.sums;
    else
      out.push_back({p.series, thread, p.sums});
  }
  const auto order = [](const ThreadPart& p) { return std::make_pair(p.series, p.thread); };
  const auto before = [&](const ThreadPart& a, const ThreadPart& b) { return order(a) < order(b); };
  if (std::is_sorted(out.begin(), out.end(), before)) return out;
  // Some became the last one.
  std::stable_sort(out.begin(), out.end(), before);
  size_t kept = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && order(out[kept - 1]) == order(out[i]))
      out[kept - 1].sums += out[i].sums;
    else
      out[kept++] = out[i];
  }
  out.resize(kept);
  return out;
}

void MergeParts(Slice& into, const Slice& from) {
  if (into.parts.empty() && from.parts.empty()) return;
  std::vector<uint64_t> ids = ChooseThreads(into, from);
  into.parts = MergeSorted(
      Renumber(into, ids), Renumber(from, ids),
      [](const ThreadPart& p) { return std::make_pair(p.series, p.thread); },
      [](ThreadPart& a, const ThreadPart& b) { a.sums += b.sums; });
  into.thread_ids = std::move(ids);
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
  MergeParts(into, from);
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
      thread << 6 | static_cast<uint64_t>(kind) << 4 | static_cast<uint64_t>(source);
  const uint32_t found = thread_index_.Find(key);
  size_t index = found;
  if (found == FlatMap::kNone || !threads_[found].Is(thread, kind, source)) {
    // New; or, with ids of more than 58 bits, another thread's key.
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

void SliceBuilder::AddThread(uint64_t thread, uint32_t series, const SeriesKey& key,
                             const Sums& sums) {
  if (key.source() == Source::kCounted) return AddCountedThread(thread, key.kind(), sums);
  // Of events the thread is a label of the series.
  if (KeepsThreads(key.source())) AddPart(ThreadIndex(thread), series, sums);
}

uint32_t SliceBuilder::FindThreadIndex(uint64_t thread) {
  uint32_t index = id_index_.Find(thread);
  if (index == FlatMap::kNone) {
    index = static_cast<uint32_t>(thread_ids_.size());
    id_index_.Set(thread, index);
    thread_ids_.push_back(thread);
  }
  recent_ids_[thread % recent_ids_.size()] = index;
  return index;
}

void SliceBuilder::AddPart(uint32_t thread, uint32_t series, const Sums& sums) {
  constexpr int kLook = 8;  // past that a thread's second part costs less than to find its first
  if (series >= part_of_.size()) part_of_.resize(open_.size());
  uint32_t at = part_of_[series];
  for (int i = 0; at != kNoPart && i < kLook; ++i, at = parts_[at - 1].next) {
    OpenPart& part = parts_[at - 1];
    if (part.thread != thread) continue;
    part.sums += sums;
    return;
  }
  parts_.push_back({thread, part_of_[series], sums});
  part_of_[series] = static_cast<uint32_t>(parts_.size());
}

void SliceBuilder::TakeParts(uint32_t series, uint32_t first, std::vector<ThreadPart>& out) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  for (uint32_t at = first; at != kNoPart; at = parts_[at - 1].next)
    out.push_back({series, parts_[at - 1].thread, parts_[at - 1].sums});
  if (std::ssize(out) - begin < 2) return;
  std::sort(out.begin() + begin, out.end(),
            [](const ThreadPart& a, const ThreadPart& b) { return a.thread < b.thread; });
  auto last = out.begin() + begin;
  for (auto it = last + 1; it != out.end(); ++it) {
    if (it->thread == last->thread)
      last->sums += it->sums;
    else
      *++last = *it;
  }
  out.erase(last + 1, out.end());
}

Slice SliceBuilder::Take(uint32_t process, int64_t start_ns, int64_t end_ns) {
  Slice out;
  out.process = process;
  out.start_ns = start_ns;
  out.end_ns = end_ns;
  size_t rows = 0;
  for (const uint64_t word : touched_) rows += static_cast<size_t>(std::popcount(word));
  out.rows.reserve(rows);
  out.parts.reserve(parts_.size());
  // Threads by their ids, so that slices can be merged.
  std::vector<uint32_t> place(thread_ids_.size());
  if (!parts_.empty()) {
    out.thread_ids = thread_ids_;
    std::sort(out.thread_ids.begin(), out.thread_ids.end());
    for (size_t i = 0; i < place.size(); ++i)
      place[i] = static_cast<uint32_t>(
          std::lower_bound(out.thread_ids.begin(), out.thread_ids.end(), thread_ids_[i]) -
          out.thread_ids.begin());
    for (OpenPart& part : parts_) part.thread = place[part.thread];
  }
  const size_t parts_end = parts_.empty() ? 0 : part_of_.size();
  for (size_t i = 0; i < touched_.size(); ++i) {
    for (uint64_t word = std::exchange(touched_[i], 0); word != 0; word &= word - 1) {
      const auto series =
          static_cast<uint32_t>(i * 64 + static_cast<size_t>(std::countr_zero(word)));
      out.rows.push_back({series, std::exchange(open_[series].sums, {})});
      if (series >= parts_end || part_of_[series] == kNoPart) continue;
      TakeParts(series, std::exchange(part_of_[series], kNoPart), out.parts);
    }
  }
  empty_ = true;
  out.threads = std::move(threads_);
  threads_.clear();
  if (thread_index_.size() != 0) thread_index_ = FlatMap();
  parts_.clear();
  thread_ids_.clear();
  if (id_index_.size() != 0) id_index_ = FlatMap();
  std::sort(out.threads.begin(), out.threads.end(), [](const ThreadSums& a, const ThreadSums& b) {
    return ThreadOrder(a) < ThreadOrder(b);
  });
  return out;
}

}  // namespace clrscope::profile
