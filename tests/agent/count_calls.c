// SPDX-License-Identifier: Apache-2.0
// Preloaded: counts what the agent's library calls of the C library's allocator and locks on threads of the program, those that
// it has itself and the runtime's that load it aside. At the end the counts go to the file CLRSCOPE_CALLS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static atomic_uintptr_t g_begin, g_end;
static atomic_long g_malloc, g_lock, g_tls, g_others;
static __thread int t_inside __attribute__((tls_model("initial-exec")));

static int Find(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  if (strstr(info->dlpi_name, "clrscope-agent") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0) continue;
    atomic_store(&g_end, info->dlpi_addr + p->p_vaddr + p->p_memsz);
    atomic_store(&g_begin, info->dlpi_addr + p->p_vaddr);
  }
  return 1;
}

// The library is looked for each time a library was loaded.
void* dlopen(const char* path, int flags) {
  static void* (*next)(const char*, int);
  if (next == NULL) next = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  void* out = next(path, flags);
  dl_iterate_phdr(Find, NULL);
  return out;
}

static void Count(atomic_long* calls, void* from) {
  const uintptr_t at = (uintptr_t)from;
  if (at < atomic_load(&g_begin) || at >= atomic_load(&g_end) || t_inside) return;
  char name[17] = {0};
  t_inside = 1;
  prctl(PR_GET_NAME, name);
  t_inside = 0;
  const int theirs = strncmp(name, "clrscope-", 9) == 0 || strcmp(name, ".NET EventPipe") == 0;
  atomic_fetch_add(theirs ? &g_others : calls, 1);
}

void* __libc_malloc(size_t);
void* malloc(size_t n) {
  Count(&g_malloc, __builtin_return_address(0));
  return __libc_malloc(n);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*next)(pthread_mutex_t*);
  Count(&g_lock, __builtin_return_address(0));
  if (next == NULL) next = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  return next(mutex);
}

int __cxa_thread_atexit_impl(void (*function)(void*), void* object, void* handle) {
  static int (*next)(void (*)(void*), void*, void*);
  Count(&g_tls, __builtin_return_address(0));
  if (next == NULL)
    next = (int (*)(void (*)(void*), void*, void*))dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
  return next(function, object, handle);
}

__attribute__((destructor)) static void Tell(void) {
  const char* path = getenv("CLRSCOPE_CALLS");
  FILE* out = path == NULL ? NULL : fopen(path, "w");
  if (out == NULL) return;
  fprintf(out, "{\"malloc\":%ld,\"lock\":%ld,\"thread_local\":%ld,\"others\":%ld,\"found\":%s}\n",
          atomic_load(&g_malloc), atomic_load(&g_lock), atomic_load(&g_tls), atomic_load(&g_others),
          atomic_load(&g_begin) != 0 ? "true" : "false");
  fclose(out);
}
