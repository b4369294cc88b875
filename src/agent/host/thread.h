// SPDX-License-Identifier: Apache-2.0
// Threads of the agent's own. Signals are the program's business: such a thread takes none, but for
// those that no thread may block.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <initializer_list>

namespace clrscope::agent {

// Takes out of a mask the signals of faults, as the kernel ends the process at a fault whose signal
// is blocked (linux kernel/signal.c, force_sig_info_to_task) and the runtime makes exceptions of
// them; and SIGRTMIN, by which the runtime stops a thread that is in managed code, and for which
// all other threads wait (dotnet/runtime src/coreclr/pal/src/exception/signal.cpp,
// INJECT_ACTIVATION_SIGNAL).
inline void LeaveSignalsOfTheRuntime(sigset_t* blocked) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGRTMIN})
    (void)::sigdelset(blocked, signal);
}

// Starts a detached thread, which inherits the mask that its starter has for that moment.
inline bool StartThread(void* (*main)(void*), void* context) {
  constexpr size_t kStack = size_t{1} << 20;
  sigset_t mask, before;
  ::sigfillset(&mask);
  LeaveSignalsOfTheRuntime(&mask);
  ::pthread_sigmask(SIG_SETMASK, &mask, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  const int error = ::pthread_create(&thread, &attributes, main, context);
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

}  // namespace clrscope::agent
