// SPDX-License-Identifier: Apache-2.0
// Holds threads of a process at one place, so that a window of some nanoseconds stays open for
// milliseconds: a hardware breakpoint at LIBRARY + OFFSET in each thread but the agent's, or in the
// one of this name alone; who comes by is held there for HOLD_MS.
//   hold_threads PID LIBRARY OFFSET HOLD_MS [THREAD]
// LIBRARY: a part of its file's name. OFFSET: hexadecimal, an address of the file's. Prints
// {"threads":…}, and {"held":…} at SIGTERM or when the process has ended. Exit code 5 where ptrace
// is refused.
#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int kRefused = 5;
constexpr unsigned long kResumeFlag = 0x10000;  // of eflags: the next instruction does not break
constexpr unsigned long kBreakHere = 1;         // of DR7: DR0 is on, for the thread, at execution

uintptr_t BaseOf(pid_t pid, const char* library) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return std::strtoul(line.c_str(), nullptr, 16);
  return 0;
}

// In the kernel's order: the process's first thread is the first. `only`: the one of this name;
// null: all but the agent's.
std::vector<pid_t> ThreadsOf(pid_t pid, const char* only) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/";
  std::vector<pid_t> threads;
  DIR* dir = ::opendir(folder.c_str());
  if (dir == nullptr) return threads;
  while (const dirent* entry = ::readdir(dir)) {
    std::string name;
    std::getline(std::ifstream(folder + entry->d_name + "/comm"), name);
    if (entry->d_name[0] != '.' && (only != nullptr ? name == only : name != "clrscope-agent"))
      threads.push_back(std::atoi(entry->d_name));
  }
  ::closedir(dir);
  return threads;
}

bool SetDebugRegister(pid_t thread, size_t number, unsigned long value) {
  const size_t at = offsetof(user, u_debugreg) + number * sizeof(unsigned long);
  return ::ptrace(PTRACE_POKEUSER, thread, at, value) == 0;
}

// The thread's next stop; false: it has ended.
bool AwaitStop(pid_t thread, int* state) {
  return ::waitpid(thread, state, __WALL) == thread && WIFSTOPPED(*state);
}

class Holder {
 public:
  Holder(uintptr_t address, int hold_ms) : address_(address), hold_ms_(hold_ms) {}

  bool Take(pid_t thread) {
    if (::ptrace(PTRACE_SEIZE, thread, 0, 0) != 0) return errno == ESRCH;
    int state = 0;
    (void)::ptrace(PTRACE_INTERRUPT, thread, 0, 0);
    if (!AwaitStop(thread, &state)) return true;
    if (!SetDebugRegister(thread, 0, address_) || !SetDebugRegister(thread, 7, kBreakHere))
      return false;
    (void)::ptrace(PTRACE_CONT, thread, 0, SignalOf(state));
    threads_.push_back(thread);
    return true;
  }

  // What stopped since the last call. False: all threads have ended.
  bool Serve() {
    int state = 0;
    for (;;) {
      const pid_t thread = ::waitpid(-1, &state, __WALL | WNOHANG);
      if (thread == 0) return true;
      if (thread < 0) return errno != ECHILD;
      if (!WIFSTOPPED(state)) continue;
      if (!IsHit(thread, state)) {
        (void)::ptrace(PTRACE_CONT, thread, 0, SignalOf(state));
        continue;
      }
      ++held_;
      const timespec pause{hold_ms_ / 1000, hold_ms_ % 1000 * 1'000'000L};
      (void)::nanosleep(&pause, nullptr);
      (void)::ptrace(PTRACE_CONT, thread, 0, 0);
    }
  }

  // The first thread last: where the process was killed, its end is not told before all others of
  // its threads were waited for.
  void LetGo() {
    for (; !threads_.empty(); threads_.pop_back()) {
      const pid_t thread = threads_.back();
      int state = 0;
      if (::ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 || !AwaitStop(thread, &state)) continue;
      const bool hit = IsHit(thread, state);
      (void)SetDebugRegister(thread, 7, 0);
      (void)::ptrace(PTRACE_DETACH, thread, 0, hit ? 0 : SignalOf(state));
    }
  }

  size_t threads() const { return threads_.size(); }
  size_t held() const { return held_; }

 private:
  // To be delivered with the next step; none for a stop that ptrace asked for.
  static long SignalOf(int state) { return state >> 16 != 0 ? 0 : WSTOPSIG(state); }
  // The thread is at the place; it goes on from there.
  bool IsHit(pid_t thread, int state) const {
    user_regs_struct registers{};
    if (WSTOPSIG(state) != SIGTRAP || state >> 16 != 0 ||
        ::ptrace(PTRACE_GETREGS, thread, 0, &registers) != 0 || registers.rip != address_)
      return false;
    registers.eflags |= kResumeFlag;
    return ::ptrace(PTRACE_SETREGS, thread, 0, &registers) == 0;
  }

  const uintptr_t address_;
  const long hold_ms_;
  std::vector<pid_t> threads_;
  size_t held_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr, "usage: hold_threads PID LIBRARY OFFSET HOLD_MS [THREAD]\n");
    return 2;
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const pid_t pid = std::atoi(argv[1]);
  const uintptr_t base = BaseOf(pid, argv[2]);
  if (base == 0) {
    std::fprintf(stderr, "hold_threads: process %d has no %s\n", pid, argv[2]);
    return 1;
  }
  Holder holder(base + std::strtoul(argv[3], nullptr, 16), std::atoi(argv[4]));
  for (const pid_t thread : ThreadsOf(pid, argc == 6 ? argv[5] : nullptr)) {
    if (holder.Take(thread)) continue;
    std::fprintf(stderr, "hold_threads: ptrace: %s\n", std::strerror(errno));
    holder.LetGo();
    return kRefused;
  }
  std::printf("{\"threads\":%zu}\n", holder.threads());
  std::fflush(stdout);
  const timespec often{0, 100'000'000};
  while (holder.Serve() && ::sigtimedwait(&signals, nullptr, &often) != SIGTERM) {
  }
  holder.LetGo();
  std::printf("{\"held\":%zu}\n", holder.held());
  return 0;
}
