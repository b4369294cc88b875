// SPDX-License-Identifier: Apache-2.0
// Addresses of hosts, by /etc/hosts and the name servers of /etc/resolv.conf: a static program has
// no name services of glibc.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace clrscope::fetch {

// In digits, in the order in which they are to be tried. An address in digits is its own.
// errors: kNotFound (no such host), kTimeout (no name server answers), kIo (there is none)
Result<std::vector<std::string>> Resolve(const std::string& host,
                                         std::chrono::milliseconds patience);

}  // namespace clrscope::fetch
