// SPDX-License-Identifier: Apache-2.0
// The managed thread pool's own figures.
#pragma once

#include <optional>
#include <string_view>

#include "dac/core_library.h"

namespace clrscope::dac {

struct Pool {
  uint64_t threads = 0, busy = 0, goal = 0, min = 0, max = 0;
  std::optional<uint64_t> queue_length;  // work items that nobody has begun, of all queues
};

struct PoolReading {
  std::optional<Pool> pool;  // nothing where the program has not used it
  std::string_view failed;   // what could not be read, so that there is no pool to show
  bool whole() const { return pool && pool->queue_length; }
};
PoolReading ReadPool(Runtime& runtime, CoreLibrary& core);

}  // namespace clrscope::dac
