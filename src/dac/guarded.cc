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

// The process has one thread: its signal handlers read what it wrote before.
Guard* running = nullptr;
bool asking = false;
uint64_t calls = 0, calls_at_tick = 0, ended = 0;

void EndCall() {
  ++ended;
  siglongjmp(running->place(), 1);
}

void OnFault(int signal) {
  if (running != nullptr) EndCall();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void OnTick(int) {
  if (running == nullptr || asking) return;
  if (calls == calls_at_tick) EndCall();
  calls_at_tick = calls;
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  // Left by a jump that restores no mask: none may be set.
  action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void CatchFaults() {
  alignas(16) static std::array<std::byte, kSignalStack> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) Handle(signal, OnFault);
  Handle(SIGVTALRM, OnTick);
  ::setitimer(ITIMER_VIRTUAL, &kTicks, nullptr);
}

uint64_t Faults() { return ended; }

Guard::Guard() {
  ++calls;
  running = this;
}
Guard::~Guard() { running = nullptr; }

NotEnded::NotEnded() { asking = true; }
NotEnded::~NotEnded() { asking = false; }

}  // namespace clrscope::dac
