// SPDX-License-Identifier: Apache-2.0
// Loss is data: everything that is dropped, unknown or cut is counted here by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clrscope {

enum class Loss : uint8_t {
  kEventsDropped,   // the runtime's buffers were full, or the event too large: gaps in the numbers
  kBytesDiscarded,  // clrscope's own ring was full
  kBlocksDiscarded,
  kTruncatedInput,        // the input ended without its end tag
  kTruncatedBytes,        // bytes of an incomplete object at the end
  kUnknownBlock,          // a kind of block that this version does not know
  kUnknownMetadata,       // an event that refers to no metadata
  kUnsupportedVersion,    // a payload version that is too old or too short to decode
  kMissingStack,          // an event that refers to a stack that did not arrive
  kNoStacks,              // an event without a stack, of a process of which none has one
  kTruncatedStack,        // a stack cut at the limit of who wrote it: the runtime's is 100 frames
  kUnresolvedFrame,       // a distinct address without a method
  kAmbiguousFrame,        // an address that had several owners in time
  kUnnamedType,           // a type id that was never named
  kStackNodesCapped,      // samples folded into (other): the cap of stack nodes was reached
  kSeriesCapped,          // samples folded into (other): the cap of (stack, type) pairs was reached
  kTargetLost,            // a target died in the middle of its stream
  kRundownIncomplete,     // the rundown that names methods ended early
  kTicksStalled,          // AllocationTick was silenced by another session's AllocationSampled
  kRawBytesNotKept,       // of streams that were to be kept as .nettrace; the capture has them
  kAgentFrames,           // intervals of the agent that did not arrive
  kAgentSamples,          // samples that the agent had no room for
  kAgentEvents,           // exceptions and waits that the agent had no room for
  kAgentObjects,          // sampled objects that the agent could not follow
  kAgentTurnover,         // births and deaths that the agent had no room for
  kAgentGcEvents,         // events of GCs that the agent had no room for
  kAgentUnloaded,         // samples whose type was unloaded before its name could be read
  kAgentAsyncCallers,     // samples of async methods whose callers were not all found
  kAgentDeaf,             // intervals without an allocation event although the program allocates
  kAgentNoSession,        // milliseconds in which the agent had no session in its runtime
  kAgentFiles,            // files of the agent's spool that could not be written
  kExceptionTypesCapped,  // throws counted as (other): too many types of exceptions
  kMessagesCapped,        // throws whose message is (other): too many different ones
  kLabelsCapped,          // samples without labels: too many sets of them
  kHoldingsCapped,        // waits that do not tell what the owner did: too many sets of labels
  kThreadsCapped,         // samples of no thread: too many of them in a span of time
  kWaitsUnended,          // waits whose end the runtime did not write
  kImagesCapped,          // files that were mapped for execution and not remembered: too many
  kIlMapsCapped,          // methods whose code has no source lines: too many
  kStormUncounted,        // milliseconds of a storm of exceptions that no counter told of
  kAllocationsUncounted,  // milliseconds of windows of allocations that no counter told of
  kRequestsCapped,        // requests that were not followed: too many at one time
  kRequestsBefore,        // requests that had begun before the recording: their work has no id
  kTasksCapped,           // events of tasks that had no room: idle times of their time are not told
  kRoutesCapped,          // requests that count as (other): too many routes
  kOperationsCapped,      // operations that count as (other), or not at all: too many
  kRequestsUncounted,     // seconds in which another tool kept the runtime from counting requests
  kEventSourcesOff,       // processes that have EventSource switched off: no request, no counter
  kEventSourcesSilent,    // … that may have, as no event of an EventSource came
  kRequestCountsMissing,  // processes whose runtime does not count their requests
  kRequestsForgotten,     // requests that ended too long before the agent told what lives of them
  kCpuSamplesLost,        // samples of CPU time that found no room, or came too late
  kCpuSamplesDropped,     // … that clrscope had no room for
  kCpuThreadsMissed,      // threads whose CPU time could not be sampled
  kCpuCallersMissed,      // samples of CPU time whose caller could not be told
  kNativeFilesUnread,     // mapped files whose functions could not be read
  kSymbolsCapped,         // functions of very large files that have no name: too many
  kNamesLate,             // addresses of native code whose function was not found in time
  kAgentOther,            // losses of the agent that this version has no name for
  kCount,
};

struct LossInfo {
  std::string_view name;      // stable, in JSON and in captures
  std::string_view sentence;  // for people: what it is and which figures it touches
  bool hides = false;         // there may have been some where a report finds none
};

const LossInfo& Describe(Loss loss);

// A fixed table of counters; merging adds.
class LossCounters {
 public:
  void Add(Loss loss, uint64_t n = 1) { counts_[static_cast<size_t>(loss)] += n; }
  void Set(Loss loss, uint64_t n) { counts_[static_cast<size_t>(loss)] = n; }
  uint64_t operator[](Loss loss) const { return counts_[static_cast<size_t>(loss)]; }
  void Merge(const LossCounters& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  // What was counted since `earlier` was a copy of this.
  LossCounters Since(const LossCounters& earlier) const {
    LossCounters out = *this;
    for (size_t i = 0; i < counts_.size(); ++i) out.counts_[i] -= earlier.counts_[i];
    return out;
  }
  bool AddByName(std::string_view name, uint64_t n);

  // Calls f(Loss, count) for every counter that is not zero.
  template <class F>
  void ForEach(F&& f) const {
    for (size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) f(static_cast<Loss>(i), counts_[i]);
  }

 private:
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts_{};
};

}  // namespace clrscope
