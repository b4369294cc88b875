// SPDX-License-Identifier: Apache-2.0
// What the static C++ runtime asks a new C library for, so that the library loads where there is
// only an old one. Local to the library.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): theirs
extern "C" {

// glibc 2.32. 0: atomic operations are used, always.
char __libc_single_threaded = 0;

// Only asked for by the C++ runtime where the C library cannot call thread-local destructors
// itself.
int __pthread_key_create(pthread_key_t*, void (*)(void*)) { return EAGAIN; }

// Of libpthread before 2.34.
int pthread_once(pthread_once_t* control, void (*routine)()) {
  enum : int { kNot = 0, kRunning = 1, kDone = 2 };
  std::atomic_ref<int> state(*control);
  int expected = kNot;
  if (state.load(std::memory_order_acquire) == kDone) return 0;
  if (state.compare_exchange_strong(expected, kRunning)) {
    routine();
    state.store(kDone, std::memory_order_release);
    return 0;
  }
  while (state.load(std::memory_order_acquire) != kDone) ::sched_yield();
  return 0;
}

// glibc 2.35, for the unwinder: the module of an address and its unwind tables.
struct WantedObject {
  uintptr_t address;
  dl_find_object* out;
};

static int MatchObject(dl_phdr_info* info, size_t, void* context) {
  auto* wanted = static_cast<WantedObject*>(context);
  uintptr_t begin = ~uintptr_t{0}, end = 0, table = 0;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const uintptr_t at = info->dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_GNU_EH_FRAME) table = at;
    if (p.p_type != PT_LOAD) continue;
    begin = at < begin ? at : begin;
    end = at + p.p_memsz > end ? at + p.p_memsz : end;
    inside = inside || (wanted->address >= at && wanted->address - at < p.p_memsz);
  }
  if (!inside || table == 0) return 0;
  wanted->out->dlfo_flags = 0;
  wanted->out->dlfo_map_start = reinterpret_cast<void*>(begin);  // NOLINT
  wanted->out->dlfo_map_end = reinterpret_cast<void*>(end);      // NOLINT
  wanted->out->dlfo_link_map = nullptr;
  wanted->out->dlfo_eh_frame = reinterpret_cast<void*>(table);  // NOLINT
  return 1;
}

int _dl_find_object(void* address, dl_find_object* out) noexcept {
  WantedObject wanted{reinterpret_cast<uintptr_t>(address), out};
  return ::dl_iterate_phdr(MatchObject, &wanted) == 1 ? 0 : -1;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
