// SPDX-License-Identifier: Apache-2.0
// What an EventPipe session is to deliver, and its request in each version of CollectTracing.
// Source: dotnet/diagnostics ipc-protocol.md § CollectTracing…6, dotnet/runtime
// src/native/eventpipe/ds-eventpipe-protocol.c
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace clrscope::ipc {

// The runtime's own choice of rundown: loader, JIT, NGen, start and end of method and module lists.
constexpr uint64_t kDefaultRundown = 0x80020139;

// Which events of a provider come, after keywords and level have chosen (.NET 10).
// On Linux the runtime derives its GC level from *probe* events (1, 203, 23, 30): a filter that
// hides a probe silences the probe's whole family at the next GC.
struct EventFilter {
  bool enable = true;         // true: only these ids; false: all but these
  std::vector<uint32_t> ids;  // {true, {}} would mean no event at all
};

struct ProviderConfig {
  std::string name;  // "Microsoft-Windows-DotNETRuntime"; not empty
  uint64_t keywords = 0;
  uint32_t level = 4;  // 0 always … 5 verbose
  std::string args;    // "key=value;key2=value2"
  std::optional<EventFilter> filter;
};

enum class Buffering : uint32_t { kDrop = 0, kBlock = 1 };

struct SessionConfig {
  std::vector<ProviderConfig> providers;       // 1 to 1000
  uint32_t buffer_mb = 256;                    // > 0; the runtime's memory for what is not yet sent
  uint64_t rundown_keyword = kDefaultRundown;  // 0: none
  bool stackwalk = true;
  uint32_t format = 1;                     // 1: nettrace, the only one that this project reads
  Buffering buffering = Buffering::kDrop;  // kBlock (.NET 11) makes the target wait for the reader
};

constexpr int kMinCollectVersion = 2;
constexpr int kMaxCollectVersion = 6;

// What a version of the command cannot say and therefore leaves out.
struct SessionLimits {
  bool filters = false;  // event ids are filtered (>= 5); else all events of the keywords come
  bool rundown_keyword = false;  // the keyword counts (>= 4); else it is all or nothing
  bool stackwalk = false;        // can be switched off (>= 3); else stacks always come
  bool buffering = false;        // >= 6
};
SessionLimits LimitsOf(int version);

// The whole request, header included.
//   version: 2 … 6
//   errors: kUsage (no provider, more than 1000, a nameless one, level > 5, no buffer, too long)
Result<std::vector<std::byte>> EncodeCollectTracing(int version, const SessionConfig& config);

}  // namespace clrscope::ipc
