// SPDX-License-Identifier: Apache-2.0
// The way into managed code for libraries that come and go: their constructors call chaos_enter.
#include <stdatomic.h>

#include "mix.h"

typedef uint64_t (*Callback)(uint64_t);
static _Atomic(Callback) door;

CHAOS_EXPORT void chaos_open_door(Callback callback) { atomic_store(&door, callback); }

CHAOS_EXPORT uint64_t chaos_enter(uint64_t value) {
  Callback callback = atomic_load(&door);
  return callback == 0 ? 0 : callback(value);
}
