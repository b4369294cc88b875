// SPDX-License-Identifier: Apache-2.0
// Preloaded: counts what the agent's library calls of the C library's allocator and locks on threads of the program, those that
// it has itself and the runtime's that load it aside. And where the thread of its sessions registers destructors of thread-locals,
// for which it takes the loader's lock. At the end the counts go to the file CLRSCOPE_CALLS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static atomic_uintptr_t g_begin, g_end;
static atomic_long g_malloc, g_lock, g_tls, g_others, g_registered, g_in_managed_code;
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

// Managed code lies in no file, and its callers cannot be found: it is the last of the addresses.
static void CountRegistration(void) {
  char name[17] = {0};
  prctl(PR_GET_NAME, name);
  if (strcmp(name, "clrscope-events") != 0) return;
  void* stack[64];
  const int depth = backtrace(stack, 64);
  Dl_info file;
  atomic_fetch_add(&g_registered, 1);
  if (depth == 0 || dladdr(stack[depth - 1], &file) == 0) atomic_fetch_add(&g_in_managed_code, 1);
}

int __cxa_thread_atexit_impl(void (*function)(void*), void* object, void* handle) {
  static int (*next)(void (*)(void*), void*, void*);
  Count(&g_tls, __builtin_return_address(0));
  CountRegistration();
  if (next == NULL)
    next = (int (*)(void (*)(void*), void*, void*))dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
  return next(function, object, handle);
}

__attribute__((destructor)) static void Tell(void) {
  const char* path = getenv("CLRSCOPE_CALLS");
  FILE* out = path == NULL ? NULL : fopen(path, "w");
  if (out == NULL) return;
  fprintf(out,
          "{\"malloc\":%ld,\"lock\":%ld,\"thread_local\":%ld,\"others\":%ld,\"registered\":%ld,"
          "\"registered_in_managed_code\":%ld,\"found\":%s}\n",
          atomic_load(&g_malloc), atomic_load(&g_lock), atomic_load(&g_tls), atomic_load(&g_others),
          atomic_load(&g_registered), atomic_load(&g_in_managed_code),
          atomic_load(&g_begin) != 0 ? "true" : "false");
  fclose(out);
}
