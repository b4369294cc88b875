// SPDX-License-Identifier: Apache-2.0
#include "nettrace/event_merge.h"

#include <algorithm>
#include <utility>

namespace clrscope::nettrace {

void EventMerge::SelectThread(uint64_t id, uint32_t sequence_if_new) {
  const auto [it, is_new] = by_id_.try_emplace(id, 0);
  if (is_new) {
    if (free_.empty()) {
      it->second = static_cast<uint32_t>(threads_.size());
      threads_.emplace_back();
    } else {
      it->second = free_.back();
      free_.pop_back();
    }
    Thread& t = threads_[it->second];
    t.id = id;
    t.sequence = sequence_if_new;
  }
  last_ = &threads_[it->second];
}

void EventMerge::CountGap(const Thread& thread, uint32_t expected, int64_t time) {
  // Before V6 a thread id may be used again: the new thread's numbers start at 1.
  if (version_ < 6 && expected == 0) return;
  const uint32_t gap = expected - thread.sequence;  // wraps as the runtime's counter does
  if (gap == 0 || gap >= 0x80000000u) return;
  dropped_ += gap;
  constexpr size_t kMaxGaps = 4096;
  const Gap here{std::min(thread.time, time), std::max(thread.time, time)};
  if (gaps_.size() < kMaxGaps)
    gaps_.push_back(here);
  else
    gaps_.back() = {std::min(gaps_.back().after, here.after),
                    std::max(gaps_.back().before, here.before)};
}

void EventMerge::Activate(Thread& thread) {
  active_.push_back(static_cast<uint32_t>(&thread - threads_.data()));
  thread.active = true;
}

void EventMerge::BuildHeap(int64_t stop) {
  heap_.clear();
  size_t kept = 0;
  for (const uint32_t i : active_) {
    Thread& t = threads_[i];
    t.active = !t.rows.empty();
    if (!t.active) continue;  // drained since
    active_[kept++] = i;
    if (t.rows[t.head].time < stop) heap_.push_back({t.rows[t.head].time, i});
  }
  active_.resize(kept);
  for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown(i);
}

void EventMerge::SiftDown(size_t i) {
  for (;;) {
    size_t least = i;
    for (const size_t child : {2 * i + 1, 2 * i + 2})
      if (child < heap_.size() && heap_[child].time < heap_[least].time) least = child;
    if (least == i) return;
    std::swap(heap_[i], heap_[least]);
    i = least;
  }
}

void EventMerge::PopHeap(int64_t stop) {
  Thread& t = threads_[heap_.front().thread];
  const bool drained = t.head == t.rows.size();
  if (drained) {
    t.rows.clear();
    t.rests.clear();
    t.head = 0;
  }
  if (!drained && t.rows[t.head].time < stop) {
    heap_.front().time = t.rows[t.head].time;
  } else {
    heap_.front() = heap_.back();
    heap_.pop_back();
  }
  SiftDown(0);
}

void EventMerge::Checkpoint(uint64_t thread, uint32_t sequence, std::optional<int64_t> time) {
  SelectThread(thread, sequence);
  Thread& t = *last_;
  NoteSequence(t, sequence, time.value_or(t.time));
  t.time = time.value_or(t.time);
  // In V6 it is a lower bound: below what was seen it says nothing.
  if (version_ < 6 || sequence - t.sequence < 0x80000000u) t.sequence = sequence;
}

void EventMerge::Remove(uint64_t thread) {
  const auto it = by_id_.find(thread);
  if (it == by_id_.end() || threads_[it->second].active) return;
  free_.push_back(it->second);
  threads_[it->second] = {};
  by_id_.erase(it);
  last_ = nullptr;
}

void EventMerge::ReleaseDrained() {
  // Many threads that were busy once must not add up.
  const size_t keep_rows = (1 << 18) / std::max<size_t>(active_.size(), 1);
  for (const uint32_t i : active_) {
    Thread& t = threads_[i];
    t.active = false;
    t.head = 0;
    t.rows.clear();
    t.rests.clear();
    if (t.rows.capacity() > keep_rows) t.rows.shrink_to_fit();
    if (t.rests.capacity() > keep_rows) t.rests.shrink_to_fit();
  }
  active_.clear();
}

void EventMerge::Shrink() {
  for (Thread& t : threads_)
    if (t.head == t.rows.size()) {
      t.head = 0;
      t.rows = {};
      t.rests = {};
    }
}

void EventMerge::Own() {
  size_t bytes = 0;
  for (const uint32_t i : active_)
    for (size_t r = threads_[i].head; r < threads_[i].rows.size(); ++r)
      bytes += threads_[i].Row(threads_[i].rows[r]).owned_bytes();
  std::unique_ptr<std::byte[]> copies(bytes != 0 ? new std::byte[bytes] : nullptr);
  std::byte* to = copies.get();
  for (const uint32_t i : active_) {
    Thread& t = threads_[i];
    for (size_t r = t.head; r < t.rows.size(); ++r) {
      EventRow row = t.Row(t.rows[r]);
      to = row.Own(to);
      t.rows[r].payload = row.payload;
      if (t.rows[r].rest == 0) continue;
      Rest& rest = t.rests[t.rows[r].rest - 1];
      rest.activity_back = row.activity_back;
      rest.related_back = row.related_back;
    }
  }
  owned_ = std::move(copies);
}

void EventMerge::Clear() {
  threads_.clear();
  free_.clear();
  active_.clear();
  by_id_.clear();
  last_ = nullptr;
  queued_ = 0;
}

void EventMerge::ForgetIdle() {
  for (auto it = by_id_.begin(); it != by_id_.end();) {
    Thread& t = threads_[it->second];
    if (!t.touched && !t.active) {
      free_.push_back(it->second);
      t = {};
      it = by_id_.erase(it);
    } else {
      t.touched = false;
      ++it;
    }
  }
  last_ = nullptr;
}

}  // namespace clrscope::nettrace
