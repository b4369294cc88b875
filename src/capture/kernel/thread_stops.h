// SPDX-License-Identifier: Apache-2.0
// Threads of another process that stand still for a moment, one at a time: PTRACE_SEIZE,
// PTRACE_INTERRUPT, a look at registers and stack, PTRACE_DETACH. No signal arrives in the process,
// and one that is on its way to the thread goes on. The kernel lets go whatever is traced when the
// thread that traces ends, however it ends: PTRACE_O_EXITKILL is not set.
//
// A thread that runs on another processor goes on until an interrupt reaches that one, some µs, and
// stops sooner where it comes to the end of a system call. One that has just been taken off the
// caller's own processor stops where it was.
// Source: ptrace(2), "PTRACE_SEIZE" and "Death under ptrace"
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <sys/user.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>

namespace clrscope::capture {

// All calls but EndLateWait() come from one thread, which has no other tracees.
class ThreadStops {
 public:
  using Clock = std::chrono::steady_clock;
  enum class End : uint8_t {
    kStood,    // it was looked at, and goes on
    kEnded,    // it is not there any more
    kRefused,  // see error()
    // It did not reach its stop within kPatience: it waits for a processor, in vfork, or in an
    // uninterruptible call. LetGoLate() lets it go on when it does; until then nobody is stopped.
    kLate,
  };
  static constexpr std::chrono::milliseconds kPatience{50};

  // Of this process. The calling thread's signal mask changes.
  explicit ThreadStops(pid_t pid);
  ThreadStops(const ThreadStops&) = delete;
  ThreadStops& operator=(const ThreadStops&) = delete;

  // `look` is called with its registers while it stands: the less it does, the better.
  template <class Look>
  End Stop(pid_t thread, Look&& look) {
    const End end = Begin(thread);
    if (end != End::kStood) return end;
    if (!ReadRegisters(thread)) return LetGo(thread, signal_), End::kEnded;
    std::forward<Look>(look)(static_cast<const user_regs_struct&>(registers_));
    LetGo(thread, signal_);
    NoteStop();
    return End::kStood;
  }
  // Lets go those that have reached their stops by now. To be called about once a millisecond while
  // late() is not 0.
  void LetGoLate();
  size_t late() const { return late_.size(); }
  // Ends Stop()'s wait where that is longer than kPatience: waiting for a tracee has no limit of
  // its own. Another thread is to call it, some 100 times a second.
  void EndLateWait();
  // The process has ended. Nothing is stopped any more, and the calling thread should end: what is
  // left of a process that is traced may wait for that.
  bool over() const { return over_; }
  // errno of the last kRefused.
  int error() const { return error_; }

  // From the request to stop until the thread goes on: what it stood, at the most.
  uint64_t stops() const { return stops_; }
  Clock::duration total() const { return total_; }
  Clock::duration longest() const { return longest_; }
  Clock::duration last() const { return last_; }

 private:
  End Begin(pid_t thread);
  bool ReadRegisters(pid_t thread);
  void LetGo(pid_t thread, int signal);
  void NoteStop();
  // Takes what has happened to any tracee. Returns its number; 0: nothing has. `wait`: until
  // something has, or EndLateWait().
  pid_t TakeOne(bool wait, bool* stopped, int* signal);

  pid_t pid_;
  std::unordered_set<pid_t> late_;
  user_regs_struct registers_{};
  int signal_ = 0;  // that the thread which stands was about to get; 0: none
  int error_ = 0;
  bool over_ = false;
  Clock::time_point asked_{};
  uint64_t stops_ = 0;
  Clock::duration total_{}, longest_{}, last_{};
  pthread_t tracer_;
  std::atomic<Clock::rep> waits_until_{0};  // 0: it does not wait
};

// Calls `work` on a thread of its own, whose end lets go whatever it still traces, and returns
// after that.
void TraceOnOwnThread(pid_t pid, const std::function<void(ThreadStops&)>& work);

}  // namespace clrscope::capture
