// SPDX-License-Identifier: Apache-2.0
// Puts events into order of time: each capture thread's events come in order, a sorted event is not
// younger than anything that follows it. Also finds dropped events by the threads' sequence
// numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/large_vector.h"
#include "nettrace/event_row.h"

namespace clrscope::nettrace {

class EventMerge {
 public:
  explicit EventMerge(uint32_t version) : version_(version) {}

  // Takes a row; calls deliver(row) for every row that is now known to be next, in order, or, for
  // those that are plain, deliver.Plain(time, thread, payload, metadata_id, stack_id); and
  // deliver.Prefetch(payload, stack_id) some rows before that: they waited while what they point to
  // left the cache.
  template <class Deliver>
  [[gnu::always_inline]] void Push(const EventRow& row, const RowOrder& order, Deliver&& deliver) {
    Note(row, order);
    if (order.sorted) {
      if (queued_ != 0) Drain(row.time, deliver);
      deliver(row);
    } else {
      Queue(*last_, row, order.plain);
    }
  }
  // Takes a row that is not to be delivered.
  template <class Deliver>
  [[gnu::always_inline]] void Skip(const EventRow& row, const RowOrder& order, Deliver&& deliver) {
    Note(row, order);
    if (order.sorted && queued_ != 0) Drain(row.time, deliver);
  }

  // Delivers everything that waits.
  template <class Deliver>
  void Flush(Deliver&& deliver) {
    if (queued_ != 0) Drain(INT64_MAX, deliver);
    ReleaseDrained();
    owned_.reset();
  }

  // A sequence point, or the removal of a thread, names the last sequence number that was given
  // out.
  // `time`: of the sequence point; a removal has none.
  void Checkpoint(uint64_t thread, uint32_t sequence, std::optional<int64_t> time);
  void Remove(uint64_t thread);  // after Flush()
  void Clear();                  // after Flush()
  // Forgets threads that did nothing since the last call, so that thread churn does not add up.
  // After Flush().
  void ForgetIdle();

  // Gives back the memory of threads for which nothing waits.
  void Shrink();
  // Copies what the waiting rows point to, so that the blocks that they came from may go.
  void Own();

  uint64_t dropped() const { return dropped_; }
  // Where the dropped events are missing: after one time and before another, of one thread; at most
  // some thousand, the last of them then spans the rest.
  struct Gap {
    int64_t after, before;
  };
  const std::vector<Gap>& gaps() const { return gaps_; }
  void ForgetGaps() { gaps_.clear(); }
  size_t queued() const { return queued_; }
  size_t threads() const { return by_id_.size(); }

 private:
  // What waits, by the million: half a cache line. What few rows have is kept beside.
  struct WaitingRow {
    int64_t time;
    const std::byte* payload;
    uint32_t payload_size, metadata_id, stack_id;
    uint32_t rest;  // index into Thread::rests + 1; 0 = about the thread itself, and nothing else
  };
  struct Rest {
    uint64_t thread;
    uint32_t label_list, activity_back, related_back;
  };
  struct Thread {
    uint64_t id = 0;
    uint32_t sequence = 0;
    int64_t time = 0;  // of its last row
    bool touched = true;
    bool active = false;           // listed in active_; only then there are rows
    LargeVector<WaitingRow> rows;  // rows[head..] wait
    std::vector<Rest> rests;
    size_t head = 0;

    EventRow Row(const WaitingRow& w) const {
      EventRow row;
      row.time = w.time;
      row.payload = w.payload;
      row.thread = id;
      row.payload_size = w.payload_size;
      row.metadata_id = w.metadata_id;
      row.stack_id = w.stack_id;
      if (w.rest != 0) {
        const Rest& rest = rests[w.rest - 1];
        row.thread = rest.thread;
        row.label_list = rest.label_list;
        row.activity_back = rest.activity_back;
        row.related_back = rest.related_back;
      }
      return row;
    }
  };
  struct HeapEntry {
    int64_t time;
    uint32_t thread;
  };

  [[gnu::always_inline]] void Note(const EventRow& row, const RowOrder& order) {
    if (!order.follows || last_ == nullptr) {
      if (last_ == nullptr || order.capture_thread != last_->id)
        SelectThread(order.capture_thread, order.sequence - 1);
      NoteSequence(*last_, order.sequence - 1, row.time);
    }
    last_->sequence = order.sequence;
    last_->time = row.time;
  }
  void SelectThread(uint64_t id, uint32_t sequence_if_new);
  void NoteSequence(Thread& thread, uint32_t expected, int64_t time) {
    thread.touched = true;
    if (thread.sequence != expected) CountGap(thread, expected, time);
  }
  void CountGap(const Thread& thread, uint32_t expected, int64_t time);
  [[gnu::always_inline]] void Queue(Thread& t, const EventRow& row, bool plain) {
    if (!t.active) Activate(t);
    uint32_t rest = 0;
    if (!plain) {
      t.rests.push_back({row.thread, row.label_list, row.activity_back, row.related_back});
      rest = static_cast<uint32_t>(t.rests.size());
    }
    // Drain() stops before a time: the last moment there is would wait for ever.
    t.rows.push_back({std::min(row.time, INT64_MAX - 1), row.payload, row.payload_size,
                      row.metadata_id, row.stack_id, rest});
    ++queued_;
  }
  void Activate(Thread& thread);  // it has no rows yet
  void ReleaseDrained();          // when nothing waits any more
  void BuildHeap(int64_t stop);
  void SiftDown(size_t i);
  void PopHeap(int64_t stop);

  static constexpr std::ptrdiff_t kPrefetchRows = 8;

  template <class Deliver>
  [[gnu::noinline]] void Drain(int64_t stop, Deliver&& deliver) {
    BuildHeap(stop);
    while (!heap_.empty()) {
      // The oldest thread goes on for as long as it stays the oldest.
      Thread& t = threads_[heap_.front().thread];
      int64_t limit = stop;
      if (heap_.size() > 1 && heap_[1].time < limit) limit = heap_[1].time;
      if (heap_.size() > 2 && heap_[2].time < limit) limit = heap_[2].time;
      const WaitingRow* row = t.rows.data() + t.head;
      const WaitingRow* const first = row;
      const WaitingRow* const end = t.rows.data() + t.rows.size();
      do {
        if (end - row > kPrefetchRows)
          deliver.Prefetch(row[kPrefetchRows].payload, row[kPrefetchRows].stack_id);
        if (row->rest == 0) {
          deliver.Plain(row->time, t.id, {row->payload, row->payload_size}, row->metadata_id,
                        row->stack_id);
        } else {
          deliver(t.Row(*row));
        }
        ++row;
      } while (row != end && row->time < limit);
      t.head += static_cast<size_t>(row - first);
      queued_ -= static_cast<size_t>(row - first);
      PopHeap(stop);
    }
  }

  uint32_t version_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> active_;  // threads with waiting rows
  std::unordered_map<uint64_t, uint32_t> by_id_;
  std::vector<HeapEntry> heap_;
  Thread* last_ = nullptr;  // that a row came from
  size_t queued_ = 0;
  std::unique_ptr<std::byte[]> owned_;  // what Own() copied
  uint64_t dropped_ = 0;
  std::vector<Gap> gaps_;
};

}  // namespace clrscope::nettrace
