// SPDX-License-Identifier: Apache-2.0
// The commands of the diagnostics protocol, over any Transport.
//
// Every call opens its own connection and gives up at its deadline. Errors, all with the target and
// the command in their sentence:
//   kRefused    the runtime answered with an HRESULT, which is named
//   kTimeout    it did not answer in time; whether it did what was asked is then unknown
//   kTruncated  it closed the connection before its answer was complete
//   kCorrupt    it answered what no runtime answers
//   kNotFound, kPermission, kIo  from the connection
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "base/fd.h"
#include "base/result.h"
#include "ipc/protocol/message.h"
#include "ipc/protocol/reply.h"
#include "ipc/protocol/session_config.h"
#include "ipc/transport/deadline.h"
#include "ipc/transport/transport.h"

namespace clrscope::ipc {

// A running EventPipe session. Whoever holds it must read `stream` to its end without pause: a
// target whose session nobody reads cannot exit, and its diagnostics server hangs in StopTracing.
struct Session {
  Fd stream;  // nonblocking; nettrace bytes from here on, EOF after the session was stopped
  uint64_t id = 0;
  int version = 0;       // of CollectTracing that the runtime took: 2 … 6
  SessionLimits limits;  // what that version could say
};

enum class PerfMapType : uint32_t { kAll = 1, kJitDump = 2, kPerfMap = 3 };
enum class DumpType : uint32_t { kMini = 1, kHeap = 2, kTriage = 3, kFull = 4 };

class Client {
 public:
  // transport: borrowed, must outlive the client
  explicit Client(Transport& transport) : transport_(transport) {}

  // Asks for version 3, then 2, then 1 when the runtime does not know the command.
  Result<ProcessInfo> GetProcessInfo(Deadline deadline);
  Result<Environment> GetEnvironment(Deadline deadline);

  // Tries CollectTracing from `max_version` down to 2 while the runtime does not know the command;
  // Session::limits says what was lost on the way.
  Result<Session> CollectTracing(const SessionConfig& config, Deadline deadline,
                                 int max_version = kMaxCollectVersion);
  // The stream must be read meanwhile, by another thread: the rundown comes before the answer. An
  // id that the runtime does not know is a success too.
  Status StopTracing(uint64_t session_id, Deadline deadline);

  // Takes effect in the target at once, and in the processes that it starts from then on.
  Status SetEnvironmentVariable(std::string_view name, std::string_view value, Deadline deadline);
  // Harmless to a runtime that is not suspended. Counts for the port that it comes through: a
  // runtime with two suspended ports waits for both.
  Status ResumeRuntime(Deadline deadline);

  // Loads a profiler into a running process.
  //   path: as the *target's* mount namespace has it
  //   attach_timeout: how long the runtime may wait for a background GC; sent in milliseconds, as
  //     the spec and the runtime have it (Microsoft's client sends seconds)
  Status AttachProfiler(const Guid& clsid, std::string_view path, Bytes client_data,
                        std::chrono::milliseconds attach_timeout, Deadline deadline);
  // For a runtime that is suspended at its start. A running .NET 10 answers that all is well and
  // does nothing (measured on 10.0.12).
  Status SetStartupProfiler(const Guid& clsid, std::string_view path, Deadline deadline);
  // .NET 8. Adds a startup hook to a runtime that is suspended. A *running* .NET 10 executes it at
  // once on its diagnostics thread, and a hook that fails, or is not there, ends the target with an
  // unhandled exception (measured on 10.0.12): never call this for a process that matters.
  Status ApplyStartupHook(std::string_view assembly_path, Deadline deadline);

  Status EnablePerfMap(PerfMapType type, Deadline deadline);  // .NET 8
  Status DisablePerfMap(Deadline deadline);                   // .NET 8
  // Writes a core dump, by createdump in the target's mount namespace.
  //   log: the target prints what createdump does
  Status WriteDump(DumpType type, std::string_view path, bool log, Deadline deadline);

 private:
  struct Reply;
  // Sends one request and reads the message that answers it; a refusal is an Error.
  //   hresult: receives the HRESULT of a refusal, else 0
  Result<Reply> Call(std::string_view command, Bytes request, Deadline deadline,
                     uint32_t* hresult = nullptr);
  // For commands whose answer is an HRESULT.
  Status Do(std::string_view command, MessageWriter& request, Deadline deadline,
            uint32_t* hresult = nullptr);
  Error Explain(std::string_view command, Error error) const;

  Transport& transport_;
};

}  // namespace clrscope::ipc
