// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>

#include "capture/sessions/worker_pool.h"

namespace clrscope::capture {

WorkerPool::~WorkerPool() {
  {
    std::deque<std::function<void()>> dropped;
    const std::lock_guard lock(mutex_);
    stop_ = true;
    dropped.swap(tasks_);
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void WorkerPool::Post(std::function<void()> task) {
  if (max_threads_ == 0) return task();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && threads_.size() < max_threads_)
      threads_.emplace_back([this] { Run(); });
  }
  work_.notify_one();
}

void WorkerPool::Run() {
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "worker");
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    --idle_;
    if (stop_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace clrscope::capture
