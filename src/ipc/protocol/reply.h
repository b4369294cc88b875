// SPDX-License-Identifier: Apache-2.0
// What the runtime answers: pure functions from bytes to values, for any bytes at all.
// Source: dotnet/diagnostics documentation/design-docs/ipc-protocol.md; the order of ProcessInfo's
// fields is that of Microsoft's client (ProcessInfo.cs), the document's structs have another.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "ipc/protocol/message.h"

namespace clrscope::ipc {

struct ProcessInfo {
  uint64_t pid = 0;          // as the target sees itself, in its own pid namespace
  Guid cookie{};             // differs for every start of a runtime
  std::string command_line;  // separated by blanks; only the executable until main is about to run
  std::string os;            // "Linux"
  std::string arch;          // "x64", "arm64" …
  std::string entry_assembly;  // simple name, as "idle"; "" before .NET 6
  std::string clr_version;     // "10.0.12", "11.0.0-preview.1.…"; "" before .NET 6
  std::string rid;             // "linux-x64", "linux-musl-x64"; "" before .NET 8
  int command_version = 0;     // which ProcessInfo command answered: 1, 2 or 3
};

// version: 1, 2 or 3, the command that was asked. Fields after those that are known are skipped.
// errors: kTruncated with the offset in the payload
Result<ProcessInfo> ParseProcessInfo(int version, Bytes payload);

// First half of the answer to ProcessEnvironment: the size of the block that follows the message.
Result<uint32_t> ParseEnvironmentSize(Bytes payload);
// That block. Entries without '=' have an empty value. errors: kTruncated, kCorrupt
using Environment = std::vector<std::pair<std::string, std::string>>;
Result<Environment> ParseEnvironment(Bytes block);

// The u64 that CollectTracing and StopTracing answer with.
Result<uint64_t> ParseSessionId(Bytes payload);

// The payload of an error message: an HRESULT and, after Dump3 only, a text.
struct Refusal {
  uint32_t hresult = 0;
  std::string text;
};
Result<Refusal> ParseRefusal(Bytes payload);
// The HRESULT in the payload of a success; runtimes that send none mean 0.
uint32_t ParseOutcome(Bytes payload);

// What a runtime says first when it dials us: 34 bytes.
constexpr size_t kAdvertiseSize = 34;
struct Advertise {
  Guid cookie{};
  uint64_t pid = 0;  // in the target's own pid namespace
};
// errors: kTruncated, kCorrupt (does not start with "ADVR_V1\0")
Result<Advertise> ParseAdvertise(Bytes bytes);

}  // namespace clrscope::ipc
