// SPDX-License-Identifier: Apache-2.0
// Why a program hangs, as far as its threads tell.
#pragma once

#include <string>
#include <vector>

#include "inspect/picture.h"

namespace clrscope::inspect {

// Rings of threads that wait for each other: managed ids, each waiting for a lock that the next one
// holds; the smallest id first.
std::vector<std::vector<uint32_t>> FindDeadlocks(const Picture& picture);

// The worst first. When no thread waits for another in a ring, that is said, too.
std::vector<Finding> FindReasons(const Picture& picture);

// `thread 12 "worker-a"`
std::string Called(const Thread& thread);
// `Shop.Account 0x7f12…`
std::string Called(const Lock& lock);

}  // namespace clrscope::inspect
