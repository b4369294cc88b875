// SPDX-License-Identifier: Apache-2.0
// Source: dotnet/runtime src/libraries/System.Private.CoreLib/src/System/Threading/
// PortableThreadPool.cs, ThreadPoolWorkQueue.cs,
// src/System/Collections/Concurrent/ConcurrentQueue*.cs
#include "dac/pool.h"

#include <algorithm>

namespace clrscope::dac {
namespace {

constexpr int kMaxSegments = 100'000;
constexpr int32_t kMaxQueues = 4096;
constexpr Address kArrayLength = 8, kArrayItems = 16;

// A field within a structure that is a field.
Address Nested(CoreLibrary& core, Address object, std::string_view outer, std::string_view inner) {
  const Address at = core.At(object, outer);
  const std::optional<Field> whole = core.FieldOf(core.TypeOf(object), outer);
  if (at == 0 || !whole) return 0;
  const std::optional<Field> part = core.FieldOf(whole->type, inner);
  return part ? at + part->offset : 0;
}

std::optional<uint64_t> SegmentLength(Runtime& runtime, CoreLibrary& core, Address segment) {
  int32_t head = 0, tail = 0, capacity = 0;
  const Address head_at = Nested(core, segment, "_headAndTail", "Head");
  const Address tail_at = Nested(core, segment, "_headAndTail", "Tail");
  const Address slots = core.Reference(segment, "_slots");
  if (head_at == 0 || tail_at == 0 || slots == 0 || !runtime.remote().Get(head_at, &head) ||
      !runtime.remote().Get(tail_at, &tail) ||
      !runtime.remote().Get(slots + kArrayLength, &capacity) || capacity <= 0)
    return std::nullopt;
  // A segment that takes no more has its tail moved on by twice its capacity.
  if (head == tail || head == tail - 2 * capacity) return 0;
  const int32_t mask = capacity - 1;
  head &= mask;
  tail &= mask;
  return static_cast<uint64_t>(head < tail ? tail - head : capacity - head + tail);
}

std::optional<uint64_t> QueueLength(Runtime& runtime, CoreLibrary& core, Address queue) {
  if (queue == 0) return 0;
  Address segment = core.Reference(queue, "_head");
  if (segment == 0) return std::nullopt;
  uint64_t length = 0;
  for (int i = 0; segment != 0 && i < kMaxSegments; ++i) {
    const std::optional<uint64_t> n = SegmentLength(runtime, core, segment);
    if (!n) return std::nullopt;
    length += *n;
    segment = core.Reference(segment, "_nextSegment");
  }
  return length;
}

// The items of an array of references.
template <typename Each>
void ForEach(Runtime& runtime, Address array, Each each) {
  int32_t length = 0;
  if (array == 0 || !runtime.remote().Get(array + kArrayLength, &length)) return;
  for (int32_t i = 0; i < std::min(length, kMaxQueues); ++i)
    if (const Address item = runtime.remote().Word(array + kArrayItems + 8 * Address(i)); item != 0)
      each(item);
}

std::optional<uint64_t> AllQueues(Runtime& runtime, CoreLibrary& core) {
  constexpr std::string_view kQueue = "System.Threading.ThreadPoolWorkQueue";
  const Address work = core.StaticObject(core.Type("System.Threading.ThreadPool"), "s_workQueue");
  if (work == 0) return std::nullopt;
  uint64_t length = 0;
  for (const std::string_view name :
       {"workItems", "highPriorityWorkItems", "lowPriorityWorkItems"}) {
    const std::optional<uint64_t> n = QueueLength(runtime, core, core.Reference(work, name));
    if (!n) return std::nullopt;
    length += *n;
  }
  ForEach(runtime, core.Reference(work, "_assignableWorkItemQueues"),
          [&](Address queue) { length += QueueLength(runtime, core, queue).value_or(0); });
  // Each worker's own queue, where work that is begun on a worker goes.
  const Address list = core.Type("WorkStealingQueueList", kQueue);
  Address queues = 0;
  for (const std::string_view name : {"_queues", "s_queues"})
    if (queues == 0) queues = core.StaticObject(list, name);
  ForEach(runtime, queues, [&](Address queue) {
    int32_t head = 0, tail = 0;
    const Address head_at = core.At(queue, "m_headIndex"), tail_at = core.At(queue, "m_tailIndex");
    if (head_at != 0 && tail_at != 0 && runtime.remote().Get(head_at, &head) &&
        runtime.remote().Get(tail_at, &tail) && tail > head)
      length += static_cast<uint64_t>(tail - head);
  });
  return length;
}

}  // namespace

PoolReading ReadPool(Runtime& runtime, CoreLibrary& core) {
  if (!core.whole()) return {std::nullopt, "types"};
  const Address type = core.Type("System.Threading.PortableThreadPool");
  if (type == 0) return {};
  Address instance = 0;
  bool known = false;
  for (const std::string_view name : {"ThreadPoolInstance", "s_instance"}) {
    known |= core.FieldOf(type, name).has_value();
    if (instance == 0) instance = core.StaticObject(type, name);
  }
  if (!known) return {std::nullopt, "fields"};
  if (instance == 0) return {};
  Pool pool;
  // Three numbers of 16 bits: busy workers, workers, and how many the pool wants.
  uint64_t counts = 0;
  int16_t low = 0, high = 0;
  const Address counts_at = Nested(core, instance, "_separated", "counts");
  const Address low_at = core.At(instance, "_minThreads"),
                high_at = core.At(instance, "_maxThreads");
  if (counts_at == 0 || !runtime.remote().Get(counts_at, &counts)) return {std::nullopt, "counts"};
  if (low_at != 0) runtime.remote().Get(low_at, &low);
  if (high_at != 0) runtime.remote().Get(high_at, &high);
  pool.busy = counts & 0xffff;
  pool.threads = counts >> 16 & 0xffff;
  pool.goal = counts >> 32 & 0xffff;
  pool.min = static_cast<uint16_t>(low);
  pool.max = static_cast<uint16_t>(high);
  pool.queue_length = AllQueues(runtime, core);
  return {pool, {}};
}

}  // namespace clrscope::dac
