// SPDX-License-Identifier: Apache-2.0
// Threads of native code that enter managed code once and end.
#include <pthread.h>

#include "linger.h"
#include "mix.h"

enum { kMost = 64 };
typedef uint64_t (*Callback)(uint64_t);

struct Job {
  pthread_t thread;
  Callback callback;
  uint64_t value, answer;
  int linger_ms;
};

static void* run(void* raw) {
  struct Job* job = raw;
  job->answer = job->callback(job->value);
  chaos_linger(job->linger_ms);
  return 0;
}

// The sum of what `callback` says on each of `count` threads; 0 when they cannot be made.
CHAOS_EXPORT uint64_t chaos_threads(int count, Callback callback, uint64_t seed, int linger_ms) {
  struct Job jobs[kMost];
  uint64_t sum = 0;
  int made = 0;
  if (count > kMost) count = kMost;
  for (; made < count; made++) {
    jobs[made] = (struct Job){.callback = callback, .value = seed + (uint64_t)made, .linger_ms = linger_ms};
    if (pthread_create(&jobs[made].thread, 0, run, &jobs[made]) != 0) break;
  }
  for (int i = 0; i < made; i++) {
    pthread_join(jobs[i].thread, 0);
    sum += jobs[i].answer;
  }
  return made == count ? sum : 0;
}
