// SPDX-License-Identifier: Apache-2.0
// A library that comes and goes. Its constructor calls managed code, while the loader's lock is held.
#include <stdint.h>

uint64_t chaos_enter(uint64_t value);  // of libchaos.so, which stays

static uint64_t answer;

__attribute__((constructor)) static void come(void) { answer = chaos_enter(42); }

__attribute__((visibility("default"))) uint64_t guest_answer(void) { return answer; }
