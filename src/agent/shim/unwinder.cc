// SPDX-License-Identifier: Apache-2.0
// What the compiler's unwinder asks the C library for, where that is an old glibc or musl. Local to
// the library.
#include <link.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): theirs
extern "C" {

#ifndef __GLIBC__
// Source: glibc 2.36 dlfcn/dlfcn.h, for x64
struct dl_find_object {
  unsigned long long dlfo_flags;
  void* dlfo_map_start;
  void* dlfo_map_end;
  link_map* dlfo_link_map;
  void* dlfo_eh_frame;
  unsigned long long dlfo_reserved[7];
};
int _dl_find_object(void* address, dl_find_object* out) noexcept;
int __pthread_key_create(pthread_key_t*, void (*)(void*));
#endif

// Only asked for by the C++ runtime where the C library cannot call thread-local destructors
// itself; and by the unwinder, to know that there may be threads.
int __pthread_key_create(pthread_key_t*, void (*)(void*)) { return EAGAIN; }

// glibc 2.35: the module of an address and its unwind tables.
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
