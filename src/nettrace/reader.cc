// SPDX-License-Identifier: Apache-2.0
#include "nettrace/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "nettrace/event_block.h"

namespace clrscope::nettrace {
namespace {

__extension__ using Int128 = __int128;  // ISO C++ knows no 128-bit integer

// What is smaller on the wire than in memory has limits of its own. A runtime puts a sequence point
// after every 10 MB, which is less than half of any of these.
constexpr size_t kMaxQueuedRows = 1 << 19;
constexpr size_t kMaxOwnedRows = 1 << 12;
constexpr size_t kMaxStacks = 1 << 20;
constexpr size_t kMaxThreads =
    1 << 18;  // V6: until a sequence point flushes them, as any number of labels
constexpr size_t kMaxLabelLists = 1 << 19;
// How many sequence points an idle thread is remembered for.
constexpr uint32_t kForgetThreadsEvery = 64;

Error Corrupt(uint64_t offset, std::string message) {
  return Error::At(ErrorCode::kCorrupt, offset, std::move(message));
}

int64_t UnixNanos(const int16_t (&t)[8]) {
  constexpr int16_t kLow[8] = {1970, 1, 0, 1, 0, 0, 0, 0},
                    kHigh[8] = {2200, 12, 6, 31, 23, 59, 60, 999};
  for (size_t i = 0; i < 8; ++i)
    if (t[i] < kLow[i] || t[i] > kHigh[i]) return 0;  // wild: unknown
  // Days from civil date (proleptic Gregorian); t = year, month, day of week, day, h, m, s, ms.
  const int64_t month = t[1];
  const int64_t y = t[0] - (month <= 2 ? 1 : 0);
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t yoe = y - era * 400;
  const int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + t[3] - 1;
  const int64_t days = era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
  const int64_t seconds = ((days * 24 + t[4]) * 60 + t[5]) * 60 + t[6];
  return (seconds * 1000 + t[7]) * 1'000'000;
}

}  // namespace

Status Reader::Feed(Bytes bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> room = Prepare();
    const size_t n = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), n);
    RETURN_IF_ERROR(Commit(n));
    bytes = bytes.subspan(n);
  }
  return OkStatus();
}

Status Reader::Commit(size_t n) {
  if (error_) return *error_;
  buffer_.Commit(n);
  Status status = Parse();
  if (!status.ok()) {
    FlushEvents();
    error_ = status.error();
  }
  return status;
}

void Reader::Rest(bool quiet) {
  if (error_ || !merge_ || info_.version >= 6) return;  // labels of V6 lie in the buffer too
  if (quiet) FlushEvents();
  if (merge_->queued() > kMaxOwnedRows) return;  // a busy stream has its sequence points
  merge_->Own();
  merge_->Shrink();
  stacks_.Own();
  buffer_.Shrink();
}

Status Reader::Parse() {
  while (!ended_) {
    const Bytes pending = buffer_.pending();
    if (pending.size() < needed_) return OkStatus();
    ASSIGN_OR_RETURN(const Object object, framer_.Next(pending, offset_));
    if (object.kind == ObjectKind::kNeedMore) {
      needed_ = object.size;
      return OkStatus();
    }
    needed_ = 0;
    RETURN_IF_ERROR(OnObject(object));
    buffer_.Consume(object.size);
    offset_ += object.size;
    if (object.kind == ObjectKind::kSequencePoint) {
      buffer_.Release();
    } else if (buffer_.retained_bytes() > max_retained_bytes_ || stacks_.size() > kMaxStacks) {
      FlushEvents();
      stacks_.Clear();
      labels_.clear();
      buffer_.Release();
    }
  }
  buffer_.Consume(buffer_.pending().size());  // whatever follows the end
  return OkStatus();
}

Status Reader::OnObject(const Object& object) {
  if (object.kind != ObjectKind::kHeader && object.kind != ObjectKind::kTrace &&
      object.kind != ObjectKind::kEnd && !merge_) {
    if (object.kind == ObjectKind::kUnknown) return OkStatus();
    return Corrupt(object.content_offset, "a block before the Trace block");
  }
  switch (object.kind) {
    case ObjectKind::kTrace:
      return OnTrace(object);
    case ObjectKind::kEvents:
      return OnEvents(object);
    case ObjectKind::kMetadata:
      if (info_.version >= 6) return metadata_.AddBlockV6(object.content, object.content_offset);
      RETURN_IF_ERROR(OnMetadataV4(object));
      AskForNewKinds();
      return OkStatus();
    case ObjectKind::kStacks:
      return stacks_.AddBlock(object.content, object.content_offset,
                              static_cast<uint8_t>(info_.pointer_size));
    case ObjectKind::kSequencePoint:
      return OnSequencePoint(object);
    case ObjectKind::kThreads:
      return OnThreads(object);
    case ObjectKind::kRemoveThreads:
      return OnRemoveThreads(object);
    case ObjectKind::kLabels:
      return OnLabels(object);
    case ObjectKind::kUnknown:
      losses_.Add(Loss::kUnknownBlock);
      return OkStatus();
    case ObjectKind::kEnd:
      FlushEvents();
      ended_ = true;
      return OkStatus();
    case ObjectKind::kHeader:
    case ObjectKind::kNeedMore:
      break;
  }
  return OkStatus();
}

Status Reader::OnTrace(const Object& object) {
  if (merge_) return Corrupt(object.content_offset, "a second Trace block");
  ByteReader r(object.content);
  int16_t time[8];
  for (int16_t& t : time) t = r.Read<int16_t>();
  info_.version = framer_.version();
  info_.sync_unix_ns = UnixNanos(time);
  info_.sync_ticks = r.I64();
  info_.ticks_per_second = r.I64();
  info_.pointer_size = r.U32();
  if (info_.version < 6) {
    info_.pid = r.U32();
    info_.processors = r.U32();
    if (r.remaining() >= sizeof(uint32_t)) info_.sampling_ns = r.U32();
  } else {
    const uint32_t pairs = r.U32();
    for (uint32_t i = 0; i < pairs && r.ok(); ++i) {
      const std::string_view key = AsText(r.Take(r.VarU32()));
      const std::string value(AsText(r.Take(r.VarU32())));
      if (key == "ProcessId")
        info_.pid = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
      if (key == "ExpectedCPUSamplingRate")
        info_.sampling_ns = static_cast<int64_t>(std::strtoul(value.c_str(), nullptr, 10));
      if (key == "HardwareThreadCount")
        info_.processors = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    }
  }
  if (!r.ok()) return Corrupt(object.content_offset, "the Trace block ends early");
  if (info_.pointer_size != 4 && info_.pointer_size != 8)
    return Corrupt(object.content_offset + 32,
                   fmt::format("a target with pointers of {} bytes", info_.pointer_size));
  if (info_.ticks_per_second <= 0)
    return Corrupt(object.content_offset + 24,
                   fmt::format("a clock of {} ticks per second", info_.ticks_per_second));
  merge_.emplace(info_.version);
  sink_->OnStream(info_);
  return OkStatus();
}

// Takes rows from the merge.
struct Reader::Delivery {
  Reader* reader;
  // Always inlined: a row that waited is put together from its parts, which need no memory then.
  [[gnu::always_inline]] void operator()(const EventRow& row) {
    Deliver(row.time, row.thread, {row.payload, row.payload_size}, row.metadata_id, row.stack_id,
            [&](clr::RawEvent& e) {
              if ((row.activity_back | row.related_back) != 0) {
                e.activity = row.activity();
                e.related_activity = row.related_activity();
              }
              if (row.label_list != 0) {
                if (const auto it = reader->labels_.find(row.label_list);
                    it != reader->labels_.end()) {
                  e.activity = it->second.activity;
                  e.related_activity = it->second.related;
                }
              }
            });
  }
  [[gnu::always_inline]] void Plain(int64_t time, uint64_t thread, Bytes payload,
                                    uint32_t metadata_id, uint32_t stack_id) {
    Deliver(time, thread, payload, metadata_id, stack_id, [](clr::RawEvent&) {});
  }
  template <class AddRest>
  [[gnu::always_inline]] void Deliver(int64_t time, uint64_t thread, Bytes payload,
                                      uint32_t metadata_id, uint32_t stack_id, AddRest&& add_rest) {
    Reader& r = *reader;
    CountedKind* kind = r.metadata_.Find(metadata_id);
    if (kind == nullptr) {
      r.losses_.Add(Loss::kUnknownMetadata);
      return;
    }
    ++kind->count;
    ++r.events_;
    clr::RawEvent e;
    e.kind = kind;
    e.process = r.info_.pid;
    e.thread = thread;
    e.time_ns = r.ToNanos(time);
    e.payload = payload;
    e.pointer_size = static_cast<uint8_t>(r.info_.pointer_size);
    if (stack_id != 0) {
      e.stack_state = !r.stacks_.Find(stack_id, e.stack) ? clr::StackState::kMissing
                      : e.stack.empty()                  ? clr::StackState::kNone
                                                         : clr::StackState::kPresent;
    }
    if (r.info_.version >= 6) {
      if (const auto it = r.threads_.find(thread); it != r.threads_.end()) {
        e.process = it->second.pid;
        e.thread = it->second.tid;
      }
    }
    add_rest(e);
    r.sink_->OnEvent(e);
  }
  void Prefetch(const std::byte* payload, uint32_t stack_id) {
    __builtin_prefetch(payload);
    reader->stacks_.Prefetch(stack_id);
  }
};

Status Reader::OnEvents(const Object& object) {
  EventBlockReader rows(object.content, info_.version);
  rows.ForEach([&](const EventRow& row, const RowOrder& order) __attribute__((always_inline)) {
    CountedKind* const kind = any_unwanted_ ? metadata_.Find(row.metadata_id) : nullptr;
    if (kind != nullptr && !kind->wanted) {
      ++kind->count;
      ++events_;
      skipped_until_ = std::max(skipped_until_.value_or(row.time), row.time);
      merge_->Skip(row, order, Delivery{this});
    } else {
      merge_->Push(row, order, Delivery{this});
    }
    if (merge_->queued() > kMaxQueuedRows) FlushEvents();
    if (!order.follows &&
        merge_->threads() > kMaxThreads) {  // no gap is seen across this; nothing else is lost
      FlushEvents();
      merge_->Clear();
    }
  });
  ReportGaps();
  if (!rows.ok())
    return Corrupt(object.content_offset + rows.position(), "an event does not fit into its block");
  return OkStatus();
}

Status Reader::OnMetadataV4(const Object& object) {
  EventBlockReader rows(object.content, info_.version);
  while (const EventRow* row = rows.Next()) {
    const auto at = static_cast<uint64_t>(row->payload - object.content.data());
    RETURN_IF_ERROR(metadata_.AddV4({row->payload, row->payload_size}, object.content_offset + at));
  }
  if (!rows.ok())
    return Corrupt(object.content_offset + rows.position(),
                   "a metadata row does not fit into its block");
  return OkStatus();
}

Status Reader::OnSequencePoint(const Object& object) {
  FlushEvents();
  ByteReader r(object.content);
  const int64_t time = r.I64();
  const uint32_t flags = info_.version >= 6 ? r.U32() : 0;
  const uint32_t count = r.U32();
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    const uint64_t thread = info_.version >= 6 ? r.VarU64() : r.U64();
    const uint32_t sequence = info_.version >= 6 ? r.VarU32() : r.U32();
    if (r.ok()) merge_->Checkpoint(thread, sequence, time);
    if (merge_->threads() > kMaxThreads) merge_->Clear();
  }
  ReportGaps();
  if (!r.ok())
    return Corrupt(object.content_offset,
                   fmt::format("a sequence point that claims {} threads in {} bytes", count,
                               object.content.size()));
  stacks_.Clear();
  labels_.clear();
  if (flags & 1) {
    threads_.clear();
    merge_->Clear();
  }
  if (flags & 2) metadata_.Clear();
  if (++sequence_points_ % kForgetThreadsEvery == 0) merge_->ForgetIdle();
  losses_.Set(Loss::kEventsDropped, merge_->dropped());
  return OkStatus();
}

Status Reader::OnThreads(const Object& object) {
  enum { kName = 1, kProcessId = 2, kThreadId = 3, kKeyValue = 4 };
  ByteReader block(object.content);
  while (block.ok() && block.remaining() > 0) {
    ByteReader r(block.Take(block.U16()));
    const uint64_t index = r.VarU64();
    ThreadInfo info{info_.pid, 0};
    bool known = true;
    while (known && r.ok() && r.remaining() > 0) {
      switch (r.U8()) {
        case kName:
          r.Skip(r.VarU32());
          break;
        case kProcessId:
          info.pid = static_cast<uint32_t>(r.VarU64());
          break;
        case kThreadId:
          info.tid = r.VarU64();
          break;
        case kKeyValue:
          r.Skip(r.VarU32());
          r.Skip(r.VarU32());
          break;
        default:
          known = false;
      }
    }
    if (!r.ok())
      return Corrupt(object.content_offset + block.position(), "a thread row ends early");
    if (threads_.size() >= kMaxThreads)
      return Corrupt(object.content_offset + block.position(), "more threads than any machine has");
    if (block.ok()) threads_[index] = info;
  }
  if (!block.ok()) return Corrupt(object.content_offset, "a thread block ends inside a row");
  return OkStatus();
}

Status Reader::OnRemoveThreads(const Object& object) {
  ByteReader r(object.content);
  while (r.ok() && r.remaining() > 0) {
    const uint64_t index = r.VarU64();
    const uint32_t sequence = r.VarU32();
    if (!r.ok())
      return Corrupt(object.content_offset + r.position(), "a row of removed threads ends early");
    if (merge_->threads() > kMaxThreads || removed_threads_.size() > kMaxThreads) {
      FlushEvents();
      merge_->Clear();
    }
    merge_->Checkpoint(index, sequence, std::nullopt);
    removed_threads_.push_back(index);  // rows that wait may still refer to them
  }
  return OkStatus();
}

Status Reader::OnLabels(const Object& object) {
  enum {
    kActivity = 1,
    kRelated = 2,
    kTraceId = 3,
    kSpanId = 4,
    kText = 5,
    kNumber = 6,
    kOpcode = 7,
    kKeywords = 8,
    kLevel = 9,
    kVersion = 10
  };
  ByteReader r(object.content);
  const uint32_t first = r.U32();
  const uint32_t count = r.U32();
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    Labels labels;
    for (bool last = false; !last && r.ok();) {
      const uint8_t kind = r.U8();
      last = (kind & 0x80) != 0;
      switch (kind & 0x7F) {
        case kActivity:
          labels.activity = reinterpret_cast<const clr::ActivityId*>(r.Take(16).data());
          break;
        case kRelated:
          labels.related = reinterpret_cast<const clr::ActivityId*>(r.Take(16).data());
          break;
        case kTraceId:
          r.Skip(16);
          break;
        case kSpanId:
        case kKeywords:
          r.Skip(8);
          break;
        case kText:
          r.Skip(r.VarU32());
          r.Skip(r.VarU32());
          break;
        case kNumber:
          r.Skip(r.VarU32());
          (void)r.VarU64();
          break;
        case kOpcode:
        case kLevel:
        case kVersion:
          r.Skip(1);
          break;
        default:
          return OkStatus();  // a newer label: its size is unknown, the lists after it are lost
      }
    }
    if (labels_.size() >= kMaxLabelLists)
      return Corrupt(object.content_offset + r.position(),
                     "more label lists than any writer keeps");
    if (r.ok()) labels_[first + i] = labels;
  }
  if (!r.ok()) return Corrupt(object.content_offset + r.position(), "a label list ends early");
  return OkStatus();
}

void Reader::ReportGaps() {
  for (const EventMerge::Gap& gap : merge_->gaps())
    sink_->OnGap(ToNanos(gap.after), ToNanos(gap.before));
  merge_->ForgetGaps();
}

void Reader::FlushEvents() {
  if (!merge_) return;
  merge_->Flush(Delivery{this});
  for (const uint64_t index : removed_threads_) {
    merge_->Remove(index);
    threads_.erase(index);
  }
  removed_threads_.clear();
  losses_.Set(Loss::kEventsDropped, merge_->dropped());
}

void Reader::SkipDiscarded(uint64_t bytes, uint64_t blocks) {
  offset_ += bytes;
  losses_.Add(Loss::kBytesDiscarded, bytes);
  losses_.Add(Loss::kBlocksDiscarded, blocks);
}

void Reader::AskForNewKinds() {
  for (; asked_kinds_ < metadata_.kinds().size(); ++asked_kinds_) {
    CountedKind& kind = metadata_.kind(asked_kinds_);
    kind.wanted = sink_->Wants(kind);
    any_unwanted_ = any_unwanted_ || !kind.wanted;
  }
}

void Reader::Finish() {
  if (!error_) FlushEvents();
  if (skipped_until_) sink_->OnSkippedUntil(ToNanos(*skipped_until_));
  if (error_) return;
  if (!ended_) {
    losses_.Add(Loss::kTruncatedInput);
    if (!buffer_.pending().empty()) losses_.Add(Loss::kTruncatedBytes, buffer_.pending().size());
  }
}

int64_t Reader::ToNanos(int64_t ticks) const {
  const auto delta =
      static_cast<int64_t>(static_cast<uint64_t>(ticks) - static_cast<uint64_t>(info_.sync_ticks));
  if (info_.ticks_per_second == 1'000'000'000) return delta;
  return static_cast<int64_t>(static_cast<Int128>(delta) * 1'000'000'000 / info_.ticks_per_second);
}

}  // namespace clrscope::nettrace
