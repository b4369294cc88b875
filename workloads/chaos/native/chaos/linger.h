// SPDX-License-Identifier: Apache-2.0
// A native thread that was in managed code must not end while .NET 8 suspends the program: pthread_kill says ESRCH then,
// and the runtime calls abort. Fixed in .NET 9. Source: dotnet/runtime src/coreclr/pal/src/exception/signal.cpp,
// InjectActivationInternal
#pragma once

#include <errno.h>
#include <time.h>

// On the thread, after its managed code.
static inline void chaos_linger(int ms) {
  struct timespec pause = {0, ms * 1000000L};
  while (ms > 0 && nanosleep(&pause, &pause) != 0 && errno == EINTR) {
  }
}
