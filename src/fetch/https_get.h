// SPDX-License-Identifier: Apache-2.0
// A file from a server, by HTTPS. Nothing is asked that the user did not ask for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/byte_sink.h"
#include "base/result.h"

namespace clrscope::fetch {

struct Limits {
  std::chrono::milliseconds silence{10'000};  // without an answer, or a byte of it
  std::chrono::milliseconds whole{600'000};
  uint64_t bytes = uint64_t{1} << 30;
  int redirects = 5;
};

// Writes what the server sends to `body`, which it may have done in part when it fails.
// errors, each a sentence with the host's name: kNotFound (404, 410), kUsage (no such address),
// kTimeout, kIo (no connection), kTruncated (it broke off), kRefused (another status, a certificate
// that nobody here vouches for, too large)
Status HttpsGet(const std::string& url, const Limits& limits, ByteSink& body);

}  // namespace clrscope::fetch
