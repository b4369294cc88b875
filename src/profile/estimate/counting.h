// SPDX-License-Identifier: Apache-2.0
// What GCSampledObjectAllocation (`record --types`) counted in one process, and what it cannot see.
// Source: dotnet/runtime src/coreclr/vm/eventtrace.cpp,
// ETW::TypeSystemLog::SendObjectAllocatedEvent. The runtime keeps, for each thread and type, the
// objects and bytes since the last event, and writes one for an object of 10,000 bytes or more, and
// when enough objects have gathered: 1,000 times the number of threads at most. With both keywords
// on every object has its own event.
#pragma once

#include <cstdint>
#include <optional>

namespace clrscope::profile {

// What was asked of the runtime. The values are stored in captures.
enum class CountMode : uint8_t {
  kUnknown = 0,  // nothing, or another tool recorded: what it asked for is not in a trace
  kLow = 1,      // about 5 events per second and type at most
  kHigh = 2,     // about 100
  kAll = 3,      // an event for every object
};

inline constexpr uint64_t kDefaultLohThreshold = 85'000;  // bytes
// An object of this size has an event of its own in every mode; those that an event gathers are
// smaller.
inline constexpr uint64_t kAlwaysCounted = 10'000;
inline constexpr uint64_t kSmallestObject = 24;

struct Counting {
  CountMode mode = CountMode::kUnknown;
  bool ended = false;  // the stream ended with its tag: nothing is missing at its end
  uint64_t loh_threshold = kDefaultLohThreshold;
  bool loh_known = false;  // the process told it (GCSettings)
  uint64_t events = 0;
  // Sizes in events are exact; the GC rounds each object up to 8. Bytes that all objects of the
  // events take up in the heap: known for single objects, else bounds.
  uint64_t aligned_low = 0, aligned_high = 0;
  // The runtime does not count a type's first object on a further thread. In mode kAll a second one
  // gives it away, and it was added to the figures: objects, and of these the arrays and strings,
  // whose size is taken from the second one (`guessed_bytes`: of all these).
  uint64_t added = 0, added_bytes = 0, guessed = 0, guessed_bytes = 0;
  uint64_t threads = 0;  // that were seen to allocate, kAll only
  // Times at which the runtime forgot what it had gathered: a module was unloaded, or the session
  // was interrupted.
  uint64_t gaps = 0;
  // AllocationTick's sum: what the GC handed out to threads, the unused ends of their allocation
  // contexts included. `heaps`: that sent ticks; each may owe one tick per heap kind.
  bool gc_known = false;
  uint64_t gc_bytes = 0;
  uint32_t gc_heaps = 0;

  bool operator==(const Counting&) const = default;

  // The most bytes that can be missing in the figures; no value when the GC's own are not whole.
  std::optional<uint64_t> MissingHigh() const;
};

}  // namespace clrscope::profile
