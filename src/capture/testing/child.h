// SPDX-License-Identifier: Apache-2.0
// A process that a test makes by fork(2), with some memory in common, and ends.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <string>
#include <thread>

namespace clrscope::capture {

struct Shared {
  std::atomic<bool> ready{false}, go{false};
  std::atomic<uint64_t> count{0}, other{0};
};

// For a Child: traces that process; `other` is 1 then, else 2.
inline auto Tracing(pid_t pid) {
  return [pid](Shared& s) {
    s.other = ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 1 : 2;
    s.ready = true;
    for (;;) ::pause();
  };
}

class Child {
 public:
  // `run`: what it does, with a Shared&; it ends with 0 after that.
  template <class Run>
  explicit Child(Run run) {
    shared_ = new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
    pid_ = ::fork();
    if (pid_ == 0) {
      run(*shared_);
      ::_exit(0);
    }
  }
  ~Child() {
    if (pid_ > 0) {
      (void)::kill(pid_, SIGKILL);
      (void)Wait();
    }
    ::munmap(shared_, sizeof(Shared));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  Shared& shared() const { return *shared_; }
  // As of waitpid(2).
  int Wait() {
    // Its stops are not to be taken from the thread that traces it, which may be of this process.
    Await(
        [this] {
          siginfo_t seen{};
          return ::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOHANG | WNOWAIT) !=
                     0 ||
                 (seen.si_pid == pid_ && seen.si_code != CLD_TRAPPED);
        },
        "it does not end");
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, WNOHANG), pid_);
    pid_ = 0;
    return status;
  }
  void AwaitReady() const {
    Await([this] { return shared_->ready.load(); }, "it is not ready");
  }
  void AwaitCount(uint64_t least) const {
    Await([&] { return shared_->count >= least; }, "it does not go on");
  }
  // Of its first thread: proc(5), /proc/PID/stat.
  char State() const {
    std::ifstream file(fmt::format("/proc/{}/stat", pid_));
    std::string stat;
    std::getline(file, stat);
    const size_t name_end = stat.rfind(") ");
    return name_end == std::string::npos ? 'X' : stat[name_end + 2];
  }
  void AwaitState(char state) const {
    Await([&] { return State() == state; }, "it does not come there");
  }
  bool HasEnded() const { return State() == 'Z' || State() == 'X'; }

 private:
  template <class Condition>
  void Await(Condition condition, const char* what) const {
    using namespace std::chrono_literals;
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) {
        ADD_FAILURE() << "process " << pid_ << ": " << what << "; its state is " << State();
        return;
      }
      std::this_thread::sleep_for(100us);
    }
  }

  pid_t pid_ = 0;
  Shared* shared_ = nullptr;
};

}  // namespace clrscope::capture
