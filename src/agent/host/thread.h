// SPDX-License-Identifier: Apache-2.0
// Threads of the agent's own: they take no signals, which are the program's.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <functional>

namespace clrscope::agent {

inline bool StartThread(void* (*main)(void*), void* context) {
  constexpr size_t kStack = size_t{1} << 20;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
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

// Runs `work` on a thread that ends with it, and waits. Calls that make their thread one of the
// runtime's (a session's start and stop do) belong there: from then on the runtime refuses such a
// thread most of the profiling API outside of callbacks (CORPROF_E_UNSUPPORTED_CALL_SEQUENCE).
inline bool OnThrowawayThread(const std::function<void()>& work) {
  struct Job {
    const std::function<void()>* work;
    std::atomic<bool> done{false};
  } job{&work, {}};
  const auto main = [](void* raw) -> void* {
    auto* j = static_cast<Job*>(raw);
    (*j->work)();
    j->done.store(true, std::memory_order_release);
    return nullptr;
  };
  if (!StartThread(main, &job)) return false;
  const timespec pause{0, 200'000};
  while (!job.done.load(std::memory_order_acquire)) (void)::nanosleep(&pause, nullptr);
  return true;
}

}  // namespace clrscope::agent
