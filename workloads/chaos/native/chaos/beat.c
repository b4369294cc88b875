// SPDX-License-Identifier: Apache-2.0
// The native heartbeat: a thread that the runtime does not know. What it and the managed heartbeat note
// lies in a file that is mapped, to be read from outside while the program hangs and after it has crashed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "mix.h"

// In nanoseconds of CLOCK_MONOTONIC; HeartbeatPage of Heartbeats.cs and tests/chaos/life.py read it, too.
struct Page {
  _Atomic int64_t native_last, native_lost, native_longest, native_beats;
  _Atomic int64_t managed_last, managed_longest, managed_excess, managed_beats;
};
enum { kPeriod = 5000000 };
static struct Page* page;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void* beat(void* unused) {
  prctl(PR_SET_NAME, "native-beat");
  int64_t last = now();
  for (;;) {
    struct timespec pause = {0, kPeriod};
    nanosleep(&pause, 0);
    int64_t here = now(), gap = here - last;
    if (gap > atomic_load(&page->native_longest)) atomic_store(&page->native_longest, gap);
    if (gap > kPeriod) atomic_fetch_add(&page->native_lost, gap - kPeriod);
    atomic_fetch_add(&page->native_beats, 1);
    atomic_store(&page->native_last, here);
    last = here;
  }
  return unused;
}

// Starts it; the page, or null.
CHAOS_EXPORT struct Page* chaos_start_beat(const char* path) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof *page) != 0) return 0;
  page = mmap(0, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page == MAP_FAILED) return 0;
  atomic_store(&page->native_last, now());
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int failed = pthread_create(&thread, 0, beat, 0);
  pthread_sigmask(SIG_SETMASK, &before, 0);
  return failed ? 0 : page;
}
