// SPDX-License-Identifier: Apache-2.0
#include "base/loss.h"

namespace clrscope {
namespace {

constexpr LossInfo kTable[] = {
    {"events_dropped",
     "events that the runtime dropped because its buffers were full, where larger ones help "
     "(record --buffersize), or because they were larger than 64 KB, as exceptions with very long "
     "messages are; which of the two is not known; totals are too low by their share",
     true},
    {"bytes_discarded", "bytes that clrscope discarded because its own ring was full", true},
    {"blocks_discarded",
     "blocks that clrscope discarded because its own ring was full; totals are too low", true},
    {"truncated_input", "the input ended without its end tag; everything up to the cut was read",
     true},
    {"truncated_bytes", "bytes of an incomplete object at the end of the input"},
    {"unknown_blocks", "blocks of a kind that this version does not know", true},
    {"unknown_metadata",
     "events that refer to metadata that did not arrive; they are not counted anywhere else", true},
    {"unsupported_versions", "events whose payload is too short for the fields that are needed",
     true},
    {"missing_stacks", "events whose stack did not arrive; they are shown under [no stack]"},
    {"no_stacks",
     "events of programs of which no event shown here has a stack: NativeAOT writes none, nor "
     "names of types that are allocated, and sessions may ask for none; who allocates, throws or "
     "waits is not known"},
    {"truncated_stacks",
     "stacks of more frames than are kept: 100 in events of the runtime, 512 in the agent's, 1,024 "
     "in samples of CPU and wall time (fewer where frame pointers alone lead on); their root is "
     "shown as [truncated]"},
    {"unresolved_frames",
     "distinct addresses without a method; they are shown as module+offset or as an address"},
    {"ambiguous_frames",
     "addresses that belonged to several methods in time and whose owner at the sample's time is "
     "not certain"},
    {"unnamed_types", "types that were never named; they are shown by their id"},
    {"stack_nodes_capped",
     "samples whose stack went to (other) because the cap of stack nodes was reached"},
    {"series_capped",
     "samples that went to (other) because the cap of distinct (stack, type) pairs was reached"},
    {"target_lost",
     "targets that died in the middle of their stream; what they did last is missing: as a rule "
     "0.1 s (1 s of what the agent reports), with an exception that ended them",
     true},
    {"rundown_incomplete", "rundowns that ended early; some frames may be without a name"},
    {"ticks_stalled",
     "times that AllocationTick fell silent while the program went on, as another tool's "
     "AllocationSampled session makes it",
     true},
    {"raw_bytes_not_kept",
     "bytes of the raw streams that could not be written to their .nettrace files; the capture "
     "itself is not touched"},
    {"agent_frames_lost",
     "intervals of the agent that did not arrive; what was allocated in them is missing, what "
     "lives "
     "is not",
     true},
    {"agent_samples_lost",
     "samples that the agent had no room for; what was allocated is too low by their share", true},
    {"agent_events_lost", "exceptions and waits that the agent had no room for; they are missing",
     true},
    {"agent_objects_not_followed",
     "sampled objects that the agent could not follow; what lives is too low by their share", true},
    {"agent_turnover_lost", "births and deaths that the agent had no room for; slopes lack them"},
    {"agent_gc_events_lost", "events of garbage collections that the agent had no room for", true},
    {"agent_types_unloaded",
     "samples whose type was unloaded before the agent could read its name; they are shown as an "
     "unknown type"},
    {"agent_async_callers_unknown",
     "samples of resumed async methods whose callers were not all found; their stacks begin at the "
     "thread pool, or at [truncated]"},
    {"agent_intervals_deaf",
     "intervals in which the program allocated, as its collections show, and the runtime sent the "
     "agent no allocation event; what was allocated in them is missing",
     true},
    {"agent_session_missing_ms",
     "milliseconds in which the runtime did not give the agent a session that it asked for; what "
     "that "
     "would have told is missing",
     true},
    {"agent_files_lost",
     "files that the agent was to write and could not, as the disk was full or too slow"},
    {"exception_types_capped",
     "exceptions of more types than are kept apart; they are counted as (other)"},
    {"messages_capped",
     "exceptions with more different messages than are kept; their message is (other)"},
    {"labels_capped",
     "events of more threads than are kept apart; they are in the totals, and in no thread"},
    {"holdings_capped",
     "waits that do not tell what the lock's owner did: too many different ones"},
    {"threads_capped",
     "samples in no thread's row: more threads allocated within a minute than are kept apart"},
    {"waits_without_end",
     "waits whose end the runtime does not tell: System.Threading.Lock.TryEnter gave up; they are "
     "left out"},
    {"images_capped",
     "files that were mapped for execution and are not remembered, as there were too many; "
     "addresses in them have no name"},
    {"il_maps_capped",
     "versions of methods whose code has no source lines, as there were too many to remember"},
    {"storm_uncounted_ms",
     "milliseconds of a storm of exceptions of which no counter of the runtime told how many were "
     "thrown, or a wrong one did; intervals allow for what was thrown then"},
    {"allocations_uncounted_ms",
     "milliseconds of windows of allocations of which no counter of the runtime told how much was "
     "allocated, or a wrong one did; intervals allow for what was allocated then"},
    {"requests_capped",
     "requests that were not followed, as there were too many at one time; what they cost counts "
     "as (other) or (no request)"},
    {"requests_begun_before",
     "requests that ended and had begun before the recording; what they cost counts as (no "
     "request)"},
    {"tasks_capped",
     "events of tasks that had no room; how long requests of their time were queued or awaited "
     "is not told"},
    {"routes_capped",
     "requests that count as (other), as there were more routes than are kept apart"},
    {"operations_capped",
     "operations within requests that count as (other), as there were more than are kept apart, or "
     "that were not followed, as too many went on at one time"},
    {"requests_uncounted",
     "times that another tool's session changed what the runtime counts of requests; numbers by "
     "status may be incomplete"},
    {"event_sources_off",
     "processes that have EventSource switched off (System.Diagnostics.Tracing.EventSource."
     "IsSupported is false in their runtimeconfig.json): nothing is known of their requests, and "
     "no counter of the runtime tells their totals"},
    {"event_sources_silent",
     "processes that sent no event of an EventSource: they answered no request, are no programs of "
     "ASP.NET Core, or have EventSource switched off (System.Diagnostics.Tracing.EventSource."
     "IsSupported), and then nothing is known of their requests"},
    {"request_counts_missing",
     "processes whose runtime did not count their requests, as where System.Diagnostics.Metrics."
     "Meter.IsSupported is false: errors and statuses are not known, and where requests were "
     "tracked in windows of time neither is how many there were, nor what others cost"},
    {"requests_forgotten",
     "requests that were forgotten before the agent told what they left alive: that is in "
     "(no request)"},
    {"cpu_samples_lost",
     "samples of CPU time that found no room, or whose thread did not stop in time; what they "
     "stand for counts to the others of their threads"},
    {"cpu_samples_dropped", "samples of CPU time that clrscope had no room for", true},
    {"cpu_threads_missed",
     "threads whose CPU time could not be sampled; it is shown as (not sampled)"},
    {"cpu_callers_missed", "samples of CPU time of which callers may be missing"},
    {"native_files_unread",
     "files of native code that could not be read; their functions are shown as the file"},
    {"symbols_capped",
     "functions of very large files that have no name, as there were more than are kept"},
    {"names_late",
     "addresses of native code whose function was not found before the recording was over; they "
     "are shown as the file"},
    {"agent_losses", "losses of the agent that this version has no name for", true},
};
static_assert(sizeof(kTable) / sizeof(kTable[0]) == static_cast<size_t>(Loss::kCount));

}  // namespace

const LossInfo& Describe(Loss loss) { return kTable[static_cast<size_t>(loss)]; }

bool LossCounters::AddByName(std::string_view name, uint64_t n) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (kTable[i].name == name) {
      counts_[i] += n;
      return true;
    }
  }
  return false;
}

}  // namespace clrscope
