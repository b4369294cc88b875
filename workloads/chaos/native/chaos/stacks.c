// SPDX-License-Identifier: Apache-2.0
// Managed code on stacks that no thread was given by the system: on a fiber, and near the end of a small one.
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "linger.h"
#include "mix.h"

enum { kPage = 4096, kFiberPages = 64, kSmallStack = 256 * 1024, kLeft = 96 * 1024 };
typedef uint64_t (*Callback)(uint64_t);

struct Fiber {
  ucontext_t main, fiber;
  Callback callback;
  uint64_t value, answer;
};

static void on_fiber(unsigned low, unsigned high) {
  struct Fiber* f = (struct Fiber*)((uintptr_t)high << 32 | low);
  f->answer = f->callback(f->value);
}

// What `callback` says on a stack of its own, with pages on both sides that nobody may touch.
CHAOS_EXPORT uint64_t chaos_on_fiber(Callback callback, uint64_t value) {
  struct Fiber f = {.callback = callback, .value = value};
  const size_t size = (kFiberPages + 2) * kPage;
  char* memory = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  mprotect(memory + kPage, kFiberPages * kPage, PROT_READ | PROT_WRITE);
  getcontext(&f.fiber);
  f.fiber.uc_stack.ss_sp = memory + kPage;
  f.fiber.uc_stack.ss_size = kFiberPages * kPage;
  f.fiber.uc_link = &f.main;
  makecontext(&f.fiber, (void (*)(void))on_fiber, 2, (unsigned)(uintptr_t)&f, (unsigned)((uintptr_t)&f >> 32));
  swapcontext(&f.main, &f.fiber);
  munmap(memory, size);
  return f.answer;
}

struct Deep {
  Callback callback;
  uint64_t value, answer;
  int linger_ms;
  char* top;
};

static __attribute__((noinline)) void go_down(struct Deep* d) {
  volatile char room[1024];
  memset((char*)room, 1, sizeof room);
  if (d->top - (char*)room < kSmallStack - kLeft) {
    go_down(d);
  } else {
    d->answer = d->callback(d->value);
  }
  room[0] = room[1];
}

static void* run_deep(void* raw) {
  struct Deep* d = raw;
  d->top = (char*)__builtin_frame_address(0);
  go_down(d);
  chaos_linger(d->linger_ms);
  return 0;
}

// What `callback` says on a thread with a small stack, of which little is left.
CHAOS_EXPORT uint64_t chaos_near_end(Callback callback, uint64_t value, int linger_ms) {
  struct Deep d = {.callback = callback, .value = value, .linger_ms = linger_ms};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallStack);
  const int error = pthread_create(&thread, &attributes, run_deep, &d);
  pthread_attr_destroy(&attributes);
  if (error != 0) return 0;
  pthread_join(thread, 0);
  return d.answer;
}
