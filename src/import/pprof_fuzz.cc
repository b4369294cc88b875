// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pprof file, gzipped or not: an error, or frames.
#include <cstddef>
#include <cstdint>

#include "import/pprof_frames.h"
#include "import/testing/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  import::MaybeGzipped bytes(import::testing::SourceOf(AsBytes(data, size), size));
  const Result<std::string> message = import::ReadAll(bytes, size_t{4} << 20);
  if (!message.ok()) return 0;
  const Result<import::PprofProfile> profile = import::ParsePprof(*message);
  if (!profile.ok()) return 0;
  import::PprofFrames frames;
  (void)frames.Next(*profile);
  (void)frames.Next(*profile);
  return 0;
}
