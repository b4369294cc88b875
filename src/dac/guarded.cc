// SPDX-License-Identifier: Apache-2.0
#include "dac/guarded.h"

#include <sys/time.h>

#include <array>
#include <csignal>
#include <cstddef>

namespace clrscope::dac {
namespace {

constexpr size_t kSignalStack = 64 << 10;  // the fault may be the end of the stack itself
constexpr itimerval kTicks{{0, 250'000}, {0, 250'000}};  // a call takes some milliseconds
constexpr int kOverdue = 2, kEnded = 3;                  // ticks since a call began

// The process has one thread, and its signal handlers run on it.
Guard* volatile running = nullptr;
volatile bool in_our_code = false;
volatile int ticks = 0;  // since the call began
volatile uint64_t faults_so_far = 0;

void EndCall() {
  faults_so_far = faults_so_far + 1;
  in_our_code = false;
  ticks = 0;
  siglongjmp(running->place(), 1);
}

void OnFault(int signal) {
  if (running != nullptr) EndCall();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void OnTick(int) {
  if (running == nullptr) return;
  ticks = ticks + 1;
  if (ticks >= kEnded && !in_our_code) EndCall();
}

}  // namespace

void CatchFaults() {
  alignas(16) static std::array<std::byte, kSignalStack> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  sigset_t all;
  ::sigemptyset(&all);
  const auto handle = [&all](int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    // Left by a jump that restores no mask: none may be set.
    action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
    ::sigaction(signal, &action, nullptr);
    ::sigaddset(&all, signal);
  };
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) handle(signal, OnFault);
  handle(SIGVTALRM, OnTick);
  ::sigprocmask(SIG_UNBLOCK, &all, nullptr);  // whoever started this process may have blocked them
  ::setitimer(ITIMER_VIRTUAL, &kTicks, nullptr);
}

uint64_t Faults() { return faults_so_far; }
bool Overdue() { return ticks >= kOverdue; }

Guard::Guard() {
  ticks = 0;
  running = this;
}
Guard::~Guard() {
  running = nullptr;
  if (Overdue()) faults_so_far = faults_so_far + 1;
  ticks = 0;
}

OurCode::OurCode() { in_our_code = true; }
OurCode::~OurCode() { in_our_code = false; }

}  // namespace clrscope::dac
