// SPDX-License-Identifier: Apache-2.0
// Starts workloads/idle, a live .NET process, with an environment and a TMPDIR of the test's own.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/testing/source_dir.h"
#include "ipc/transport/deadline.h"

extern char** environ;  // NOLINT: POSIX

namespace clrscope::ipc::testing {

inline std::string WorkloadFile(const std::string& name) {
  const char* workloads = std::getenv("CLRSCOPE_WORKLOADS");
  return (workloads != nullptr ? std::string(workloads) : SourceDir() + "/build/workloads") + "/" +
         name;
}
inline std::string IdleDll() { return WorkloadFile("idle/idle.dll"); }

#define REQUIRE_IDLE_WORKLOAD()                                                                \
  if (!std::filesystem::exists(::clrscope::ipc::testing::IdleDll()))                           \
  GTEST_SKIP() << "NOT TESTED against a live runtime: " << ::clrscope::ipc::testing::IdleDll() \
               << " is missing; run `dotnet build workloads/idle -c Release -o "               \
                  "build/workloads/idle` or set CLRSCOPE_WORKLOADS"

class IdleProcess {
 public:
  using Variables = std::map<std::string, std::string>;

  // argv: the whole command line; its first element is looked up in PATH
  IdleProcess(const std::vector<std::string>& argv, const Variables& variables) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
    stdin_ = Fd(in[1]);
    stdout_ = Fd(out[0]);
    const Fd child_in(in[0]), child_out(out[1]);

    std::vector<std::string> env;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      if (variables.count(text.substr(0, text.find('='))) == 0) env.push_back(text);
    }
    for (const auto& [name, value] : variables) env.push_back(name + "=" + value);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, child_in.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, child_out.get(), 1);
    if (::posix_spawnp(&pid_, argv[0].c_str(), &actions, nullptr, Pointers(argv).data(),
                       Pointers(env).data()) != 0)
      pid_ = 0;
    ::posix_spawn_file_actions_destroy(&actions);
  }
  static std::vector<std::string> DotnetArgs(const std::vector<std::string>& args = {}) {
    std::vector<std::string> argv = {"dotnet", IdleDll()};
    argv.insert(argv.end(), args.begin(), args.end());
    return argv;
  }
  ~IdleProcess() {
    stdin_.reset();
    if (!Wait(std::chrono::seconds(3))) {
      ::kill(pid_, SIGKILL);
      Wait(std::chrono::seconds(3));
    }
  }
  IdleProcess(const IdleProcess&) = delete;
  IdleProcess& operator=(const IdleProcess&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& output() const { return output_; }
  void CloseStdin() { stdin_.reset(); }

  // Reads output until it holds `text`.
  bool WaitForOutput(std::string_view text, std::chrono::seconds wait = std::chrono::seconds(20)) {
    const Deadline deadline = Deadline::After(wait);
    while (output_.find(text) == std::string::npos) {
      pollfd p{stdout_.get(), POLLIN, 0};
      if (::poll(&p, 1, deadline.poll_timeout_ms()) <= 0) return false;
      char chunk[4096];
      const ssize_t n = ::read(stdout_.get(), chunk, sizeof(chunk));
      if (n <= 0) return false;
      output_.append(chunk, static_cast<size_t>(n));
    }
    return true;
  }
  bool WaitUntilReady() { return WaitForOutput("ready\n"); }

  // Whether the process ends in time; exit_code() then tells how.
  bool Wait(std::chrono::milliseconds wait) {
    const Deadline deadline = Deadline::After(wait);
    while (!ended_ && pid_ > 0) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        ended_ = true;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      } else if (deadline.expired()) {
        return false;
      } else {
        ::usleep(2000);
      }
    }
    return true;
  }
  int exit_code() const { return exit_code_; }

 private:
  static std::vector<char*> Pointers(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  pid_t pid_ = 0;
  Fd stdin_, stdout_;
  std::string output_;
  bool ended_ = false;
  int exit_code_ = -1;
};

}  // namespace clrscope::ipc::testing
