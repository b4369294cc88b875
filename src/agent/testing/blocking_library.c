// SPDX-License-Identifier: Apache-2.0
// A library whose constructor says that it runs and waits until it may go on: meanwhile the loader's
// lock is held.
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void Block(void) {
  const char* ready = getenv("CLRSCOPE_BLOCK_READY");
  const char* go = getenv("CLRSCOPE_BLOCK_GO");
  char byte = 'x';
  if (ready == NULL || go == NULL) return;
  if (write(atoi(ready), &byte, 1) != 1 || read(atoi(go), &byte, 1) != 1) abort();
}
