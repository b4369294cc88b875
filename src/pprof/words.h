// SPDX-License-Identifier: Apache-2.0
// The words of clrscope's own pprof files. `convert`, the agent's files and the reader of both take
// them from here, so that what people build on one works on the other (docs/reports.md, convert).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace clrscope::pprof {

// Sample types. Names and units are those of Go's heap profiles.
inline constexpr std::string_view kAllocObjects = "alloc_objects", kAllocSpace = "alloc_space",
                                  kInuseObjects = "inuse_objects", kInuseSpace = "inuse_space",
                                  kSpace = "space";  // of the period
inline constexpr std::string_view kCount = "count", kBytes = "bytes", kNanoseconds = "nanoseconds";

// Keys of labels. Heap, generation and process are text; the age is a number of seconds, the start
// of its bucket (profile::kAgeStarts), so that `-tagfocus=age=600s:` is "older than 10 minutes";
// the thread, and the one that held the lock, are the numbers that the operating system has for
// them, the thread's name is a label of its own; `holding` is the method that the latter was in;
// `unfinished` (kYes) are waits that went on when the recording ended; `endpoint` is the route of
// the request that it happened for; `state` is what the thread did, of wall time.
inline constexpr std::string_view kHeapKey = "heap", kGenerationKey = "generation", kAgeKey = "age",
                                  kProcessKey = "process", kThreadKey = "thread",
                                  kThreadNameKey = "thread_name", kOwnerKey = "owner",
                                  kHoldingKey = "holding", kUnfinishedKey = "unfinished",
                                  kEndpointKey = "endpoint", kStateKey = "state";
inline constexpr std::string_view kYes = "yes";
inline constexpr std::string_view kSeconds = "seconds";
// By the numbers of profile::LiveCell::generation.
inline constexpr std::array<std::string_view, 5> kGenerations = {"0", "1", "2", "LOH", "POH"};

// The mapping of frames that are no code of a module: types, [truncated], unresolved addresses.
inline constexpr std::string_view kSyntheticModule = "[clrscope]";

// A stack of which nothing is shown, of a measure that has no types to name instead.
inline constexpr std::string_view kPlumbing = "[plumbing]";

// A method's system name is "module!0xTOKEN:raw name", without a token "module!raw name"; that of
// the synthetic leaf that is the allocated type "[type]!raw name".
inline constexpr std::string_view kTypeMark = "[type]!";
// Replaces `out`.
void MethodSystemName(std::string_view module, uint32_t token, std::string_view raw,
                      std::string& out);
// The other way round; another text is a raw name.
struct MethodId {
  uint32_t token = 0;
  std::string_view raw;  // within the text
};
MethodId SplitSystemName(std::string_view text, std::string_view module);

// "3" of `generation` and "1m-2m" of `age`, as the agent wrote them before it used the words above;
// -1 for other text.
int8_t OldGeneration(std::string_view text);
int64_t OldAgeSeconds(std::string_view text);

}  // namespace clrscope::pprof
