// SPDX-License-Identifier: Apache-2.0
// The agent in another process: attaches it, talks to it over its control socket, reads its frames.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_reader.h"
#include "base/fd.h"
#include "base/result.h"
#include "ipc/processes/dotnet_process.h"
#include "ipc/processes/process_facts.h"
#include "ipc/transport/deadline.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::capture {

// Loads the agent into a running process and waits until its control socket answers.
//   options: as of CLRSCOPE_OPTS
// errors: kNotFound, kNotDotnet, kPermission; kRefused, e.g. when a profiler is loaded already;
// kTimeout
Status AttachAgent(pid_t pid, std::string_view options, ipc::Deadline deadline);

// Why the agent cannot be loaded, one sentence; "" where it can, as far as can be said without
// trying.
std::string WhyNoAgent(const ipc::DotnetProcess& process);

// Why a process does not load the agent at its start, one sentence; "" where nothing is known that
// keeps it from that.
std::string WhyNotAtStart(pid_t pid);

// Where the agent of a process listens, as we reach it; there may be none.
Result<std::string> AgentSocket(pid_t pid);

// Whether the path of its socket, as the process itself binds it, is short enough for one: relative
// where its TMPDIR is. Uses `environ`, `pid` and `inner_pid`.
bool AgentSocketFits(const ipc::ProcessFacts& facts);

// The file of an agent's socket, which a process that dies leaves behind. Its folder is held, as
// /proc/PID/root goes with the process.
class AgentSocketFile {
 public:
  explicit AgentSocketFile(pid_t pid);  // while it lives
  // Removes it where nobody listens; one that is about to close is waited for until then.
  void RemoveIfDead(ipc::Deadline deadline) const;

 private:
  Fd folder_;  // none: it cannot be reached
  uid_t uid_ = 0;
  std::string name_;
};

// Sockets that nobody listens at in the folder where the process puts its own: of its user's
// processes that were killed.
void RemoveDeadSockets(const ipc::ProcessFacts& facts);

// One command and its answer, on a connection of its own. errors: kNotFound (no agent), kRefused
// with what the agent said, kTimeout, kIo
Result<std::string> AskAgent(pid_t pid, std::string_view command, ipc::Deadline deadline);

// A subscription: one frame an interval. The agent sees it go when this is destroyed, or dies; one
// that was attached with "owned" then lets go of its process.
class AgentSubscription {
 public:
  static Result<std::unique_ptr<AgentSubscription>> Open(pid_t pid, ipc::Deadline deadline);

  int fd() const { return fd_.get(); }  // readable when there is something
  // Reads what is there, without waiting. True: `frame` was filled; call again. False: no frame is
  // complete. errors: kTruncated when the agent is gone; kCorrupt
  Result<bool> Next(profile::IntervalFrame& frame);
  // "interval", "every 5s", "detach"; nothing is answered but by frames.
  Status Command(std::string_view line, ipc::Deadline deadline);

 private:
  explicit AgentSubscription(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  std::string in_;
};

}  // namespace clrscope::capture
