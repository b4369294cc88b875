// SPDX-License-Identifier: Apache-2.0
// Starts a program so that its runtime, and those of its children, dial us.
//
// Only the program's own runtime waits for us at its start: `suspend` in the environment of
// anything else would be inherited by runtimes that start when nobody is there to resume them.
// docs/decisions/0005-launches.md
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "ipc/transport/reverse_server.h"

namespace clrscope::capture {

class Launch {
 public:
  // Starts `command` (found in PATH) with our port in its environment and its standard streams left
  // alone. `prepare` is called with its pid before it runs; when that fails, it never runs. Beside
  // a program that waits for us at its start stands a guardian, a process that resumes it should we
  // be killed. errors: kNotFound (no such program), kPermission (not executable), kFailed
  //   environment: what else is set in it
  using Variables = std::vector<std::pair<std::string, std::string>>;
  static Result<std::unique_ptr<Launch>> Start(const std::vector<std::string>& command,
                                               const std::function<Status(pid_t)>& prepare,
                                               const Variables& environment = {});
  // The program is left alone; where it still waits at its start, the guardian resumes it.
  ~Launch();

  pid_t pid() const { return pid_; }
  // Readable when the program has ended. -1 before Linux 5.3, which has no pidfd_open: then
  // ExitCode() is to be asked from time to time, as the recorder does anyway.
  int exit_fd() const { return pidfd_.get(); }
  // Its exit code, 128 + signal when it was killed by one; nothing while it runs.
  std::optional<int> ExitCode();
  // Called once, when it has ended and the system still knows what it used.
  void AtItsEnd(std::function<void()> call) { at_its_end_ = std::move(call); }
  void Signal(int signal) const;
  ipc::ReverseServer& server() { return *server_; }
  // The program was started to wait for us, and has not been released.
  bool waits() const { return guardian_.valid(); }
  // The program has been resumed, and its children will not wait: nobody has to stand by any more.
  void Released();

 private:
  Launch() = default;
  Status StartGuardian();

  std::unique_ptr<ipc::ReverseServer> server_;
  pid_t pid_ = 0;
  Fd pidfd_;
  // Write end of the guardian's pipe: a byte = all is well, end of file = somebody has to resume.
  Fd guardian_;
  pid_t guardian_pid_ = 0;
  std::optional<int> exit_code_;
  std::function<void()> at_its_end_;
};

}  // namespace clrscope::capture
