// SPDX-License-Identifier: Apache-2.0
// A computation with a known answer: `rounds` steps of a xorshift generator.
#pragma once

#include <stdint.h>

#define CHAOS_EXPORT __attribute__((visibility("default")))

static inline uint64_t chaos_mix(uint64_t seed, int rounds) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (int i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}
