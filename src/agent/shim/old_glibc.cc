// SPDX-License-Identifier: Apache-2.0
// What the static C++ runtime asks a new C library for, so that the library loads where there is
// only an old one. Local to the library.
#include <pthread.h>
#include <sched.h>

#include <atomic>

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): theirs
extern "C" {

// glibc 2.32. 0: atomic operations are used, always.
char __libc_single_threaded = 0;

// Of libpthread before 2.34.
int pthread_once(pthread_once_t* control, void (*routine)()) {
  enum : int { kNot = 0, kRunning = 1, kDone = 2 };
  std::atomic_ref<int> state(*control);
  int expected = kNot;
  if (state.load(std::memory_order_acquire) == kDone) return 0;
  if (state.compare_exchange_strong(expected, kRunning)) {
    routine();
    state.store(kDone, std::memory_order_release);
    return 0;
  }
  while (state.load(std::memory_order_acquire) != kDone) ::sched_yield();
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
