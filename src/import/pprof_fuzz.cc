// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pprof file, gzipped or not: an error, or frames.
#include <cstddef>
#include <cstdint>

#include "import/gunzip.h"
#include "import/pprof_frames.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  const Bytes bytes = AsBytes(data, size);
  std::string message(reinterpret_cast<const char*>(data), size);
  if (import::LooksGzipped(bytes)) {
    Result<std::string> unpacked = import::Gunzip(bytes, size_t{4} << 20);
    if (!unpacked.ok()) return 0;
    message = unpacked.Take();
  }
  const Result<import::PprofProfile> profile = import::ParsePprof(message);
  if (!profile.ok()) return 0;
  import::PprofFrames frames;
  (void)frames.Next(*profile);
  (void)frames.Next(*profile);
  return 0;
}
