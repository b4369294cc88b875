// SPDX-License-Identifier: Apache-2.0
// Children by fork without exec, which run native code alone.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mix.h"

enum { kPatience = 20000, kTermPatience = 5000 };  // ms

enum Verdict { kGood, kNoFork, kNoAnswer, kWrongAnswer, kWrongEnd, kTermIgnored, kNeverEnded };

static void sleep_ms(int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Waits for `child` for `ms` at most; 1 when it has ended.
static int reap(pid_t child, int ms, int* status) {
  for (int64_t end = now_ms() + ms;;) {
    pid_t got = waitpid(child, status, WNOHANG);
    if (got == child) return 1;
    if (got < 0 && errno != EINTR) return 0;
    if (now_ms() >= end) return 0;
    sleep_ms(1);
  }
}

static int give_up(pid_t child, enum Verdict verdict) {
  int status;
  kill(child, SIGKILL);
  return reap(child, kPatience, &status) ? verdict : kNeverEnded;
}

static int read_answer(int fd, uint64_t* answer) {
  struct pollfd p = {fd, POLLIN, 0};
  for (int64_t end = now_ms() + kPatience; now_ms() < end;) {
    int n = poll(&p, 1, 100);
    if (n < 0 && errno != EINTR) return 0;
    if (n > 0) return read(fd, answer, sizeof *answer) == (ssize_t)sizeof *answer;
  }
  return 0;
}

// A child that computes, waits for `ms`, tells through a pipe and ends. With `by_term` it would stay for a
// minute, and is ended by SIGTERM. The verdict.
CHAOS_EXPORT int chaos_fork(uint32_t seed, int ms, int by_term, uint64_t* answer) {
  int ends[2], status = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return kNoFork;
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return kNoFork;
  }
  if (child == 0) {
    uint64_t mine = chaos_mix(seed, 20000);
    sleep_ms(ms);
    if (write(ends[1], &mine, sizeof mine) != (ssize_t)sizeof mine) _exit(99);
    for (int i = 0; by_term && i < 60; i++) {  // a signal that is caught ends one of the waits only
      struct timespec second = {1, 0};
      nanosleep(&second, 0);
    }
    _exit((int)(seed & 63));
  }
  close(ends[1]);
  int told = read_answer(ends[0], answer);
  close(ends[0]);
  if (!told) return give_up(child, kNoAnswer);
  if (by_term) {
    kill(child, SIGTERM);
    if (!reap(child, kTermPatience, &status)) return give_up(child, kTermIgnored);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? kGood : kWrongEnd;
  }
  if (!reap(child, kPatience, &status)) return give_up(child, kNeverEnded);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != (int)(seed & 63)) return kWrongEnd;
  return *answer == chaos_mix(seed, 20000) ? kGood : kWrongAnswer;
}
