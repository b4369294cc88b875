// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>

#include "capture/kernel/thread_stops.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_text.h"

namespace clrscope::capture {
namespace {

int AlarmSignal() { return SIGRTMIN + 1; }

// One that has ended is refused with EPERM.
bool IsZombie(pid_t thread) {
  const Result<std::string> text = ipc::ReadFile(fmt::format("/proc/{}/stat", thread), 4096);
  if (!text.ok()) return true;
  const Result<ipc::ProcStat> stat = ipc::ParseProcStat(*text);
  return stat.ok() && ipc::HasEnded(stat->state);
}

}  // namespace

ThreadStops::ThreadStops(pid_t pid) : pid_(pid), tracer_(::pthread_self()) {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  (void)::sigaction(AlarmSignal(), &nothing, nullptr);
  // Each stop would be a SIGCHLD to this process, which wakes whoever waits for the end of a child.
  struct sigaction of_children {};
  if (::sigaction(SIGCHLD, nullptr, &of_children) == 0 &&
      (of_children.sa_flags & SA_NOCLDSTOP) == 0) {
    of_children.sa_flags |= SA_NOCLDSTOP;
    (void)::sigaction(SIGCHLD, &of_children, nullptr);
  }
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, AlarmSignal());
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
}

void ThreadStops::EndLateWait() {
  // It may come before the wait has begun: it comes again.
  const Clock::rep until = waits_until_;
  if (until != 0 && Clock::now().time_since_epoch().count() > until)
    (void)::pthread_kill(tracer_, AlarmSignal());
}

// Looks before it takes: who waits for the first thread of a process that has ended takes its exit
// status away from its parent, where that is clrscope too (a launch).
pid_t ThreadStops::TakeOne(bool wait, bool* stopped, int* signal) {
  siginfo_t seen{};
  const int what = WSTOPPED | WEXITED | WNOWAIT | __WALL | __WNOTHREAD | (wait ? 0 : WNOHANG);
  if (::waitid(P_ALL, 0, &seen, what) != 0) {
    if (errno == ECHILD) late_.clear();  // nobody is traced
    return 0;
  }
  const pid_t thread = seen.si_pid;
  if (thread == 0) return 0;
  *stopped = seen.si_code == CLD_TRAPPED || seen.si_code == CLD_STOPPED;
  if (*stopped) {
    // The stop that was asked for, or of the whole process, has an event above its signal. Without
    // one the thread is about to get that signal.
    *signal = seen.si_status >> 8 == 0 ? seen.si_status & 0x7f : 0;
  } else if (thread == pid_) {
    over_ = true;
  } else {
    // A thread that is traced stays a zombie, for which exec and the process's end wait.
    siginfo_t gone{};
    (void)::waitid(P_PID, static_cast<id_t>(thread), &gone,
                   WEXITED | WNOHANG | __WALL | __WNOTHREAD);
  }
  late_.erase(thread);
  return thread;
}

ThreadStops::End ThreadStops::Begin(pid_t thread) {
  if (over_) return End::kEnded;
  // One at a time: PTRACE_SEIZE waits for an exec of the process, which waits until the ends of its
  // threads that are traced have been taken. Source: Linux fs/exec.c, de_thread; cred_guard_mutex
  LetGoLate();
  if (over_) return End::kEnded;
  if (!late_.empty()) return End::kLate;
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    error_ = errno;
    return error_ == ESRCH || IsZombie(thread) ? End::kEnded : End::kRefused;
  }
  asked_ = Clock::now();
  late_.insert(thread);  // until something is heard of it
  if (::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) {
    // It has ended in between, and is not there any more when that has been taken.
    LetGoLate();
    return End::kEnded;
  }
  const Clock::time_point until = asked_ + kPatience;
  while (true) {
    bool stopped = false;
    int signal = 0;
    waits_until_ = until.time_since_epoch().count();
    const pid_t one = TakeOne(/*wait=*/true, &stopped, &signal);
    waits_until_ = 0;
    if (one == thread) {
      signal_ = signal;
      return stopped ? End::kStood : End::kEnded;
    }
    if (over_ || late_.empty()) return End::kEnded;
    if (one != 0) {
      // A late one; or this one by its process's number, which it has since an exec.
      if (stopped) LetGo(one, signal);
      continue;
    }
    if (Clock::now() > until) return End::kLate;
  }
}

bool ThreadStops::ReadRegisters(pid_t thread) {
  return ::ptrace(PTRACE_GETREGS, thread, nullptr, &registers_) == 0;
}

void ThreadStops::LetGo(pid_t thread, int signal) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes the number so
  void* const number = reinterpret_cast<void*>(static_cast<uintptr_t>(signal));
  // Refused only to one that was killed where it stood: its end is to be taken.
  if (::ptrace(PTRACE_DETACH, thread, nullptr, number) != 0) late_.insert(thread);
}

void ThreadStops::LetGoLate() {
  while (!late_.empty() && !over_) {
    bool stopped = false;
    int signal = 0;
    const pid_t one = TakeOne(/*wait=*/false, &stopped, &signal);
    if (one == 0) return;
    if (stopped) LetGo(one, signal);
  }
}

void ThreadStops::NoteStop() {
  last_ = Clock::now() - asked_;
  ++stops_;
  total_ += last_;
  longest_ = std::max(longest_, last_);
}

void TraceOnOwnThread(pid_t pid, const std::function<void(ThreadStops&)>& work) {
  constexpr std::chrono::milliseconds kAlarmEvery{10};
  std::promise<ThreadStops*> begun;
  std::promise<void> done, seen;
  std::thread tracer([&] {
    ThreadStops stops(pid);
    begun.set_value(&stops);
    work(stops);
    done.set_value();
    seen.get_future().wait();
  });
  ThreadStops* const stops = begun.get_future().get();
  const std::future<void> all = done.get_future();
  while (all.wait_for(kAlarmEvery) != std::future_status::ready) stops->EndLateWait();
  seen.set_value();
  tracer.join();
}

}  // namespace clrscope::capture
