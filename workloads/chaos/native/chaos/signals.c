// SPDX-License-Identifier: Apache-2.0
// Handlers that enter no managed code: SIGUSR1 on the stack that the thread is on, SIGUSR2 on the alternate one.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mix.h"

enum { kThreads = 64, kPatience = 10000, kStack = 65536 };

static _Atomic int threads[kThreads];  // their ids; 0: a free place
static _Atomic uint64_t came[2], sums[2], elsewhere;

static void on_usr1(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  atomic_fetch_add(&sums[0], chaos_mix(1, 50));
  atomic_fetch_add(&came[0], 1);
}

static void on_usr2(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  int before = errno;
  stack_t now;
  if (sigaltstack(0, &now) != 0 || (now.ss_flags & SS_ONSTACK) == 0) atomic_fetch_add(&elsewhere, 1);
  volatile uint64_t room[256];  // some depth
  for (int i = 0; i < 256; i++) room[i] = (uint64_t)i;
  atomic_fetch_add(&sums[1], chaos_mix(2 + room[0], 50));
  atomic_fetch_add(&came[1], 1);
  errno = before;
}

// All signals but those of faults and the one that stops a thread for a collection, which the runtime holds back where it must
// (dotnet/runtime src/coreclr/pal/src/exception/signal.cpp).
static void block_all_but_faults(sigset_t* set) {
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGRTMIN};
  sigfillset(set);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(set, faults[i]);
}

// No signal comes to the calling thread any more: neither one that is sent to it nor one that the kernel gives to any thread of the
// process. On a processor with AVX-512 a signal's frame takes 3.6 KB, and while the runtime handles a null reference its alternate
// stack of 12 KB has 2.6 KB left: the kernel ends a process that has no room for a frame.
CHAOS_EXPORT void chaos_refuse_signals(void) {
  sigset_t set;
  block_all_but_faults(&set);
  pthread_sigmask(SIG_BLOCK, &set, 0);
}

CHAOS_EXPORT int chaos_catch_signals(void) {
  struct sigaction action = {.sa_sigaction = on_usr1, .sa_flags = SA_SIGINFO | SA_RESTART};
  if (sigaction(SIGUSR1, &action, 0) != 0) return 0;
  action.sa_sigaction = on_usr2;
  action.sa_flags |= SA_ONSTACK;
  block_all_but_faults(&action.sa_mask);  // the runtime's alternate stack has no room for two frames beside a handler
  return sigaction(SIGUSR2, &action, 0) == 0;
}

// The calling thread is one that may be sent signals, until it says otherwise.
CHAOS_EXPORT void chaos_join_signals(int join) {
  int me = (int)syscall(SYS_gettid), free_place = 0, place = me;
  for (int i = 0; i < kThreads; i++) {
    free_place = 0, place = me;
    if (join ? atomic_compare_exchange_strong(&threads[i], &free_place, me)
             : atomic_compare_exchange_strong(&threads[i], &place, 0))
      return;
  }
}

static int await_one(int which, uint64_t before) {
  for (int ms = 0; ms < kPatience; ms++) {
    if (atomic_load(&came[which]) != before)
      return atomic_load(&came[which]) == before + 1 &&
             atomic_load(&sums[which]) == (before + 1) * chaos_mix(which + 1u, 50);
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, 0);
  }
  return 0;
}

// Sends SIGUSR1 (which = 0) or SIGUSR2 to one of the threads and waits for its handler. 1: as it should be; 0:
// it never came, or twice, or computed something else; -1: the thread is gone.
CHAOS_EXPORT int chaos_signal_one(int which, uint32_t pick) {
  int id = atomic_load(&threads[pick % kThreads]);
  uint64_t before = atomic_load(&came[which]);
  if (id == 0 || syscall(SYS_tgkill, getpid(), id, which == 0 ? SIGUSR1 : SIGUSR2) != 0) return -1;
  return await_one(which, before);
}

static void* on_own_stack(void* good) {
  stack_t mine = {.ss_sp = malloc(kStack), .ss_size = kStack}, off = {.ss_flags = SS_DISABLE};
  if (mine.ss_sp == 0 || sigaltstack(&mine, 0) != 0) return 0;
  uint64_t before = atomic_load(&came[1]), strayed = atomic_load(&elsewhere);
  pthread_kill(pthread_self(), SIGUSR2);
  *(int*)good = await_one(1, before) && atomic_load(&elsewhere) == strayed;
  sigaltstack(&off, 0);
  free(mine.ss_sp);
  return 0;
}

// SIGUSR2 on a thread of native code with an alternate stack of its own: 1 when it was handled there.
CHAOS_EXPORT int chaos_signal_own_stack(void) {
  int good = 0;
  pthread_t thread;
  if (pthread_create(&thread, 0, on_own_stack, &good) != 0) return 0;
  pthread_join(thread, 0);
  return good;
}

CHAOS_EXPORT void chaos_raise(int signal) { kill(getpid(), signal); }

CHAOS_EXPORT void chaos_leave_term_to_system(void) { signal(SIGTERM, SIG_DFL); }
