// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool_thread.h"

#include <poll.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "agent/host/clock.h"
#include "agent/host/thread.h"
#include "agent/host/waker.h"
#include "base/units.h"

namespace clrscope::agent {
namespace {

// Threads that hang in a disk outlive their agent: no more of them than that.
constexpr int kMostThreads = 4;
std::atomic<int> g_threads{0};

}  // namespace

struct SpoolThread::Queue {
  explicit Queue(Write w) : write(w) {}
  const Write write;
  Waker waker;
  mutable std::mutex mutex;
  // Below: by its holder.
  std::deque<std::pair<std::string, std::string>> files;
  size_t bytes = 0;
  bool running = false, ending = false;
  Counts counts;
};

SpoolThread::SpoolThread(Write write) : queue_(std::make_shared<Queue>(write)) {}

SpoolThread::~SpoolThread() {
  const std::lock_guard lock(queue_->mutex);
  queue_->ending = true;
  queue_->waker.Wake();
}

void* SpoolThread::Main(void* raw) {
  auto* holder = static_cast<std::shared_ptr<Queue>*>(raw);
  {
    const std::shared_ptr<Queue> q = std::move(*holder);
    delete holder;
    (void)::prctl(PR_SET_NAME, "clrscope-spool");
    std::unique_lock lock(q->mutex);
    while (!q->files.empty() || !q->ending) {
      if (q->files.empty()) {
        lock.unlock();
        pollfd wake{q->waker.fd(), POLLIN, 0};
        (void)::poll(&wake, 1, 1000);
        q->waker.Clear();
        lock.lock();
        continue;
      }
      const auto [path, bytes] = std::move(q->files.front());
      q->files.pop_front();
      lock.unlock();
      Status s = OkStatus();
      try {
        s = q->write(path, bytes);
      } catch (...) {  // no memory
        s = Error{ErrorCode::kFailed, {}};
      }
      lock.lock();
      q->bytes -= bytes.size();
      --q->counts.waiting;
      ++(s.ok() ? q->counts.written : q->counts.failed);
      q->counts.error = s.ok() ? std::string() : std::move(s.error().message);
    }
    q->running = false;
  }
  g_threads.fetch_sub(1);
  return nullptr;
}

void SpoolThread::Post(std::string path, std::string bytes) {
  Queue& q = *queue_;
  const std::lock_guard lock(q.mutex);
  if (!q.running) {
    if (g_threads.fetch_add(1) < kMostThreads) {
      auto* holder = new std::shared_ptr<Queue>(queue_);
      q.running = StartThread(Main, holder);
      if (!q.running) delete holder;
    }
    if (!q.running) g_threads.fetch_sub(1);
  }
  if (!q.running || q.files.size() >= kMostFiles || q.bytes + bytes.size() > kMostBytes) {
    ++q.counts.dropped;
    q.counts.error =
        "dropped " + path +
        (q.running ? ": the disk is too slow" : ": no thread can be started to write it");
    return;
  }
  q.bytes += bytes.size();
  q.files.emplace_back(std::move(path), std::move(bytes));
  ++q.counts.waiting;
  q.waker.Wake();
}

bool SpoolThread::Flush(int milliseconds) {
  const int64_t deadline = MonotonicNs() + milliseconds * kMillisecond;
  while (counts().waiting != 0) {
    if (MonotonicNs() >= deadline) return false;
    const timespec pause{0, 1'000'000};
    (void)::nanosleep(&pause, nullptr);
  }
  return true;
}

SpoolThread::Counts SpoolThread::counts() const {
  const std::lock_guard lock(queue_->mutex);
  return queue_->counts;
}

}  // namespace clrscope::agent
