// SPDX-License-Identifier: Apache-2.0
// A few threads for calls that wait for other processes: opening a session, stopping one. They are
// started when there is work and nobody is free.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace clrscope::capture {

class WorkerPool {
 public:
  // 0 threads: Post() runs the task itself, for tests that must not depend on timing.
  explicit WorkerPool(size_t max_threads) : max_threads_(max_threads) {}
  // Drops the tasks that have not begun and waits for the others.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Post(std::function<void()> task);

 private:
  void Run();

  const size_t max_threads_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stop_ = false;
};

}  // namespace clrscope::capture
