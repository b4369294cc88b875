// SPDX-License-Identifier: Apache-2.0
// Streaming reader of nettrace V4, V5 and V6: bytes in, events out in order of time. It does no
// I/O, copies no payload, and keeps no more than the blocks between two sequence points.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/loss.h"
#include "base/result.h"
#include "clr/raw_event.h"
#include "nettrace/chunk_buffer.h"
#include "nettrace/event_merge.h"
#include "nettrace/framer.h"
#include "nettrace/metadata.h"
#include "nettrace/stack_table.h"
#include "nettrace/stream_info.h"

namespace clrscope::nettrace {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // Once, before the first event.
  virtual void OnStream(const StreamInfo&) {}
  // Asked once for each kind of events, before the first one. Those that are not wanted are counted
  // by their kind, and no more. (Streams of many processes, V6, deliver all.)
  virtual bool Wants(const clr::EventKind&) { return true; }
  // At the end, when events were not delivered: the time of the last one.
  virtual void OnSkippedUntil(int64_t /*time_ns*/) {}
  virtual void OnEvent(const clr::RawEvent& event) = 0;
  // Events of one thread are missing between two times: the target dropped them. May come before or
  // after the events around it.
  virtual void OnGap(int64_t /*after_ns*/, int64_t /*before_ns*/) {}
};

class Reader {
 public:
  struct Limits {
    // What is asked of the system at a time: large for a file, small for one of many live streams.
    size_t chunk_bytes = 1 << 20;
    // A stream without sequence points must not grow without a limit: past this what waits is
    // delivered, and stacks are forgotten early.
    size_t retained_bytes = 64 << 20;
    // Whether stacks that come again are known again: takes some MB, for less time.
    bool remember_stacks = true;
  };
  // `sink` must outlive the reader.
  explicit Reader(EventSink* sink) : Reader(sink, Limits{}) {}
  Reader(EventSink* sink, const Limits& limits)
      : sink_(sink),
        max_retained_bytes_(limits.retained_bytes),
        buffer_(limits.chunk_bytes),
        stacks_(limits.remember_stacks) {}

  // Feeding without a copy: read up to its size into Prepare(), then Commit() what was read.
  // An error is final: what came before it was delivered, and the reader takes no more.
  std::span<std::byte> Prepare() { return buffer_.Prepare(needed_); }
  Status Commit(size_t n);
  // Feeding with a copy, any number of bytes.
  Status Feed(Bytes bytes);
  // `bytes` of the stream, whole blocks at a boundary between two, were discarded before they came
  // here. What they held shows as gaps in sequence numbers and as missing stacks.
  void SkipDiscarded(uint64_t bytes, uint64_t blocks);
  // Now and then, of a stream that is read while it is written: gives back the memory of what was
  // delivered. Otherwise it is kept until the next sequence point, which a runtime that says little
  // takes minutes for. `quiet`: nothing came for longer than the runtime takes to write a round of
  // its buffers, thread after thread; then what waits is delivered too. (Within a round it must
  // wait: another thread's older events are still to come.) Does nothing for V6.
  void Rest(bool quiet);
  // No more bytes: delivers what waits and notes whether the stream was complete.
  void Finish();

  bool ended() const { return ended_; }  // the end tag was seen
  const StreamInfo& info() const { return info_; }
  const LossCounters& losses() const { return losses_; }
  uint64_t dropped() const { return losses_[Loss::kEventsDropped]; }
  uint64_t offset() const { return offset_; }
  uint64_t events() const { return events_; }
  const std::deque<CountedKind>& kinds() const { return metadata_.kinds(); }

 private:
  struct ThreadInfo {
    uint32_t pid = 0;
    uint64_t tid = 0;
  };
  struct Labels {
    const clr::ActivityId* activity = nullptr;
    const clr::ActivityId* related = nullptr;
  };

  Status Parse();
  Status OnObject(const Object& object);
  Status OnTrace(const Object& object);
  Status OnEvents(const Object& object);
  Status OnMetadataV4(const Object& object);
  Status OnSequencePoint(const Object& object);
  Status OnThreads(const Object& object);
  Status OnRemoveThreads(const Object& object);
  Status OnLabels(const Object& object);
  struct Delivery;
  void FlushEvents();
  void AskForNewKinds();
  void ReportGaps();
  int64_t ToNanos(int64_t ticks) const;

  EventSink* sink_;
  size_t max_retained_bytes_;
  ChunkBuffer buffer_;
  Framer framer_;
  StreamInfo info_;
  MetadataTable metadata_;
  StackTable stacks_;
  std::optional<EventMerge> merge_;
  std::unordered_map<uint64_t, ThreadInfo> threads_;  // V6
  std::unordered_map<uint32_t, Labels> labels_;       // V6
  std::vector<uint64_t> removed_threads_;             // V6: to be forgotten at the next flush
  LossCounters losses_;
  std::optional<Error> error_;
  size_t asked_kinds_ = 0;  // of metadata_.kinds()
  bool any_unwanted_ = false;
  std::optional<int64_t> skipped_until_;  // ticks
  size_t needed_ = 0;
  uint64_t offset_ = 0;  // of the first byte that was not consumed
  uint64_t events_ = 0;
  uint32_t sequence_points_ = 0;
  bool ended_ = false;
};

}  // namespace clrscope::nettrace
