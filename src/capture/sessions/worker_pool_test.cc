// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace clrscope::capture {
namespace {

TEST(WorkerPool, TasksRunBesideEachOtherUpToTheLimit) {
  constexpr int kThreads = 4;
  std::promise<void> go;
  const std::shared_future<void> gate(go.get_future());
  std::atomic<int> waiting{0}, done{0};
  std::promise<void> all_wait, all_done;
  {
    WorkerPool pool(kThreads);
    for (int i = 0; i < 10; ++i)
      pool.Post([&] {
        if (++waiting == kThreads) all_wait.set_value();
        gate.wait();
        if (++done == 10) all_done.set_value();
      });
    all_wait.get_future().wait();  // so many at once, while none has ended
    EXPECT_EQ(waiting, kThreads);
    go.set_value();
    all_done.get_future().wait();
  }
  EXPECT_EQ(done, 10);
}

TEST(WorkerPool, WhatHasNotBegunIsDroppedAtTheEnd) {
  std::promise<void> begun, go;
  std::atomic<int> ran{0};
  auto owned = std::make_shared<int>(1);
  auto pool = std::make_unique<WorkerPool>(1);
  pool->Post([&] {
    begun.set_value();
    go.get_future().wait();
    ++ran;
  });
  pool->Post([&ran, owned] { ++ran; });
  begun.get_future().wait();
  std::thread end([&] { pool.reset(); });
  while (owned.use_count() > 1) std::this_thread::yield();  // the second task is gone
  go.set_value();
  end.join();
  EXPECT_EQ(ran, 1);
}

TEST(WorkerPool, WithoutThreadsATaskRunsAtOnce) {
  WorkerPool pool(0);
  int ran = 0;
  pool.Post([&ran] { ++ran; });
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace clrscope::capture
