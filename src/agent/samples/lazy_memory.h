// SPDX-License-Identifier: Apache-2.0
// Zeroed memory straight from the kernel, page by page as it is touched: none of it is the
// program's heap.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace clrscope::agent {

// nullptr when there is none. T must be valid when all its bytes are 0.
template <class T>
T* LazyArray(size_t n) {
  void* p = ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<T*>(p);
}

template <class T>
void FreeLazy(T* p, size_t n) {
  if (p != nullptr) (void)::munmap(p, n * sizeof(T));
}

// Gives the pages back; they read as 0 afterwards.
template <class T>
void ZeroLazy(T* p, size_t n) {
  if (p != nullptr) (void)::madvise(p, n * sizeof(T), MADV_DONTNEED);
}

}  // namespace clrscope::agent
