// SPDX-License-Identifier: Apache-2.0
// Preloaded: a program whose native code has changed TMPDIR by the time that the agent comes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void* dlopen(const char* path, int flags) {
  static void* (*next)(const char*, int);
  if (next == NULL) next = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  if (path != NULL && strstr(path, "clrscope-agent") != NULL) setenv("TMPDIR", "/nowhere", 1);
  return next(path, flags);
}
