// SPDX-License-Identifier: Apache-2.0
// What the runtime's events bring, on the threads that they arrive on.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "agent/host/agent.h"
#include "agent/host/clock.h"
#include "clr/alloc_events.h"
#include "clr/event_table.h"
#include "clr/fault_events.h"
#include "clr/gc_events.h"

namespace clrscope::agent {
namespace {

// Of the events that the agent asks for.
using clr::EventTag;
constexpr uint32_t kGcStart = clr::RuntimeEventId(EventTag::kGcStart),
                   kGcEnd = clr::RuntimeEventId(EventTag::kGcEnd),
                   kGcRestartEnd = clr::RuntimeEventId(EventTag::kGcRestartEeEnd),
                   kGcHeapStats = clr::RuntimeEventId(EventTag::kGcHeapStats),
                   kGcSuspendBegin = clr::RuntimeEventId(EventTag::kGcSuspendEeBegin),
                   kAllocationTick = clr::RuntimeEventId(EventTag::kAllocationTick),
                   kAllocationSampled = clr::RuntimeEventId(EventTag::kAllocationSampled),
                   kException = clr::RuntimeEventId(EventTag::kException),
                   kContentionStart = clr::RuntimeEventId(EventTag::kContentionStart),
                   kContentionStop = clr::RuntimeEventId(EventTag::kContentionStop),
                   kWaitStart = clr::RuntimeEventId(EventTag::kWaitStart),
                   kWaitStop = clr::RuntimeEventId(EventTag::kWaitStop);

// Bytes that an event stands for; a sample's follow from its object's size.
uint64_t AmountOf(const clr::AllocationTick& e) { return e.amount; }
uint64_t AmountOf(const clr::AllocationSampled&) { return 0; }

}  // namespace

void Agent::OnEvent(uint32_t id, uint32_t version, Bytes payload, const Guid* activity,
                    Registers from) {
  clr::EventKind kind;
  kind.id = id;
  kind.version = version;
  clr::RawEvent event;
  event.kind = &kind;
  event.payload = payload;
  const auto allocated = [&](auto e) {
    if (!sampling_.load(std::memory_order_relaxed)) {
      (void)sampler_->DestroyGivenUp();
      return;
    }
    if (!clr::Decode(event, e)) {
      unknown_events_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    sampler_->OnAllocation({profile::HeapKindOf(e.kind), e.type_id, e.object_size, AmountOf(e),
                            e.address, tells_requests_ ? activity : nullptr},
                           from);
  };
  if (id == kAllocationSampled) return allocated(clr::AllocationSampled());
  if (id == kAllocationTick) {
    if (source_ == profile::Source::kTick) allocated(clr::AllocationTick());
    return;
  }
  if (!OnRareEvent(event, from)) OnGcEvent(event);
}

bool Agent::OnRareEvent(const clr::RawEvent& event, Registers from) {
  const uint32_t id = event.kind->id;
  if (id != kException && id != kContentionStart && id != kContentionStop && id != kWaitStart &&
      id != kWaitStop)
    return false;
  if (!takes_events_.load(std::memory_order_relaxed)) return true;
  if (id == kException) {
    clr::ExceptionThrown e;
    if (clr::Decode(event, e)) {
      sampler_->OnThrow(e.type_name, e.rethrown(), from);
      return true;
    }
  } else if (id == kContentionStart) {
    clr::ContentionStart e;
    if (clr::Decode(event, e)) {
      sampler_->OnWaitStart(profile::Source::kContention, e.owner, from);
      return true;
    }
  } else if (id == kContentionStop) {
    clr::ContentionStop e;  // its own clock is the better one
    sampler_->OnWaitStop(profile::Source::kContention, clr::Decode(event, e) ? e.duration_ns : -1);
    return true;
  } else if (id == kWaitStart) {
    sampler_->OnWaitStart(profile::Source::kWait, 0, from);
    return true;
  } else {
    sampler_->OnWaitStop(profile::Source::kWait, -1);
    return true;
  }
  unknown_events_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// By another session, too. Collections begin and end one after the other; of the rest there are no
// two of a kind in a row.
bool Agent::IsToldAgain(const GcNote& note) {
  if (note.kind == GcNote::Kind::kStart) return last_start_.exchange(note.number) == note.number;
  if (note.kind == GcNote::Kind::kEnd && last_end_.exchange(note.number) == note.number)
    return true;
  const auto kind = static_cast<uint64_t>(note.kind) + 1;
  return last_kind_.exchange(kind) == kind && note.kind != GcNote::Kind::kEnd;
}

void Agent::OnGcEvent(const clr::RawEvent& event) {
  GcNote n;
  bool readable = true;
  // Ticks come at the level of collections, by a session of their own.
  const bool twice = budget_ != nullptr && source_ == profile::Source::kTick;
  switch (event.kind->id) {
    case kGcStart: {
      clr::GcStart e;
      readable = clr::Decode(event, e);
      n.kind = GcNote::Kind::kStart;
      n.number = e.number;
      if (twice && readable && IsToldAgain(n)) return;
      if (readable) sampler_->gcs_begun.fetch_add(1);
      if (e.type != clr::kBackgroundGc) phase_.Begun();  // else nothing moves
      n.generation = static_cast<int8_t>(e.generation);
      n.type = static_cast<int8_t>(e.type);
      n.reason = static_cast<int8_t>(e.reason);
      break;
    }
    case kGcEnd: {
      clr::GcEnd e;
      readable = clr::Decode(event, e);
      n.kind = GcNote::Kind::kEnd;
      n.number = e.number;
      break;
    }
    case kGcHeapStats: {
      clr::GcHeapStats e;
      readable = clr::Decode(event, e);
      n.kind = GcNote::Kind::kHeapStats;
      std::copy(std::begin(e.size), std::end(e.size), n.sizes.begin());
      break;
    }
    case kGcSuspendBegin: {
      clr::GcSuspendBegin e;
      readable = clr::Decode(event, e);
      if (readable && e.reason != clr::kForGc && e.reason != clr::kForGcPrep) return;
      n.kind = GcNote::Kind::kSuspend;
      break;
    }
    case kGcRestartEnd:
      // After the agent's own suspension: a collection's may have begun before it, and wait.
      if (ShardPool::ThisThread() == own_thread_.load(std::memory_order_relaxed)) return;
      n.kind = GcNote::Kind::kRestart;
      break;
    default:
      return;
  }
  if (!readable) {
    unknown_events_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (twice && n.kind != GcNote::Kind::kStart && IsToldAgain(n)) return;
  n.time_ns = Now();
  n.thread_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  n.thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  (void)gc_ring_.Push(n);
  // Under a limit the agent's thread comes by often enough, and a wake-up has its price.
  if (n.kind == GcNote::Kind::kRestart && live_ != nullptr && budget_ == nullptr) waker_.Wake();
}

void Agent::OnObjectAllocated(ObjectId object, ClassId type, Registers from) {
  size_t size = 0;
  if (paused_.load(std::memory_order_relaxed)) return;
  if (!Succeeded(info_->GetObjectSize2(object, &size))) return;
  Allocation a;
  a.kind = profile::HeapKind::kUnknown;
  a.type = type;
  a.size = (size + 7) / 8 * 8;  // as the heap rounds it
  sampler_->OnAllocation(a, from);
}

}  // namespace clrscope::agent
