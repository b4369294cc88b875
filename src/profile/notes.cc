// SPDX-License-Identifier: Apache-2.0
// The agent links this file: no library.
#include "profile/notes.h"

namespace clrscope::profile {
namespace {

std::string_view MeaningOf(Source source, bool by_callbacks, bool exact) {
  switch (source) {
    case Source::kForeign:
      break;
    case Source::kTick:
      return ", one for about every 100 KB of a heap kind";
    case Source::kSampled:
      return ", each byte is hit with probability 1/102400; values are estimates of all "
             "allocations";
    case Source::kCounted:
      if (by_callbacks)
        return exact ? ", a call for every object: exact"
                     : ", a call for every object; not all arrived: at least so much";
      return exact ? ", one for every object that the runtime counts: exact"
                   : ", counts since the type's event before: at least so much";
    case Source::kException:
      return ", one for every throw";
    case Source::kContention:
    case Source::kWait:
      return ", one for every wait";
    case Source::kRequest:
      return ", one for every request";
    case Source::kCpuClock:
      return ", samples of running threads; what they used is the system's figure";
    case Source::kWallClock:
      return ", where threads were, running or not, and for how long";
    case Source::kUniversalCpu:
      return ", the kernel's samples of running threads; each stands for the period that the trace "
             "tells";
    case Source::kUniversalSwitch:
      return ", how long threads did not run, by the kernel's switches between them; what ran is "
             "by "
             "samples";
    case Source::kThreadCpu:
      return ", the runtime's samples of the managed threads that were in managed code";
    case Source::kThreadWall:
      return ", the runtime's samples of managed threads, whether they ran or not";
  }
  return "";
}

}  // namespace

std::string ProcessTitle(std::string_view name, uint32_t pid) {
  std::string title(name.empty() ? "process" : name);
  return title += " (" + std::to_string(pid) + ")";
}

std::string ProcessNote(std::string_view title) { return "process: " + std::string(title); }
std::string RuntimeNote(std::string_view runtime) { return "runtime: " + std::string(runtime); }

std::string EventNote(Source source, bool by_callbacks, bool exact) {
  if (source == Source::kForeign)
    return "values: as a pprof file told them; nothing is known of their error";
  std::string note = "event: ";
  note += EventName(source, by_callbacks);
  note += MeaningOf(source, by_callbacks, exact);
  return note;
}

std::string SamplesNote(uint64_t samples) { return "samples: " + std::to_string(samples); }

std::string_view BiasNote() {
  return "biased: AllocationTick fires at a fixed stride, so these figures are a biased sample "
         "without an interval";
}

std::string LossNote(Loss loss, uint64_t count) {
  const LossInfo& info = Describe(loss);
  std::string note = "loss: " + std::to_string(count) + " ";
  note += info.name;
  note += ": ";
  return note += info.sentence;
}

}  // namespace clrscope::profile
