// SPDX-License-Identifier: Apache-2.0
// A vector for large tables that are read at random: on huge pages where the system gives them, so
// that a look-up does not also miss the page tables. Source: madvise(2), MADV_HUGEPAGE; without it,
// or where it is switched off, these are ordinary pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace clrscope {

template <class T>
struct LargeAllocator {
  using value_type = T;
  static constexpr size_t kHugePage = 2 << 20;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(size_t n) {
    if (n * sizeof(T) < kHugePage) return static_cast<T*>(::operator new(n * sizeof(T)));
    void* const p = ::operator new (n * sizeof(T), std::align_val_t{kHugePage});
    (void)::madvise(p, n * sizeof(T) / kHugePage * kHugePage, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) {
    if (n * sizeof(T) < kHugePage) return ::operator delete(p);
    ::operator delete (p, std::align_val_t{kHugePage});
  }
  bool operator==(const LargeAllocator&) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace clrscope
