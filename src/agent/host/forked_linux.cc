// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "agent/host/forked.h"

namespace clrscope::agent {
namespace {

constexpr size_t kPage = 4096;

// 1 in the process that asked. The kernel gives its children a page of zeros in its place
// (MADV_WIPEONFORK, Linux 4.14), by whatever call they were made.
std::atomic<std::atomic<int>*> g_is_parent{nullptr};

// Descriptor + 1; 0 = free. The control socket and its peers, the waker, a file being written.
constexpr size_t kMostDescriptors = 64;
std::array<std::atomic<int>, kMostDescriptors> g_descriptors{};

// In the child, on its only thread: without this, its copies would keep connections open that the
// agent has closed. close() is async-signal-safe, which a child of many threads needs.
void InChild() {
  for (std::atomic<int>& d : g_descriptors)
    if (const int fd = d.exchange(0); fd != 0) (void)::close(fd - 1);
}

}  // namespace

bool WatchForks() {
  if (std::atomic<int>* flag = g_is_parent.load(); flag != nullptr) {
    flag->store(1);
    return true;
  }
  void* page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  if (::madvise(page, kPage, MADV_WIPEONFORK) != 0 ||
      ::pthread_atfork(nullptr, nullptr, InChild) != 0) {
    (void)::munmap(page, kPage);
    return false;
  }
  auto* flag = static_cast<std::atomic<int>*>(page);
  flag->store(1);
  g_is_parent.store(flag);  // the library is never unloaded, nor is this
  return true;
}

bool IsForkedChild() {
  const std::atomic<int>* flag = g_is_parent.load(std::memory_order_acquire);
  return flag != nullptr && flag->load(std::memory_order_relaxed) == 0;
}

bool CloseInChildren(int fd) {
  for (std::atomic<int>& d : g_descriptors) {
    int free = 0;
    if (d.compare_exchange_strong(free, fd + 1)) return true;
  }
  return false;
}

void NotOurs(int fd) {
  for (std::atomic<int>& d : g_descriptors) {
    int mine = fd + 1;
    if (d.compare_exchange_strong(mine, 0)) return;
  }
}

}  // namespace clrscope::agent
