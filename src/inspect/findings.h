// SPDX-License-Identifier: Apache-2.0
// Why a program hangs, as far as its threads tell.
#pragma once

#include <string>
#include <vector>

#include "inspect/picture.h"

namespace clrscope::inspect {

// The worst first. When no thread waits for another in a ring, that is said, too.
std::vector<Finding> FindReasons(const Picture& picture);

// `thread 12 "worker-a"`
std::string Called(const Thread& thread);
// `Shop.Account 0x7f12…`, `the static constructor of Shop.Config`
std::string Called(const Lock& lock);
// What a thread waits for, behind these owners of it: `Shop.Account 0x7f12…, held by thread 12`,
// `the static constructor of Shop.Config, run by thread 12`, `the end of thread 12`.
std::string Awaited(const Picture& picture, const Lock& lock, const std::vector<uint32_t>& owners);
// `holds Shop.Account 0x7f12…`, `runs the static constructor of Shop.Config`
std::string Held(const Lock& lock);

}  // namespace clrscope::inspect
