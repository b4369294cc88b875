// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frame of the agent: an error, or a frame that is written and read to the same
// bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/interval/interval_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  const Result<profile::IntervalFrame> frame = profile::DecodeInterval(AsBytes(data, size));
  if (!frame.ok()) {
    if (frame.error().offset > size) std::abort();
    return 0;
  }
  const std::string once = profile::EncodeInterval(*frame);
  const auto again = profile::DecodeInterval(AsBytes(once.data(), once.size()));
  if (!again.ok() || profile::EncodeInterval(*again) != once) std::abort();
  return 0;
}
